//! Blocks of 16 bytes in one register. The code loads and stores each whole block without a mask, because a load would
//! have to wait for a masked store.

use core::arch::x86_64::{
    __m128i, __mmask16, _mm_add_epi8, _mm_and_si128, _mm_cmpeq_epi8_mask, _mm_cmpneq_epi8_mask, _mm_loadu_si128,
    _mm_mask_mov_epi8, _mm_maskz_loadu_epi8, _mm_maskz_mov_epi8, _mm_set1_epi8, _mm_setr_epi8, _mm_shuffle_epi8,
    _mm_storeu_si128, _mm_sub_epi8, _mm_xor_si128,
};

use super::super::Noise;
use super::super::row::{Row, Value};
use super::super::run::verdict;
use deadpan_ct::Choice;

/// The number of bytes in the block and in the vector.
const SIZE: usize = 16;
/// The mask of the last lane.
const FINAL: __mmask16 = 1 << (SIZE - 1);

/// Pads a block of 16 bytes. See [`super::pad`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub fn pad(row: &Row, value: Value, data: &[u8], block: &mut [u8; SIZE]) {
    debug_assert!(data.len() < SIZE);
    let mask = first(data.len());
    // SAFETY: the mask selects only bytes of the data, and the CPU does not access the other bytes.
    let text = unsafe { _mm_maskz_loadu_epi8(mask, data.as_ptr().cast()) };
    let padded = fill(row, value, text, data.len(), block);
    store(block, padded);
}

/// Pads a block of 16 bytes in place. See [`super::pad_in_place`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub fn pad_in_place(row: &Row, value: Value, block: &mut [u8; SIZE], kept: usize, noise: &Noise) {
    debug_assert!(kept < SIZE);
    let noise = noise.first_chunk().expect("noise is longer than this block");
    let padded = fill(row, value, load(block), kept, noise);
    store(block, padded);
}

/// Checks a block of 16 bytes. See [`super::unpad`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub fn unpad(row: &Row, block: &[u8; SIZE]) -> (usize, Choice) {
    let last_byte = block[SIZE - 1];
    // The lanes are reversed: the good bytes at the end of the block become the lowest bits of the mask, where one
    // instruction counts them.
    let text = _mm_shuffle_epi8(load(block), backwards());
    let wanted = _mm_sub_epi8(splat(last_byte & row.tells_value), _mm_and_si128(numbers(), splat(row.steps)));
    let bad = u32::from(_mm_cmpneq_epi8_mask(text, wanted)) & !i32::from(row.unchecked).cast_unsigned();
    let marks = u32::from(_mm_cmpeq_epi8_mask(text, splat(row.mark)));
    let good = (bad | (1 << SIZE)).trailing_zeros();
    // If the scheme has no mark, `row.mark` is zero, so `marked` is zero.
    let marked = ((marks << (31 - good)) >> 31) & u32::from(row.mark >> 7);
    verdict(row, u64::from(good), u64::from(marked), last_byte)
}

/// Returns the first `kept` bytes of `text`, followed by padding.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn fill(row: &Row, value: Value, text: __m128i, kept: usize, noise: &[u8; SIZE]) -> __m128i {
    let kept_byte = kept as u8;
    let count = (SIZE as u8).wrapping_sub(kept_byte);
    let border = splat(kept_byte);
    let mut value = splat(value.pick(kept) ^ (count & row.counts));
    if row.follows != 0 {
        // Every lane gets the last data byte. If there are no data bytes, the index has its highest bit set, and the
        // shuffle returns zero.
        value = _mm_xor_si128(value, _mm_shuffle_epi8(text, splat(kept_byte.wrapping_sub(1))));
    }
    let steps = _mm_and_si128(_mm_sub_epi8(numbers(), border), splat(row.steps));
    let mark = _mm_maskz_mov_epi8(_mm_cmpeq_epi8_mask(numbers(), border), splat(row.mark));
    let mut padding = _mm_xor_si128(_mm_add_epi8(value, steps), mark);
    if row.noisy != 0 {
        padding = _mm_xor_si128(padding, load(noise));
    }
    padding = _mm_mask_mov_epi8(padding, lanes(row.ends_in_count) as __mmask16 & FINAL, splat(count));
    _mm_mask_mov_epi8(padding, first(kept), text)
}

/// Returns a mask of the first `count` lanes. `count` must be less than the number of lanes.
#[inline(always)]
fn first(count: usize) -> __mmask16 {
    ((1_u32 << (count & (SIZE - 1))) - 1) as __mmask16
}

/// Turns a condition, `ff` or `00`, into a mask of all lanes: all ones or all zeros.
#[inline(always)]
fn lanes(condition: u8) -> u32 {
    i32::from(condition.cast_signed() >> 7).cast_unsigned()
}

/// Returns a vector that has the lane number in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn numbers() -> __m128i {
    _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
}

/// Returns a vector that has in each lane the number of lanes after this lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn backwards() -> __m128i {
    _mm_setr_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn splat(byte: u8) -> __m128i {
    _mm_set1_epi8(byte.cast_signed())
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn load(block: &[u8; SIZE]) -> __m128i {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn store(block: &mut [u8; SIZE], vector: __m128i) {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm_storeu_si128(block.as_mut_ptr().cast(), vector) }
}
