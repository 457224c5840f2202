//! Blocks of 16 bytes in one register, for every x86-64 CPU. The portable back end processes blocks of other sizes.

use core::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_and_si128, _mm_andnot_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_loadu_si128,
    _mm_movemask_epi8, _mm_or_si128, _mm_set_epi64x, _mm_set1_epi8, _mm_setr_epi8, _mm_storeu_si128, _mm_sub_epi8,
    _mm_xor_si128,
};

use super::Noise;
use super::portable::{self, Reader, last_kept};
use super::row::{Row, Value};
use super::run::Run;
use deadpan_ct::Choice;

/// The number of bytes in the block and in the vector.
const SIZE: usize = 16;

/// Pads a block of 16 bytes. See [`super::pad`].
#[inline]
#[target_feature(enable = "sse2")]
pub fn pad(row: &Row, value: Value, data: &[u8], block: &mut [u8]) {
    let Some(block) = block.as_mut_array::<SIZE>() else { return portable::pad(row, value, data, block) };
    let reader = Reader::new(data);
    let (low, high) = (reader.word(0, 8).cast_signed(), reader.word(8, 8).cast_signed());
    let padded = fill(row, value, _mm_set_epi64x(high, low), data.len(), reader.last(), load(block));
    store(block, padded);
}

/// Pads a block of 16 bytes in place. See [`super::pad_in_place`].
#[inline]
#[target_feature(enable = "sse2")]
pub fn pad_in_place(row: &Row, value: Value, block: &mut [u8], kept: usize, noise: &Noise) {
    let Some(block) = block.as_mut_array::<SIZE>() else {
        return portable::pad_in_place(row, value, block, kept, noise);
    };
    let last = last_kept(block, kept);
    let noise = load(noise.first_chunk().expect("noise is longer than this block"));
    let padded = fill(row, value, load(block), kept, last, noise);
    store(block, padded);
}

/// Checks a block of 16 bytes. See [`super::unpad`].
#[inline]
#[target_feature(enable = "sse2")]
pub fn unpad(row: &Row, block: &[u8]) -> (usize, Choice) {
    let Some(block) = block.as_array::<SIZE>() else { return portable::unpad(row, block) };
    let last_byte = block[SIZE - 1];
    let text = load(block);
    let before_end = _mm_sub_epi8(splat(SIZE as u8 - 1), numbers());
    let wanted = _mm_sub_epi8(splat(last_byte & row.tells_value), _mm_and_si128(before_end, splat(row.steps)));
    let all = u64::from(row.unchecked.cast_unsigned() >> 7) * 0xffff;
    let last = u64::from(row.unchecked.cast_unsigned() & 1) << (SIZE - 1);
    let bad = !flags(_mm_cmpeq_epi8(text, wanted)) & !(all | last) & 0xffff;
    let marks = flags(_mm_and_si128(_mm_cmpeq_epi8(text, splat(row.mark)), splat(row.mark)));
    let mut run = Run::new();
    run.extend::<64>(0, bad, marks);
    run.verdict(row, last_byte)
}

/// Returns the first `kept` bytes of `text`, followed by padding. `last` is the last of the kept bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn fill(row: &Row, value: Value, text: __m128i, kept: usize, last: u8, noise: __m128i) -> __m128i {
    debug_assert!(kept < SIZE);
    let border = splat(kept as u8);
    let count = (SIZE as u8).wrapping_sub(kept as u8);
    let value = value.pick(kept) ^ (count & row.counts) ^ (last & row.follows);
    let steps = _mm_and_si128(_mm_sub_epi8(numbers(), border), splat(row.steps));
    let mark = _mm_and_si128(_mm_cmpeq_epi8(numbers(), border), splat(row.mark));
    let noise = _mm_and_si128(noise, splat(row.noisy));
    let padding = _mm_xor_si128(_mm_xor_si128(_mm_add_epi8(splat(value), steps), mark), noise);
    let counted = _mm_and_si128(_mm_cmpeq_epi8(numbers(), splat(SIZE as u8 - 1)), splat(row.ends_in_count));
    let padding = pick(counted, splat(count), padding);
    pick(_mm_cmpgt_epi8(border, numbers()), text, padding)
}

/// Returns the bits of `yes` at the places where the mask has ones, and the bits of `no` at the other places.
#[inline]
#[target_feature(enable = "sse2")]
fn pick(mask: __m128i, yes: __m128i, no: __m128i) -> __m128i {
    _mm_or_si128(_mm_and_si128(mask, yes), _mm_andnot_si128(mask, no))
}

/// Returns the highest bit of every lane, as one bit for each lane.
#[inline]
#[target_feature(enable = "sse2")]
fn flags(lanes: __m128i) -> u64 {
    u64::from(_mm_movemask_epi8(lanes).cast_unsigned())
}

/// Returns a vector that has the lane number in every lane.
#[inline]
#[target_feature(enable = "sse2")]
fn numbers() -> __m128i {
    _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

#[inline]
#[target_feature(enable = "sse2")]
fn splat(byte: u8) -> __m128i {
    _mm_set1_epi8(byte.cast_signed())
}

#[inline]
#[target_feature(enable = "sse2")]
fn load(block: &[u8; SIZE]) -> __m128i {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn store(block: &mut [u8; SIZE], vector: __m128i) {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), vector) }
}
