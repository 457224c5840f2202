//! The kernels, which pad and check one block. Only this module has `unsafe` code.
//!
//! All back ends keep one contract. The block has [`Row::size`] bytes and fewer data bytes, whose number is secret.
//! `pad` and `pad_in_place` write every byte of the block, and touch no memory but the block, the data and the noise.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod avx512;
pub mod portable;
mod row;
mod run;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod sse2;

use crate::divisor::Divisor;
use deadpan_ct::Choice;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
use deadpan_ct::cpu::{Level, level};
pub use portable::last_kept;
pub use row::{Row, Value};

/// Random bytes for the largest block. Any bytes do if the scheme takes none.
pub type Noise = [u8; u8::MAX as usize];
/// The noise for schemes that take none.
pub static NO_NOISE: Noise = [0; u8::MAX as usize];

macro_rules! dispatch {
    ($name:ident($($argument:expr),*)) => {{
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        match level() {
            // SAFETY: `level` returns this level only if the CPU and the operating system support its instruction sets.
            Level::Avx512 => unsafe { avx512::$name($($argument),*) },
            Level::Portable => portable::$name($($argument),*),
            // SAFETY: every x86-64 has SSE2.
            _ => unsafe { sse2::$name($($argument),*) },
        }
        #[cfg(not(all(target_arch = "x86_64", not(deadpan_portable))))]
        portable::$name($($argument),*)
    }};
}

/// Writes a padded block: the bytes of `data`, fewer than the block holds, and the row's padding after them. For noisy
/// padding, the block holds the noise before the call.
#[inline(always)]
pub fn pad(row: &Row, value: Value, data: &[u8], block: &mut [u8]) {
    dispatch!(pad(row, value, data, block));
}

/// Pads a block whose first `kept` bytes are the data, with `noise` if the padding is noisy.
#[inline(always)]
pub fn pad_in_place(row: &Row, value: Value, block: &mut [u8], kept: usize, noise: &Noise) {
    dispatch!(pad_in_place(row, value, block, kept, noise));
}

/// Returns how many padding bytes a block has, and whether the row allows this padding. If not, the count has no
/// meaning.
#[inline(always)]
pub fn unpad(row: &Row, block: &[u8]) -> (usize, Choice) {
    dispatch!(unpad(row, block))
}

/// Splits `data` into its full blocks and the bytes after them. There is no bounds check, since it would jump on the
/// part of the length that is secret.
#[inline(always)]
pub fn split(data: &[u8], divisor: Divisor) -> (&[u8], &[u8]) {
    let full = divisor.full(data.len());
    debug_assert!(full <= data.len());
    // SAFETY: `full` rounds the length of a slice down, as its proof says.
    unsafe { data.split_at_unchecked(full) }
}

#[cfg(test)]
mod tests;
