//! Slices of bytes at the width of the CPU. Everything above this module is free of `unsafe`.
//!
//! Short slices stay inline, where a known length unrolls into a few instructions; long ones pay one predictable jump on the CPU level.
//! The arithmetic stands once, in `portable`, and is compiled again for wider registers; AVX-512 has its own text because its masked
//! loads replace the tail.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod avx512;
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

/// Up to here the text for every CPU is inlined: a call and a look at the CPU level would cost more than they save.
const SHORT: usize = 256;

/// Integers.
///
/// # Safety
/// There is no padding, and every bit pattern is valid.
pub unsafe trait Plain {}
macro_rules! plain {
    ($($int:ty)*) => { $(
        // SAFETY: an integer.
        unsafe impl Plain for $int {}
    )* };
}
plain!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// The bytes of a slice of integers.
#[inline(always)]
pub fn bytes<T: Plain>(slice: &[T]) -> &[u8] {
    // SAFETY: `Plain` promises that there is no padding; the length is the slice's own size in bytes, and
    // bytes need no alignment. The borrow is the slice's.
    unsafe { core::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// The bytes of a slice of integers, to be changed.
#[inline(always)]
pub fn bytes_mut<T: Plain>(slice: &mut [T]) -> &mut [u8] {
    // SAFETY: as in `bytes`; and every pattern of bytes is a valid integer, so whatever is written is sound.
    unsafe { core::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
}

macro_rules! dispatch {
    ($length:expr, $name:ident($($argument:expr),*)) => {
        if $length <= SHORT {
            baseline::$name($($argument),*)
        } else {
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            match level() {
                // SAFETY: `level` returns this rung only if the CPU and the operating system have its instruction sets.
                Level::Avx512 => unsafe { avx512::$name($($argument),*) },
                // SAFETY: as above.
                Level::Avx2 => unsafe { avx2::$name($($argument),*) },
                _ => baseline::$name($($argument),*),
            }
            #[cfg(not(all(target_arch = "x86_64", not(deadpan_portable))))]
            portable::$name($($argument),*)
        }
    };
}

/// All ones if both slices, of the same length, hold the same bytes.
#[inline(always)]
pub fn equal(left: &[u8], right: &[u8]) -> usize {
    debug_assert_eq!(left.len(), right.len());
    dispatch!(left.len(), equal(left, right))
}

/// All ones if every byte is zero.
#[inline(always)]
pub fn zero(slice: &[u8]) -> usize {
    dispatch!(slice.len(), zero(slice))
}

/// Copies `source` where `mask` has ones. An array, whose length is `KNOWN`, comes to a few instructions if it is taken by words.
#[inline(always)]
pub fn assign<const KNOWN: bool>(target: &mut [u8], source: &[u8], mask: u64) {
    debug_assert_eq!(target.len(), source.len());
    if KNOWN && target.len() <= SHORT {
        portable::assign_words(target, source, mask);
    } else {
        dispatch!(target.len(), assign(target, source, mask));
    }
}

/// Exchanges two slices where `mask` has ones; arrays as in [`assign`].
#[inline(always)]
pub fn swap<const KNOWN: bool>(left: &mut [u8], right: &mut [u8], mask: u64) {
    debug_assert_eq!(left.len(), right.len());
    if KNOWN && left.len() <= SHORT {
        portable::swap_words(left, right, mask);
    } else {
        dispatch!(left.len(), swap(left, right, mask));
    }
}
