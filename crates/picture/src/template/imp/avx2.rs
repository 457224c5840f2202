//! A line in two 32-byte registers.

use std::arch::x86_64::*;

use super::super::places::Permutation;
use super::tables::{FIELDS, compact};
use super::{Choice, Cost, Course, LINE, Line, Table, Values, Ways};

/// The halves of a line.
type Halves = [__m256i; 2];

/// Takes the values out of both 8-byte halves.
static COMPACT: [[u8; 16]; 4] = compact(2);

#[target_feature(enable = "avx2,popcnt")]
pub(super) fn embed(lines: &mut [Line], values: &Values, course: &mut Course, ways: Ways<'_>) -> Cost {
    let bits = course.bits;
    let count_up = load(&Permutation::IDENTITY.0);
    let mask = _mm256_set1_epi8((1 << bits) - 1);
    let (half, whole) = (_mm256_set1_epi8(1 << (bits - 1)), _mm256_set1_epi8(1 << bits));
    let ones = _mm256_set1_epi16(1);
    let (mut squares, mut changed) = (_mm256_setzero_si256(), 0);
    for ((line, &[row, add]), &signs) in lines.iter_mut().zip(ways.choices).zip(ways.signs) {
        let count = course.walk.next().min(LINE);
        if count == 0 {
            continue;
        }
        let unpacked = both(unpack(values, bits, course.at));
        course.at += count * bits;

        let (inverse, add) = (blocks(&ways.inverses[usize::from(row)].0), _mm256_set1_epi8((add % 64) as i8));
        let mut samples = load(line);
        for (at, sample) in samples.iter_mut().enumerate() {
            let value = pick(&inverse, _mm256_xor_si256(count_up[at], add));
            let used = _mm256_cmpgt_epi8(_mm256_set1_epi8(count as i8), value);
            let wanted = pick(&unpacked, value);

            let up = _mm256_and_si256(_mm256_sub_epi8(wanted, *sample), mask);
            let down = _mm256_sub_epi8(whole, up);
            let (above, below) = (_mm256_add_epi8(*sample, up), _mm256_sub_epi8(*sample, down));
            let other = _mm256_andnot_si256(_mm256_cmpeq_epi8(up, _mm256_setzero_si256()), used);
            let equal = _mm256_and_si256(_mm256_cmpeq_epi8(up, half), spread_bits(signs, at));
            let prefers_down = _mm256_or_si256(_mm256_cmpgt_epi8(up, half), equal);
            let can_go_down = at_most(down, *sample);
            // If the sample needs no change, both directions give the same result.
            let overflows = at_most(above, *sample);
            let goes_down = _mm256_or_si256(_mm256_and_si256(prefers_down, can_go_down), overflows);
            let distance = _mm256_and_si256(_mm256_blendv_epi8(up, down, goes_down), other);
            *sample = _mm256_blendv_epi8(*sample, _mm256_blendv_epi8(above, below, goes_down), other);
            let pairs = _mm256_maddubs_epi16(distance, distance);
            squares = _mm256_add_epi32(squares, _mm256_madd_epi16(pairs, ones));
            changed += u64::from(_mm256_movemask_epi8(other).count_ones());
        }
        store(line, samples);
    }
    // After 512 lines, each sum is at most 512 · 8 · 15².
    let mut sums = [0_u32; 8];
    // SAFETY: the array has 32 bytes.
    unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), squares) };
    Cost { squares: sums.iter().copied().map(u64::from).sum(), changed }
}

#[target_feature(enable = "avx2")]
pub(super) fn extract(lines: &[Line], values: &mut Values, course: &mut Course, table: &Table, choices: &[Choice]) {
    let bits = course.bits;
    // SAFETY: the array has 16 bytes.
    let compact = _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(COMPACT[bits - 1].as_ptr().cast()) });
    let mask = _mm256_set1_epi8((1 << bits) - 1);
    let pairs = _mm256_set1_epi16(1 << (8 + bits) | 1);
    let fours = _mm256_set1_epi32(1 << (16 + 2 * bits) | 1);
    let eights = _mm_cvtsi32_si128(32 - 4 * bits as i32);
    for (line, &[row, add]) in lines.iter().zip(choices) {
        let count = course.walk.next().min(LINE);
        if count == 0 {
            continue;
        }
        let (line, add) = (blocks(line), _mm256_set1_epi8((add % 64) as i8));
        let packed = load(&table[usize::from(row)].0).map(|places| {
            let gathered = _mm256_and_si256(pick(&line, _mm256_xor_si256(places, add)), mask);
            let packed = _mm256_madd_epi16(_mm256_maddubs_epi16(gathered, pairs), fours);
            let packed = _mm256_or_si256(packed, _mm256_srl_epi64(packed, eights));
            _mm256_shuffle_epi8(packed, compact)
        });
        let sixteens =
            packed.map(|packed| [_mm256_extract_epi64::<0>(packed) as u64, _mm256_extract_epi64::<2>(packed) as u64]);

        let (mut byte, shift) = (course.at / 8, course.at % 8);
        let mut before = u128::from(values[byte]) & ((1 << shift) - 1);
        for &sixteen in sixteens.as_flattened() {
            let joined = u128::from(sixteen) << shift | before;
            values[byte..byte + 8].copy_from_slice(&(joined as u64).to_le_bytes());
            byte += 2 * bits;
            before = joined >> (16 * bits);
        }
        values[byte] = before as u8;
        course.at += count * bits;
    }
}

/// Returns 64 values, beginning at bit `at`.
#[target_feature(enable = "avx2")]
#[inline]
fn unpack(values: &Values, bits: usize, at: usize) -> Halves {
    let packed = &values[at / 8..at / 8 + 7 * bits + 8];
    let word = |word: usize| packed[word * bits..].first_chunk().map_or(0, |bytes| i64::from_le_bytes(*bytes));
    let shift = _mm_cvtsi32_si128((at % 8) as i32);
    [0, 4].map(|first| {
        let words = _mm256_set_epi64x(word(first + 3), word(first + 2), word(first + 1), word(first));
        let kept = &FIELDS[bits - 1];
        let mut fields = _mm256_and_si256(_mm256_srl_epi64(words, shift), _mm256_set1_epi64x(kept[0].cast_signed()));
        for (half, kept) in [32, 16, 8].into_iter().zip(&kept[1..]) {
            let apart = _mm_cvtsi32_si128(half - half / 8 * bits as i32);
            let moved = _mm256_sll_epi64(fields, apart);
            fields = _mm256_and_si256(_mm256_or_si256(fields, moved), _mm256_set1_epi64x(kept.cast_signed()));
        }
        fields
    })
}

/// Loads a line, and repeats each group of 16 bytes, as [`pick`] expects them.
#[target_feature(enable = "avx2")]
#[inline]
fn blocks(line: &Line) -> [__m256i; 4] {
    both(load(line))
}

/// Returns each 16 bytes twice.
#[target_feature(enable = "avx2")]
#[inline]
fn both([first, second]: Halves) -> [__m256i; 4] {
    [
        _mm256_permute2x128_si256::<0x00>(first, first),
        _mm256_permute2x128_si256::<0x11>(first, first),
        _mm256_permute2x128_si256::<0x00>(second, second),
        _mm256_permute2x128_si256::<0x11>(second, second),
    ]
}

/// Returns the bytes of a line at the given places. Each place is a number below 64.
#[target_feature(enable = "avx2")]
#[inline]
fn pick(blocks: &[__m256i; 4], at: __m256i) -> __m256i {
    // The shift moves a bit of each place to the highest bit of its byte, which selects a vector: first bit 4 of the
    // place, then bit 5.
    let (odd, high) = (_mm256_slli_epi16::<3>(at), _mm256_slli_epi16::<2>(at));
    let [first, second, third, fourth] = blocks.map(|block| _mm256_shuffle_epi8(block, at));
    let (low_half, high_half) = (_mm256_blendv_epi8(first, second, odd), _mm256_blendv_epi8(third, fourth, odd));
    _mm256_blendv_epi8(low_half, high_half, high)
}

/// For one half of a line, makes a byte for each bit: all ones if the bit is set, otherwise zero.
#[target_feature(enable = "avx2")]
#[inline]
fn spread_bits(bits: [u8; LINE / 8], half: usize) -> __m256i {
    let word = (u64::from_le_bytes(bits) >> (32 * half)) as i32;
    // Each half of the register gets two of the bytes, each repeated eight times.
    let from = _mm256_set_epi64x(0x0303_0303_0303_0303, 0x0202_0202_0202_0202, 0x0101_0101_0101_0101, 0);
    let bit = _mm256_set1_epi64x(i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]));
    let bytes = _mm256_shuffle_epi8(_mm256_set1_epi32(word), from);
    _mm256_cmpeq_epi8(_mm256_and_si256(bytes, bit), bit)
}

/// Returns all ones in each byte position where the byte of `first` is at most the byte of `second`.
#[target_feature(enable = "avx2")]
#[inline]
fn at_most(first: __m256i, second: __m256i) -> __m256i {
    _mm256_cmpeq_epi8(_mm256_min_epu8(first, second), first)
}

#[target_feature(enable = "avx2")]
#[inline]
fn load(line: &Line) -> Halves {
    // SAFETY: the array has 64 bytes.
    unsafe { [_mm256_loadu_si256(line.as_ptr().cast()), _mm256_loadu_si256(line.as_ptr().add(32).cast())] }
}

#[target_feature(enable = "avx2")]
#[inline]
fn store(line: &mut Line, [first, second]: Halves) {
    // SAFETY: the array has 64 bytes.
    unsafe {
        _mm256_storeu_si256(line.as_mut_ptr().cast(), first);
        _mm256_storeu_si256(line.as_mut_ptr().add(32).cast(), second);
    }
}
