//! The kernels: one block in, one block out. Everything above is free of `unsafe`.
//!
//! All back ends keep one contract. The block is as long as [`Row::size`] says, and holds fewer data bytes than that; how many is secret.
//! `pad` and `pad_in_place` write every byte of the block, and touch none outside of it, of the data and of the noise.

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

/// Random bytes for the largest block; anything if the scheme takes none.
pub type Noise = [u8; u8::MAX as usize];
/// The anything.
pub static NO_NOISE: Noise = [0; u8::MAX as usize];

macro_rules! dispatch {
    ($name:ident($($argument:expr),*)) => {{
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        match level() {
            // SAFETY: `level` returns this rung only if the CPU and the operating system have its instruction sets.
            Level::Avx512 => unsafe { avx512::$name($($argument),*) },
            Level::Portable => portable::$name($($argument),*),
            // SAFETY: as above; every other rung has SSE2.
            _ => unsafe { sse2::$name($($argument),*) },
        }
        #[cfg(not(all(target_arch = "x86_64", not(deadpan_portable))))]
        portable::$name($($argument),*)
    }};
}

/// Writes a padded block: the bytes of `data`, fewer than the block holds, and the row's padding behind them. If that is noisy, the block
/// holds the noise.
#[inline(always)]
pub fn pad(row: &Row, value: Value, data: &[u8], block: &mut [u8]) {
    dispatch!(pad(row, value, data, block));
}

/// Pads a block whose first `kept` bytes are the data, with `noise` if the padding is noisy.
#[inline(always)]
pub fn pad_in_place(row: &Row, value: Value, block: &mut [u8], kept: usize, noise: &Noise) {
    dispatch!(pad_in_place(row, value, block, kept, noise));
}

/// How many padding bytes a block has, and whether it is padded as the row says. The count is garbage if not.
#[inline(always)]
pub fn unpad(row: &Row, block: &[u8]) -> (usize, Choice) {
    dispatch!(unpad(row, block))
}

/// The full blocks of `data`, and the bytes behind them. A jump on the length would have to look at the part of it that is secret.
#[inline(always)]
pub fn split(data: &[u8], divisor: Divisor) -> (&[u8], &[u8]) {
    let full = divisor.full(data.len());
    debug_assert!(full <= data.len());
    // SAFETY: `full` rounds a slice's length down; see the proof there.
    unsafe { data.split_at_unchecked(full) }
}

#[cfg(test)]
mod tests;
