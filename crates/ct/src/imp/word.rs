//! Comparisons of integers that return masks, and selection of integers by masks.
//!
//! On x86-64 and on AArch64, each of these is two or three instructions of assembly. On other targets, the code
//! computes masks by arithmetic on bits, and then passes the masks through a barrier.

#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
mod aarch64;
#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable))))]
mod portable;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
mod x86_64;

/// Integers with comparisons that return masks. A mask consists of only ones or only zeros, and the compiler knows
/// nothing about its value.
pub trait Word: Copy {
    fn equal(self, other: Self) -> usize;
    fn different(self, other: Self) -> usize;
    fn less(self, other: Self) -> usize;
    fn less_or_equal(self, other: Self) -> usize;
    fn zero(self) -> usize;
    fn nonzero(self) -> usize;
    /// Returns the bits of `self` where the mask has ones, and the bits of `other` where the mask has zeros.
    fn select(self, other: Self, mask: usize) -> Self;
}
