//! Operations with 16-byte vectors, which every AArch64 CPU supports. This module contains only the comparisons. For
//! the other operations, the portable code is enough, because the compiler vectorizes it well.
//!
//! One vector, which ends at the last byte, processes the tail. This vector may overlap the previous vector.

pub use super::portable::{assign, swap};

use core::arch::aarch64::{uint8x16_t, veorq_u8, vgetq_lane_u64, vld1q_u8, vorrq_u8, vreinterpretq_u64_u8};

use super::portable;
use super::word::Word;

/// The number of bytes in a vector.
const STEP: usize = 16;

#[inline(always)]
fn load(bytes: &[u8; STEP]) -> uint8x16_t {
    // SAFETY: NEON is part of AArch64; the array is as long as the vector.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

/// Returns all ones if every bit of `vector` is zero, and zero otherwise.
#[inline(always)]
fn zero_mask(vector: uint8x16_t) -> usize {
    // SAFETY: NEON is part of AArch64.
    let (low, high) = unsafe {
        let halves = vreinterpretq_u64_u8(vector);
        (vgetq_lane_u64::<0>(halves), vgetq_lane_u64::<1>(halves))
    };
    (low | high).zero()
}

/// Returns all ones if both slices have the same bytes, and zero otherwise.
#[inline(always)]
pub fn equal(left: &[u8], right: &[u8]) -> usize {
    let (Some(left_last), Some(right_last)) = (left.last_chunk(), right.last_chunk()) else {
        return portable::equal(left, right);
    };
    // SAFETY: NEON is part of AArch64, so every CPU has these instructions.
    let differ = |a, b| unsafe { veorq_u8(load(a), load(b)) };
    // SAFETY: as above.
    let both = |a, b| unsafe { vorrq_u8(a, b) };
    let (left_fours, left_rest) = left.as_chunks().0.as_chunks::<4>();
    let (right_fours, right_rest) = right.as_chunks().0.as_chunks::<4>();
    // The four differences do not wait for each other, nor for those of the previous 64 bytes.
    let seen =
        left_fours.iter().zip(right_fours).fold(differ(left_last, right_last), |seen, ([a, b, c, d], [e, f, g, h])| {
            both(seen, both(both(differ(a, e), differ(b, f)), both(differ(c, g), differ(d, h))))
        });
    zero_mask(left_rest.iter().zip(right_rest).fold(seen, |seen, (a, b)| both(seen, differ(a, b))))
}

/// Returns all ones if every byte of the slice is zero, and zero otherwise.
#[inline(always)]
pub fn zero(slice: &[u8]) -> usize {
    let Some(last) = slice.last_chunk() else { return portable::zero(slice) };
    // SAFETY: NEON is part of AArch64.
    zero_mask(slice.as_chunks().0.iter().fold(load(last), |seen, bytes| unsafe { vorrq_u8(seen, load(bytes)) }))
}
