//! A line in one 64-byte register.

use std::arch::x86_64::*;

use super::super::places::Permutation;
use super::tables::compact;
use super::{Choice, Cost, Course, LINE, Line, Table, Values, Ways};

/// For each number of bits of a value: a permutation that copies to word `q` the 8 bytes that begin at byte `bits · q`.
static SPREAD: [Line; 4] = {
    let mut spread = [[0; LINE]; 4];
    let mut at = 0;
    while at < 4 * LINE {
        let (bits, byte) = (at / LINE + 1, at % LINE);
        spread[at / LINE][byte] = (byte / 8 * bits + byte % 8) as u8;
        at += 1;
    }
    spread
};

/// For each number of bits: the bit offset of value `i` in a word.
static SHIFTS: [Line; 4] = {
    let mut shifts = [[0; LINE]; 4];
    let mut at = 0;
    while at < 4 * LINE {
        let (bits, byte) = (at / LINE + 1, at % LINE);
        shifts[at / LINE][byte] = (byte % 8 * bits) as u8;
        at += 1;
    }
    shifts
};

/// Takes the values out of all words.
static COMPACT: [Line; 4] = compact(8);

/// # Safety
///
/// All values of the lines lie in front of the last 64 bytes of `values`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi,popcnt")]
pub(super) unsafe fn embed(lines: &mut [Line], values: &Values, course: &mut Course, ways: Ways<'_>) -> Cost {
    let bits = course.bits;
    let (count_up, spread, shifts) = (load(&Permutation::IDENTITY.0), load(&SPREAD[bits - 1]), load(&SHIFTS[bits - 1]));
    let mask = _mm512_set1_epi8((1 << bits) - 1);
    let (half, whole) = (_mm512_set1_epi8(1 << (bits - 1)), _mm512_set1_epi8(1 << bits));
    let ones = _mm512_set1_epi16(1);
    let (mut squares, mut changed) = (_mm512_setzero_si512(), 0);
    for ((line, &[row, add]), signs) in lines.iter_mut().zip(ways.choices).zip(ways.signs) {
        let count = course.walk.next().min(LINE);
        if count == 0 {
            continue;
        }
        // SAFETY: the caller promises that the values end at least 64 bytes before the end of `values`.
        let packed = unsafe { load_from(values.as_ptr().add(course.at / 8)) };
        let from = _mm512_add_epi8(shifts, _mm512_set1_epi8((course.at % 8) as i8));
        let words = _mm512_permutexvar_epi8(spread, packed);
        let unpacked = _mm512_and_si512(_mm512_multishift_epi64_epi8(from, words), mask);
        course.at += count * bits;

        let places = _mm512_xor_si512(count_up, _mm512_set1_epi8((add % 64) as i8));
        let value = _mm512_permutexvar_epi8(places, load(&ways.inverses[usize::from(row)].0));
        let used = _mm512_cmplt_epu8_mask(value, _mm512_set1_epi8(count as i8));
        let wanted = _mm512_permutexvar_epi8(value, unpacked);

        let sample = load(line);
        let up = _mm512_and_si512(_mm512_sub_epi8(wanted, sample), mask);
        let down = _mm512_sub_epi8(whole, up);
        let (above, below) = (_mm512_add_epi8(sample, up), _mm512_sub_epi8(sample, down));
        let other = _mm512_mask_test_epi8_mask(used, up, up);
        let equal = _mm512_cmpeq_epi8_mask(up, half) & u64::from_le_bytes(*signs);
        let prefers_down = _mm512_cmpgt_epu8_mask(up, half) | equal;
        let goes_down = prefers_down & _mm512_cmple_epu8_mask(down, sample) | _mm512_cmplt_epu8_mask(above, sample);
        let distance = _mm512_maskz_mov_epi8(other, _mm512_mask_blend_epi8(goes_down, up, down));
        let result = _mm512_mask_mov_epi8(sample, other, _mm512_mask_blend_epi8(goes_down, above, below));
        store(line, result);
        let pairs = _mm512_maddubs_epi16(distance, distance);
        squares = _mm512_add_epi32(squares, _mm512_madd_epi16(pairs, ones));
        changed += u64::from(other.count_ones());
    }
    // After 512 lines, each sum is at most 512 · 4 · 15².
    Cost { squares: _mm512_reduce_add_epi32(squares) as u32 as u64, changed }
}

/// # Safety
///
/// All values of the lines lie in front of the last 64 bytes of `values`.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi")]
pub(super) unsafe fn extract(
    lines: &[Line],
    values: &mut Values,
    course: &mut Course,
    table: &Table,
    choices: &[Choice],
) {
    let bits = course.bits;
    let compact = load(&COMPACT[bits - 1]);
    let mask = _mm512_set1_epi8((1 << bits) - 1);
    let pairs = _mm512_set1_epi16(1 << (8 + bits) | 1);
    let fours = _mm512_set1_epi32(1 << (16 + 2 * bits) | 1);
    let eights = _mm_cvtsi32_si128(32 - 4 * bits as i32);
    let inside = (1_u64 << (8 * bits)) - 1;
    for (line, &[row, add]) in lines.iter().zip(choices) {
        let count = course.walk.next().min(LINE);
        if count == 0 {
            continue;
        }
        let places = _mm512_xor_si512(load(&table[usize::from(row)].0), _mm512_set1_epi8((add % 64) as i8));
        let gathered = _mm512_and_si512(_mm512_permutexvar_epi8(places, load(line)), mask);
        let packed = _mm512_madd_epi16(_mm512_maddubs_epi16(gathered, pairs), fours);
        let packed = _mm512_or_si512(packed, _mm512_srl_epi64(packed, eights));
        let packed = _mm512_maskz_permutexvar_epi8(inside, compact, packed);

        let (byte, shift) = (course.at / 8, course.at % 8);
        let before = _mm512_alignr_epi64::<7>(packed, _mm512_setzero_si512());
        let carried = _mm512_srl_epi64(before, _mm_cvtsi32_si128(64 - shift as i32));
        let shifted = _mm512_sll_epi64(packed, _mm_cvtsi32_si128(shift as i32));
        // SAFETY: the caller promises that the values end at least 64 bytes before the end of `values`.
        unsafe {
            let at = values.as_mut_ptr().add(byte);
            let first = _mm512_zextsi128_si512(_mm_cvtsi32_si128(i32::from(*at) & ((1 << shift) - 1)));
            let all = _mm512_or_si512(_mm512_or_si512(shifted, carried), first);
            _mm512_storeu_si512(at.cast(), all);
        }
        course.at += count * bits;
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(line: &Line) -> __m512i {
    // SAFETY: the array has 64 bytes.
    unsafe { load_from(line.as_ptr()) }
}

/// # Safety
///
/// 64 bytes can be read from `bytes`.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn load_from(bytes: *const u8) -> __m512i {
    // SAFETY: the caller's promise.
    unsafe { _mm512_loadu_si512(bytes.cast()) }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn store(line: &mut Line, value: __m512i) {
    // SAFETY: the array has 64 bytes.
    unsafe { _mm512_storeu_si512(line.as_mut_ptr().cast(), value) }
}
