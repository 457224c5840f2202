//! Operations with 16-byte vectors, which every x86-64 CPU supports. This module contains only the comparisons. For the
//! other operations, the portable code is enough, because the compiler vectorizes it well.
//!
//! One vector, which ends at the last byte, processes the tail. This vector may overlap the previous vector.

pub use super::portable::{assign, swap};

use core::arch::x86_64::{
    __m128i, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_or_si128, _mm_setzero_si128, _mm_xor_si128,
};

use super::portable;
use super::word::Word;

/// The number of bytes in a vector.
const STEP: usize = 16;

#[inline(always)]
fn load(bytes: &[u8; STEP]) -> __m128i {
    // SAFETY: SSE2 is part of x86-64; the array is as long as the vector.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

/// Returns all ones if every bit of `vector` is zero, and zero otherwise.
#[inline(always)]
fn zero_mask(vector: __m128i) -> usize {
    // SAFETY: SSE2 is part of x86-64.
    unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(vector, _mm_setzero_si128())) }.equal(0xffff)
}

/// Returns all ones if both slices have the same bytes, and zero otherwise.
#[inline(always)]
pub fn equal(left: &[u8], right: &[u8]) -> usize {
    let (Some(left_last), Some(right_last)) = (left.last_chunk(), right.last_chunk()) else {
        return portable::equal(left, right);
    };
    // SAFETY: SSE2 is part of x86-64.
    let differ = |a, b| unsafe { _mm_xor_si128(load(a), load(b)) };
    let pairs = left.as_chunks().0.iter().zip(right.as_chunks().0);
    // SAFETY: SSE2 is part of x86-64, so every CPU has these instructions.
    zero_mask(pairs.fold(differ(left_last, right_last), |seen, (a, b)| unsafe { _mm_or_si128(seen, differ(a, b)) }))
}

/// Returns all ones if every byte of the slice is zero, and zero otherwise.
#[inline(always)]
pub fn zero(slice: &[u8]) -> usize {
    let Some(last) = slice.last_chunk() else { return portable::zero(slice) };
    // SAFETY: SSE2 is part of x86-64.
    zero_mask(slice.as_chunks().0.iter().fold(load(last), |seen, bytes| unsafe { _mm_or_si128(seen, load(bytes)) }))
}
