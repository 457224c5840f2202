//! The kernels, which pad and check one block. Only this module contains `unsafe` code.
//!
//! All back ends follow the same contract. A block has [`Row::size`] bytes, and has fewer data bytes than that. The
//! number of data bytes is secret. `pad` and `pad_in_place` write every byte of the block, and access no memory except
//! the block, the data and the noise.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod avx512;
#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
pub mod neon;
pub mod portable;
mod row;
mod run;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod sse2;

use crate::divisor::Divisor;
use deadpan_ct::Choice;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable)))]
use deadpan_ct::cpu::{Level, level};
pub use portable::last_kept;
pub use row::{Row, Value};

/// Random bytes for the largest block. If the scheme needs no random bytes, the array may have any contents.
pub type Noise = [u8; u8::MAX as usize];
/// The noise for schemes that need no random bytes.
pub static NO_NOISE: Noise = [0; u8::MAX as usize];

macro_rules! dispatch {
    ($name:ident($($argument:expr),*)) => {{
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        match level() {
            // SAFETY: `level` returns this level only if the CPU and the operating system support its instruction sets.
            Level::Avx512 => unsafe { avx512::$name($($argument),*) },
            Level::Portable => portable::$name($($argument),*),
            // SAFETY: every x86-64 CPU has SSE2.
            _ => unsafe { sse2::$name($($argument),*) },
        }
        #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
        match level() {
            // SAFETY: every AArch64 CPU has NEON.
            Level::Neon => unsafe { neon::$name($($argument),*) },
            _ => portable::$name($($argument),*),
        }
        #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable))))]
        portable::$name($($argument),*)
    }};
}

/// Writes a padded block: the bytes of `data`, then the padding that `row` describes. `data` must be shorter than the
/// block. For noisy padding, the block must hold the noise before the call.
#[inline(always)]
pub fn pad(row: &Row, value: Value, data: &[u8], block: &mut [u8]) {
    dispatch!(pad(row, value, data, block));
}

/// Pads a block whose first `kept` bytes are the data. Uses `noise` if the padding is noisy.
#[inline(always)]
pub fn pad_in_place(row: &Row, value: Value, block: &mut [u8], kept: usize, noise: &Noise) {
    dispatch!(pad_in_place(row, value, block, kept, noise));
}

/// Returns the number of padding bytes in a block, and whether the padding is right for this row. If the padding is
/// wrong, the number has no meaning.
#[inline(always)]
pub fn unpad(row: &Row, block: &[u8]) -> (usize, Choice) {
    dispatch!(unpad(row, block))
}

/// Splits `data` into its full blocks and the remaining bytes. There is no bounds check, because a bounds check would
/// jump on the secret part of the length.
#[inline(always)]
pub fn split(data: &[u8], divisor: Divisor) -> (&[u8], &[u8]) {
    let full = divisor.full(data.len());
    debug_assert!(full <= data.len());
    // SAFETY: `full` is the length of the slice rounded down, as the proof in `Divisor::new` shows. So `full` does not
    // exceed the length.
    unsafe { data.split_at_unchecked(full) }
}

#[cfg(test)]
mod tests;
