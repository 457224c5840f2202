//! A line in four 16-byte registers on AArch64.

use std::arch::aarch64::*;

use super::super::places::Permutation;
use super::tables::{FIELDS, compact};
use super::{Choice, Cost, Course, LINE, Line, Table, Values, Ways};

/// The quarters of a line.
type Quarters = [uint8x16_t; 4];

/// The number of bytes that `unpack` reads and `pack` writes: the values of a line, and a byte for the shift, in whole
/// registers.
const PACKED: usize = 48;

/// For each number of bits of a value, and for each of 64 values without gaps: the byte where the value begins, and the
/// bit in this byte as a shift to the right.
static BEGINS: [[Line; 2]; 4] = {
    let mut begins = [[[0; LINE]; 2]; 4];
    let mut at = 0;
    while at < 4 * LINE {
        let (bits, value) = (at / LINE + 1, at % LINE);
        begins[bits - 1][0][value] = (value * bits / 8) as u8;
        begins[bits - 1][1][value] = (value * bits % 8) as u8;
        at += 1;
    }
    begins
};

/// Takes the values out of all words.
static COMPACT: [[u8; PACKED]; 4] = compact(8);

#[target_feature(enable = "neon")]
pub(super) fn embed(lines: &mut [Line], values: &Values, course: &mut Course, ways: Ways<'_>) -> Cost {
    let bits = course.bits;
    let count_up = load(&Permutation::IDENTITY.0);
    let mask = vdupq_n_u8((1 << bits) - 1);
    let (half, whole) = (vdupq_n_u8(1 << (bits - 1)), vdupq_n_u8(1 << bits));
    let (mut squares, mut changed) = (vdupq_n_u32(0), vdupq_n_u32(0));
    for ((line, &[row, add]), signs) in lines.iter_mut().zip(ways.choices).zip(ways.signs) {
        let count = course.walk.next().min(LINE);
        if count == 0 {
            continue;
        }
        let unpacked = together(unpack(values, bits, course.at));
        course.at += count * bits;

        let (inverse, add) = (together(load(&ways.inverses[usize::from(row)].0)), vdupq_n_u8(add % 64));
        let mut samples = load(line);
        for (quarter, sample) in samples.iter_mut().enumerate() {
            let value = vqtbl4q_u8(inverse, veorq_u8(count_up[quarter], add));
            let used = vcltq_u8(value, vdupq_n_u8(count as u8));
            let wanted = vqtbl4q_u8(unpacked, value);

            let up = vandq_u8(vsubq_u8(wanted, *sample), mask);
            let down = vsubq_u8(whole, up);
            let (above, below) = (vaddq_u8(*sample, up), vsubq_u8(*sample, down));
            let other = vandq_u8(vtstq_u8(up, up), used);
            let equal = vandq_u8(vceqq_u8(up, half), spread_bits(signs, quarter));
            let prefers_down = vorrq_u8(vcgtq_u8(up, half), equal);
            let can_go_down = vcleq_u8(down, *sample);
            let overflows = vcltq_u8(above, *sample);
            let goes_down = vorrq_u8(vandq_u8(prefers_down, can_go_down), overflows);
            let distance = vandq_u8(vbslq_u8(goes_down, down, up), other);
            *sample = vbslq_u8(other, vbslq_u8(goes_down, below, above), *sample);
            // A distance is at most 15, so its square fits into a byte.
            squares = vpadalq_u16(squares, vpaddlq_u8(vmulq_u8(distance, distance)));
            changed = vpadalq_u16(changed, vpaddlq_u8(vshrq_n_u8::<7>(other)));
        }
        store(line, samples);
    }
    Cost { squares: u64::from(vaddvq_u32(squares)), changed: u64::from(vaddvq_u32(changed)) }
}

#[target_feature(enable = "neon")]
pub(super) fn extract(lines: &[Line], values: &mut Values, course: &mut Course, table: &Table, choices: &[Choice]) {
    let bits = course.bits;
    let mask = vdupq_n_u8((1 << bits) - 1);
    for (line, &[row, add]) in lines.iter().zip(choices) {
        let count = course.walk.next().min(LINE);
        if count == 0 {
            continue;
        }
        let (line, add) = (together(load(line)), vdupq_n_u8(add % 64));
        let mut gathered = load(&table[usize::from(row)].0);
        for places in &mut gathered {
            *places = vandq_u8(vqtbl4q_u8(line, veorq_u8(*places, add)), mask);
        }
        pack(gathered, bits, values, course.at);
        course.at += count * bits;
    }
}

/// Returns 64 values, beginning at bit `at`.
#[target_feature(enable = "neon")]
#[inline]
fn unpack(values: &Values, bits: usize, at: usize) -> Quarters {
    let packed: &[u8; PACKED + 1] = values[at / 8..].first_chunk().expect("bytes after the values");
    let (right, left) = (vdupq_n_s8(-((at % 8) as i8)), vdupq_n_s8(8 - (at % 8) as i8));
    let aligned = |at: usize| {
        // SAFETY: the callers pass 0 and 16, and the array has more than 33 bytes.
        let (bytes, next) = unsafe { (vld1q_u8(packed.as_ptr().add(at)), vld1q_u8(packed.as_ptr().add(at + 1))) };
        vorrq_u8(vshlq_u8(bytes, right), vshlq_u8(next, left))
    };
    let aligned = uint8x16x2_t(aligned(0), aligned(16));
    let [bytes, shifts] = &BEGINS[bits - 1];
    let (mut unpacked, shifts) = (load(bytes), load(shifts));
    let mask = vdupq_n_u8((1 << bits) - 1);
    for (byte, shift) in unpacked.iter_mut().zip(shifts) {
        let shift = vreinterpretq_s8_u8(shift);
        let low = vshlq_u8(vqtbl2q_u8(aligned, *byte), vnegq_s8(shift));
        let high = vshlq_u8(vqtbl2q_u8(aligned, vaddq_u8(*byte, vdupq_n_u8(1))), vsubq_s8(vdupq_n_s8(8), shift));
        *byte = vandq_u8(vorrq_u8(low, high), mask);
    }
    unpacked
}

/// Writes 64 values, beginning at bit `at`; the bits before bit `at` do not change.
#[target_feature(enable = "neon")]
#[inline]
fn pack(gathered: Quarters, bits: usize, values: &mut Values, at: usize) {
    let mut words = gathered;
    let [one_field, two_fields, four_fields, _] = FIELDS[bits - 1];
    for (field, kept) in [(8, four_fields), (16, two_fields), (32, one_field)] {
        // Two neighboring fields become one field of twice the width.
        let apart = vdupq_n_s64((field / 8 * bits) as i64 - field as i64);
        for word in &mut words {
            let both = vreinterpretq_u64_u8(*word);
            let joined = vandq_u64(vorrq_u64(both, vshlq_u64(both, apart)), vdupq_n_u64(kept));
            *word = vreinterpretq_u8_u64(joined);
        }
    }
    let words = together(words);
    let place: &mut [u8; PACKED] = values[at / 8..].first_chunk_mut().expect("bytes after the values");
    let shift = (at % 8) as i8;
    let (left, right) = (vdupq_n_s8(shift), vdupq_n_s8(shift - 8));
    // The bits before the first value come back from the byte in front of it.
    let kept = (u16::from(place[0]) << (8 - shift)) as u8;
    let mut before = vsetq_lane_u8::<15>(kept, vdupq_n_u8(0));
    for (bytes, places) in place.as_chunks_mut::<16>().0.iter_mut().zip(COMPACT[bits - 1].as_chunks::<16>().0) {
        // SAFETY: the arrays have 16 bytes.
        unsafe {
            let packed = vqtbl4q_u8(words, vld1q_u8(places.as_ptr()));
            let carried = vshlq_u8(vextq_u8::<15>(before, packed), right);
            vst1q_u8(bytes.as_mut_ptr(), vorrq_u8(vshlq_u8(packed, left), carried));
            before = packed;
        }
    }
}

/// For one quarter of a line, makes a byte for each bit: all ones if the bit is set, otherwise zero.
#[target_feature(enable = "neon")]
#[inline]
fn spread_bits(bits: &[u8; LINE / 8], quarter: usize) -> uint8x16_t {
    let bit = vcreate_u8(u64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let bytes = vcombine_u8(vdup_n_u8(bits[2 * quarter]), vdup_n_u8(bits[2 * quarter + 1]));
    vtstq_u8(bytes, vcombine_u8(bit, bit))
}

/// Returns the quarters of a line as one table.
#[target_feature(enable = "neon")]
#[inline]
fn together([first, second, third, fourth]: Quarters) -> uint8x16x4_t {
    uint8x16x4_t(first, second, third, fourth)
}

#[target_feature(enable = "neon")]
#[inline]
fn load(line: &Line) -> Quarters {
    // SAFETY: the array has 64 bytes.
    let uint8x16x4_t(first, second, third, fourth) = unsafe { vld1q_u8_x4(line.as_ptr()) };
    [first, second, third, fourth]
}

#[target_feature(enable = "neon")]
#[inline]
fn store(line: &mut Line, quarters: Quarters) {
    // SAFETY: the array has 64 bytes.
    unsafe { vst1q_u8_x4(line.as_mut_ptr(), together(quarters)) }
}
