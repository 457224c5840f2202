//! The arithmetic of all back ends. The code changes slices byte by byte. The compiler vectorizes such loops over
//! bytes, and makes better code from these loops than from loops over words. For arrays, the compiler unrolls the
//! loops, and loops over words give better code.
//!
//! This module contains no comparisons. The code collects differences with `|`, and applies masks with `&`. The
//! compiler knows nothing about the values of the masks.

use super::word::Word;

/// The number of bytes in a step.
const STEP: usize = 8;

/// Returns all ones if both slices have the same bytes, and zero otherwise.
#[inline(always)]
pub fn equal(left: &[u8], right: &[u8]) -> usize {
    let (left, left_tail) = left.as_chunks::<STEP>();
    let (right, right_tail) = right.as_chunks::<STEP>();
    let mut seen = 0_u64;
    for (a, b) in left.iter().zip(right) {
        seen |= u64::from_ne_bytes(*a) ^ u64::from_ne_bytes(*b);
    }
    for (a, b) in left_tail.iter().zip(right_tail) {
        seen |= u64::from(a ^ b);
    }
    seen.zero()
}

/// Returns all ones if every byte of the slice is zero, and zero otherwise.
#[inline(always)]
pub fn zero(slice: &[u8]) -> usize {
    let (words, tail) = slice.as_chunks::<STEP>();
    let seen = words.iter().fold(0_u64, |seen, word| seen | u64::from_ne_bytes(*word));
    tail.iter().fold(seen, |seen, byte| seen | u64::from(*byte)).zero()
}

/// Copies the bits of `source` to the target where `mask` has ones.
#[inline(always)]
pub fn assign(target: &mut [u8], source: &[u8], mask: u64) {
    for (to, from) in target.iter_mut().zip(source) {
        *to ^= (*to ^ *from) & mask as u8;
    }
}

/// Swaps the bits of two slices where `mask` has ones.
#[inline(always)]
pub fn swap(left: &mut [u8], right: &mut [u8], mask: u64) {
    for (a, b) in left.iter_mut().zip(right) {
        let change = (*a ^ *b) & mask as u8;
        *a ^= change;
        *b ^= change;
    }
}

/// Copies the bits of `source` to the target where `mask` has ones. Works word by word.
#[inline(always)]
pub fn assign_words(target: &mut [u8], source: &[u8], mask: u64) {
    let (target, target_tail) = target.as_chunks_mut::<STEP>();
    let (source, source_tail) = source.as_chunks::<STEP>();
    for (to, from) in target.iter_mut().zip(source) {
        let old = u64::from_ne_bytes(*to);
        *to = (old ^ ((old ^ u64::from_ne_bytes(*from)) & mask)).to_ne_bytes();
    }
    assign(target_tail, source_tail, mask);
}

/// Swaps the bits of two slices where `mask` has ones. Works word by word.
#[inline(always)]
pub fn swap_words(left: &mut [u8], right: &mut [u8], mask: u64) {
    let (left, left_tail) = left.as_chunks_mut::<STEP>();
    let (right, right_tail) = right.as_chunks_mut::<STEP>();
    for (a, b) in left.iter_mut().zip(right) {
        let (old_a, old_b) = (u64::from_ne_bytes(*a), u64::from_ne_bytes(*b));
        let change = (old_a ^ old_b) & mask;
        *a = (old_a ^ change).to_ne_bytes();
        *b = (old_b ^ change).to_ne_bytes();
    }
    swap(left_tail, right_tail, mask);
}
