//! Operations on slices of bytes, in the CPU's widest registers, and a mode of the CPU. Only this module and the
//! barriers contain `unsafe` code.
//!
//! The code for short slices is inlined, so that the compiler can unroll the loop for a known length into a few
//! instructions. For long slices, the code chooses the instructions for the CPU by one predictable jump. The module
//! `portable` contains the arithmetic, which is also compiled for wider registers. AVX-512 has separate code, because
//! it replaces the code for the tail by masked loads. AArch64 has only the portable code, because the compiler makes
//! better loops of it with NEON than we wrote by hand.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod avx512;
#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
pub mod mode;
pub mod portable;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod sse2;
#[cfg(test)]
mod tests;
#[cfg(deadpan_test)]
pub mod valgrind;
pub mod word;

#[cfg(not(all(target_arch = "x86_64", not(deadpan_portable))))]
use self::portable as baseline;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
use self::sse2 as baseline;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
use crate::cpu::{Level, level};

/// Slices of at most this length are processed by inlined code that runs on every CPU. For slices of at most this
/// length, a call and a check of the CPU level cost more time than wider registers save.
const SHORT: usize = 256;

/// Types that consist of integers.
///
/// # Safety
/// The type must have no padding, and every bit pattern must be a valid value of the type.
pub unsafe trait Plain {}
macro_rules! plain {
    ($($int:ty)*) => { $(
        // SAFETY: an integer has no padding, and every bit pattern is valid.
        unsafe impl Plain for $int {}
    )* };
}
plain!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// Returns the bytes of a slice of integers.
#[inline(always)]
pub fn bytes<T: Plain>(slice: &[T]) -> &[u8] {
    // SAFETY: `Plain` promises that the type has no padding. The length is the size of the slice in bytes, and bytes
    // need no alignment. The result borrows the slice.
    unsafe { core::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// Returns the bytes of a slice of integers, for writing.
#[inline(always)]
pub fn bytes_mut<T: Plain>(slice: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes`. In addition, every bit pattern is a valid value, so any write is sound.
    unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
}

macro_rules! dispatch {
    ($length:expr, $name:ident($($argument:expr),*)) => {
        if $length <= SHORT {
            baseline::$name($($argument),*)
        } else {
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            match level() {
                // SAFETY: `level` returns this level only if the CPU and the operating system support its instruction
                // sets.
                Level::Avx512 => unsafe { avx512::$name($($argument),*) },
                // SAFETY: `level` returns this level only if the CPU and the operating system support its instruction
                // sets.
                Level::Avx2 => unsafe { avx2::$name($($argument),*) },
                _ => baseline::$name($($argument),*),
            }
            #[cfg(not(all(target_arch = "x86_64", not(deadpan_portable))))]
            baseline::$name($($argument),*)
        }
    };
}

/// Returns all ones if both slices have the same bytes, and zero otherwise. Both slices have the same length.
#[inline(always)]
pub fn equal(left: &[u8], right: &[u8]) -> usize {
    debug_assert_eq!(left.len(), right.len());
    dispatch!(left.len(), equal(left, right))
}

/// Returns all ones if every byte of the slice is zero, and zero otherwise.
#[inline(always)]
pub fn zero(slice: &[u8]) -> usize {
    dispatch!(slice.len(), zero(slice))
}

/// Copies the bits of `source` to the target where `mask` has ones. For an array, whose length is `KNOWN`, a loop over
/// words compiles to a few instructions.
#[inline(always)]
pub fn assign<const KNOWN: bool>(target: &mut [u8], source: &[u8], mask: u64) {
    debug_assert_eq!(target.len(), source.len());
    if KNOWN && target.len() <= SHORT {
        portable::assign_words(target, source, mask);
    } else {
        dispatch!(target.len(), assign(target, source, mask));
    }
}

/// Swaps the bits of two slices where `mask` has ones. For an array, whose length is `KNOWN`, a loop over words
/// compiles to a few instructions.
#[inline(always)]
pub fn swap<const KNOWN: bool>(left: &mut [u8], right: &mut [u8], mask: u64) {
    debug_assert_eq!(left.len(), right.len());
    if KNOWN && left.len() <= SHORT {
        portable::swap_words(left, right, mask);
    } else {
        dispatch!(left.len(), swap(left, right, mask));
    }
}
