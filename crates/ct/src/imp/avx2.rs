//! The portable arithmetic, which is compiled for 32-byte vectors.

use super::portable;

/// Returns all ones if both slices have the same bytes, and zero otherwise.
#[target_feature(enable = "avx2")]
pub fn equal(left: &[u8], right: &[u8]) -> usize {
    portable::equal(left, right)
}

/// Returns all ones if every byte of the slice is zero, and zero otherwise.
#[target_feature(enable = "avx2")]
pub fn zero(slice: &[u8]) -> usize {
    portable::zero(slice)
}

/// Copies the bits of `source` to the target where `mask` has ones.
#[target_feature(enable = "avx2")]
pub fn assign(target: &mut [u8], source: &[u8], mask: u64) {
    portable::assign(target, source, mask);
}

/// Swaps the bits of two slices where `mask` has ones.
#[target_feature(enable = "avx2")]
pub fn swap(left: &mut [u8], right: &mut [u8], mask: u64) {
    portable::swap(left, right, mask);
}
