//! The kernels, which turn buffers of bytes into symbols and back. The kernels apply no rules for `=` and skip no white
//! space. The kernels collect flaws, and the caller decides whether the flaws are errors. Only this module has `unsafe`
//! code.
//!
//! All back ends keep one contract. `encode` reads `length` bytes, writes [`symbols_for`] symbols, and then writes at
//! most two `=`, so that `total` bytes are written. `decode` reads `length` symbols and writes [`bytes_for`] bytes.
//! Neither `encode` nor `decode` touches other memory. Input and output may overlap for a conversion in place: each
//! iteration of a loop loads all of its input before it stores its output, and the positions only increase. If the
//! input and the output overlap, the output must never overtake the input that is still to be read.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod avx2;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod avx512;
pub mod hex;
#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
pub mod neon;
pub mod portable;
#[cfg(test)]
mod reference;
pub mod space;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod ssse3;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable)))]
mod table;
#[cfg(test)]
mod tests;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
mod vector;

#[cfg(feature = "alloc")]
use alloc::{string::String, vec::Vec};
use core::mem::MaybeUninit;

use crate::Alphabet;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable)))]
use deadpan_ct::cpu::{Level, level};
use deadpan_ct::{Choice, CtZero};

/// Returns the number of symbols for `bytes` bytes, without padding.
#[inline(always)]
pub const fn symbols_for(bytes: usize) -> usize {
    bytes + bytes.div_ceil(3)
}

/// Returns the number of bytes that `symbols` symbols hold. A single left-over symbol holds no byte.
#[inline(always)]
pub const fn bytes_for(symbols: usize) -> usize {
    symbols - symbols.div_ceil(4)
}

/// Returns the length of the encoded text for `bytes` bytes; if `padded` is set, the length includes the `=`. No slice
/// is long enough to overflow the number.
#[inline(always)]
pub const fn total_for(bytes: usize, padded: bool) -> usize {
    if padded { bytes.div_ceil(3) * 4 } else { symbols_for(bytes) }
}

/// The flaws of symbols, still secret. Zero means that there is no flaw.
#[derive(Clone, Copy)]
#[must_use]
pub struct Flaws {
    /// Nonzero if a byte was not a symbol.
    pub symbols: u64,
    /// Nonzero if the last symbol has bits set that belong to no byte.
    pub trailing: u64,
}

impl Flaws {
    /// *Yes* if every byte was a symbol.
    #[inline(always)]
    pub fn all_symbols(self) -> Choice {
        self.symbols.ct_is_zero()
    }

    /// Returns *yes* if every character was a symbol, and the bits after the last byte were all zero.
    #[inline(always)]
    pub fn canonical(self) -> Choice {
        (self.symbols | self.trailing).ct_is_zero()
    }
}

/// Returns whether two ranges have no byte in common. If the two ranges overlap, the kernels use only their simple
/// loops.
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
#[inline(always)]
fn apart(source: *const u8, read: usize, target: *mut u8, written: usize) -> bool {
    let (source, target) = (source as usize, target as usize);
    source + read <= target || target + written <= source
}

/// Encodes `input` into the front of `output` and returns the written part, or the number of bytes that are needed.
#[inline(always)]
pub fn encode<'a>(alphabet: Alphabet, padded: bool, input: &[u8], output: &'a mut [u8]) -> Result<&'a mut [u8], usize> {
    let total = total_for(input.len(), padded);
    let output = output.get_mut(..total).ok_or(total)?;
    // SAFETY: the input is readable for its length, and the output is writable for `total` bytes. The input and the
    // output are two borrows, so they do not overlap.
    unsafe { encode_raw(alphabet, input.as_ptr(), input.len(), output.as_mut_ptr(), total) };
    Ok(output)
}

/// Encodes `input` into the front of memory that need not be initialized, and returns the written part, or the number
/// of bytes that are needed.
#[inline(always)]
pub fn encode_uninit<'a>(
    alphabet: Alphabet,
    padded: bool,
    input: &[u8],
    output: &'a mut [MaybeUninit<u8>],
) -> Result<&'a mut [u8], usize> {
    let total = total_for(input.len(), padded);
    let output = output.get_mut(..total).ok_or(total)?;
    // SAFETY: the input is readable for its length, and the output is writable for `total` bytes. The input and the
    // output are two borrows, so they do not overlap. The kernel fills the whole output, so the output is initialized
    // after the call.
    unsafe {
        encode_raw(alphabet, input.as_ptr(), input.len(), output.as_mut_ptr().cast(), total);
        Ok(core::slice::from_raw_parts_mut(output.as_mut_ptr().cast(), total))
    }
}

/// Encodes `input` and appends the symbols to `output`.
#[cfg(feature = "alloc")]
#[inline(always)]
pub fn encode_onto(alphabet: Alphabet, padded: bool, input: &[u8], output: &mut Vec<u8>) {
    let total = total_for(input.len(), padded);
    output.reserve(total);
    // SAFETY: the input is readable for its length. The spare capacity is writable for `total` bytes, and the kernel
    // fills these bytes. Two borrows do not overlap.
    unsafe {
        encode_raw(alphabet, input.as_ptr(), input.len(), output.spare_capacity_mut().as_mut_ptr().cast(), total);
        output.set_len(output.len() + total);
    }
}

/// Encodes the first `length` bytes of `buffer` into the whole buffer. Returns `None` if the length of `buffer` is not
/// the length of the encoded text.
#[inline(always)]
pub fn encode_in_place(alphabet: Alphabet, padded: bool, buffer: &mut [u8], length: usize) -> Option<()> {
    if length > buffer.len() || total_for(length, padded) != buffer.len() {
        return None;
    }
    let gap = buffer.len() - length;
    buffer.copy_within(..length, gap);
    let start = buffer.as_mut_ptr();
    // SAFETY: both ranges lie in `buffer`. The input and the output end at the same place, and symbols take at least as
    // much room as the bytes that they stand for. So the output reaches the input only at the end, and never overwrites
    // a byte that was not read yet.
    unsafe { encode_raw(alphabet, start.add(gap), length, start, buffer.len()) };
    Some(())
}

/// Decodes `input` into the front of `output`.
#[inline(always)]
pub fn decode(alphabet: Alphabet, input: &[u8], output: &mut [u8]) -> Flaws {
    assert!(output.len() >= bytes_for(input.len()), "output too small");
    // SAFETY: the input is readable for its length, and the output is writable for the bytes that the input holds. The
    // input and the output are two borrows, so they do not overlap.
    unsafe { decode_raw(alphabet, input.as_ptr(), input.len(), output.as_mut_ptr()) }
}

/// Decodes `input` into a new vector.
#[cfg(feature = "alloc")]
#[inline(always)]
pub fn decode_new(alphabet: Alphabet, input: &[u8]) -> (Flaws, Vec<u8>) {
    let length = bytes_for(input.len());
    let mut output = Vec::with_capacity(length);
    // SAFETY: the input is readable for its length. The capacity is writable for the bytes that the input holds, and
    // the kernel fills these bytes.
    unsafe {
        let flaws = decode_raw(alphabet, input.as_ptr(), input.len(), output.as_mut_ptr());
        output.set_len(length);
        (flaws, output)
    }
}

/// Decodes the first `length` bytes of `buffer` to its front.
#[inline(always)]
pub fn decode_in_place(alphabet: Alphabet, buffer: &mut [u8], length: usize) -> Flaws {
    let start = buffer[..length].as_mut_ptr();
    // SAFETY: both ranges begin at `start` inside `buffer`; bytes take less room than their symbols, so the output
    // never overtakes the input.
    unsafe { decode_raw(alphabet, start, length, start) }
}

/// Returns ASCII symbols as text.
#[inline(always)]
pub(crate) fn text(symbols: &[u8]) -> &str {
    debug_assert!(symbols.is_ascii());
    // SAFETY: callers pass only the output of a kernel, which is ASCII.
    unsafe { core::str::from_utf8_unchecked(symbols) }
}

/// Runs the kernel for this CPU.
///
/// # Safety
/// `source` is readable for `length` bytes. `target` is writable for `total` bytes: the result of [`symbols_for`] for
/// `length`, plus at most two bytes for `=`. If the source and the target overlap, they fulfill the conditions that the
/// module's documentation states.
#[inline(always)]
unsafe fn encode_raw(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8, total: usize) {
    // SAFETY: the caller promises what the kernels require, and `level` returns a level only if the CPU and the
    // operating system support it.
    unsafe {
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        match level() {
            Level::Avx512 => avx512::encode(alphabet, source, length, target, total),
            Level::Avx2 => avx2::encode(alphabet, source, length, target, total),
            Level::Ssse3 => ssse3::encode(alphabet, source, length, target, total),
            _ => portable::encode(alphabet, source, length, target, total),
        }
        #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
        match level() {
            Level::Neon => neon::encode(alphabet, source, length, target, total),
            _ => portable::encode(alphabet, source, length, target, total),
        }
        #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable))))]
        portable::encode(alphabet, source, length, target, total);
    }
}

/// Writes `=` after the first `symbols` symbols, until `total` characters are written. Back ends use this function if
/// they have no better way to write the `=`.
///
/// # Safety
/// `target` is writable for `total` bytes.
#[inline(always)]
unsafe fn fill_up(target: *mut u8, symbols: usize, total: usize) {
    // The bytes are not written by filling a slice: the compiler would turn this into a function call for at most two
    // bytes.
    if symbols < total {
        // SAFETY: inside `total`.
        unsafe { target.add(symbols).write(b'=') };
    }
    if symbols + 1 < total {
        // SAFETY: inside `total`.
        unsafe { target.add(symbols + 1).write(b'=') };
    }
}

/// Runs the kernel for this CPU.
///
/// # Safety
/// `source` is readable for `length` bytes. `target` is writable for the bytes that these symbols hold: [`bytes_for`]
/// of `length`. If the source and the target overlap, they fulfill the conditions that the module's documentation
/// states.
#[inline(always)]
unsafe fn decode_raw(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    // SAFETY: the caller promises what the kernels require, and `level` returns a level only if the CPU and the
    // operating system support it.
    unsafe {
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        match level() {
            Level::Avx512 => avx512::decode(alphabet, source, length, target),
            Level::Avx2 => avx2::decode(alphabet, source, length, target),
            Level::Ssse3 => ssse3::decode(alphabet, source, length, target),
            _ => portable::decode(alphabet, source, length, target),
        }
        #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
        match level() {
            Level::Neon => neon::decode(alphabet, source, length, target),
            _ => portable::decode(alphabet, source, length, target),
        }
        #[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable))))]
        portable::decode(alphabet, source, length, target)
    }
}

/// Returns ASCII symbols as a string.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn string(symbols: Vec<u8>) -> String {
    debug_assert!(symbols.is_ascii());
    // SAFETY: callers pass only the output of a kernel, which is ASCII.
    unsafe { String::from_utf8_unchecked(symbols) }
}
