//! The kernels: whole buffers of bytes to symbols and back, without `=`, white space or verdicts. Everything above is free of `unsafe`.
//!
//! All back ends keep one contract. `encode` reads `length` bytes and writes [`symbols_for`] symbols; `decode` reads `length` symbols and
//! writes [`bytes_for`] bytes. Neither touches a byte outside. Input and output may be the same memory under one condition, which lets
//! buffers be converted in place: a step loads all it needs before it stores, steps go forward, and so output may never get ahead of the
//! input that is still to be read.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
#[cfg(target_arch = "x86_64")]
pub mod avx512;
pub mod hex;
pub mod portable;
#[cfg(test)]
mod reference;
pub mod space;
#[cfg(target_arch = "x86_64")]
pub mod ssse3;
#[cfg(test)]
mod tests;
#[cfg(target_arch = "x86_64")]
mod vector;

use crate::Alphabet;
#[cfg(feature = "alloc")]
use core::mem::MaybeUninit;
#[cfg(target_arch = "x86_64")]
use deadpan_ct::cpu::{Level, level};
use deadpan_ct::{Choice, CtZero};

/// Symbols that `bytes` bytes become, without padding.
#[inline(always)]
pub const fn symbols_for(bytes: usize) -> usize {
    bytes / 3 * 4 + (bytes % 3 * 4).div_ceil(3)
}

/// Bytes that `symbols` symbols hold. A single left-over symbol holds none.
#[inline(always)]
pub const fn bytes_for(symbols: usize) -> usize {
    symbols / 4 * 3 + symbols % 4 * 3 / 4
}

/// What was wrong with symbols, still secret: zero is nothing.
#[derive(Clone, Copy)]
#[must_use]
pub struct Flaws {
    /// Nonzero if a byte was not a symbol.
    pub symbols: u64,
    /// Nonzero if bits were set behind the last byte.
    pub trailing: u64,
}

impl Flaws {
    /// *Yes* if every byte was a symbol.
    #[inline(always)]
    pub fn all_symbols(self) -> Choice {
        self.symbols.ct_is_zero()
    }

    /// *Yes* if every byte was a symbol and no bit was left over.
    #[inline(always)]
    pub fn canonical(self) -> Choice {
        (self.symbols | self.trailing).ct_is_zero()
    }
}

/// Whether two ranges have no byte in common: whoever converts in place keeps the simple loops.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn apart(source: *const u8, read: usize, target: *mut u8, written: usize) -> bool {
    let (source, target) = (source as usize, target as usize);
    source + read <= target || target + written <= source
}

/// Encodes `input` into the front of `output`.
#[inline(always)]
pub fn encode(alphabet: Alphabet, input: &[u8], output: &mut [u8]) {
    assert!(output.len() >= symbols_for(input.len()), "output too small");
    // SAFETY: the input is readable for its length, the output writable for the symbols it becomes, and two borrows do not overlap.
    unsafe { encode_raw(alphabet, input.as_ptr(), input.len(), output.as_mut_ptr()) }
}

/// Encodes `input` into memory that need not be initialised, and returns the part that now is.
#[cfg(feature = "alloc")]
#[inline(always)]
pub fn encode_uninit<'a>(alphabet: Alphabet, input: &[u8], output: &'a mut [MaybeUninit<u8>]) -> &'a mut [u8] {
    let length = symbols_for(input.len());
    assert!(output.len() >= length, "output too small");
    // SAFETY: as in `encode`; the kernel writes every one of the `length` bytes that are then handed out.
    unsafe {
        encode_raw(alphabet, input.as_ptr(), input.len(), output.as_mut_ptr().cast());
        core::slice::from_raw_parts_mut(output.as_mut_ptr().cast(), length)
    }
}

/// Encodes the last `length` bytes of `buffer`, which is as long as their symbols, into the whole of it.
#[inline(always)]
pub fn encode_backed_up(alphabet: Alphabet, buffer: &mut [u8], length: usize) {
    assert_eq!(buffer.len(), symbols_for(length), "buffer and length do not belong together");
    let start = buffer.as_mut_ptr();
    // SAFETY: both ranges lie in `buffer`. They end together, and k symbols take at least as much room as the bytes they come from, so
    // the output catches up with the input only at the end: at no step does it cover a byte that is still to be read.
    unsafe { encode_raw(alphabet, start.add(buffer.len() - length), length, start) }
}

/// Decodes `input` into the front of `output`.
#[inline(always)]
pub fn decode(alphabet: Alphabet, input: &[u8], output: &mut [u8]) -> Flaws {
    assert!(output.len() >= bytes_for(input.len()), "output too small");
    // SAFETY: the input is readable for its length, the output writable for the bytes it holds, and two borrows do not overlap.
    unsafe { decode_raw(alphabet, input.as_ptr(), input.len(), output.as_mut_ptr()) }
}

/// Decodes `input` into memory that need not be initialised, and returns the part that now is.
#[cfg(feature = "alloc")]
#[inline(always)]
pub fn decode_uninit<'a>(alphabet: Alphabet, input: &[u8], output: &'a mut [MaybeUninit<u8>]) -> (Flaws, &'a mut [u8]) {
    let length = bytes_for(input.len());
    assert!(output.len() >= length, "output too small");
    // SAFETY: as in `decode`; the kernel writes every one of the `length` bytes that are then handed out.
    unsafe {
        let flaws = decode_raw(alphabet, input.as_ptr(), input.len(), output.as_mut_ptr().cast());
        (flaws, core::slice::from_raw_parts_mut(output.as_mut_ptr().cast(), length))
    }
}

/// Decodes the first `length` bytes of `buffer` to its front.
#[inline(always)]
pub fn decode_in_place(alphabet: Alphabet, buffer: &mut [u8], length: usize) -> Flaws {
    let start = buffer[..length].as_mut_ptr();
    // SAFETY: both ranges begin at `start` inside `buffer`; bytes take less room than their symbols, so the output stays behind the input.
    unsafe { decode_raw(alphabet, start, length, start) }
}

/// ASCII symbols as text.
#[inline(always)]
pub fn text(symbols: &[u8]) -> &str {
    debug_assert!(symbols.is_ascii());
    // SAFETY: callers pass what a kernel wrote, which is ASCII.
    unsafe { core::str::from_utf8_unchecked(symbols) }
}

/// The kernel for this CPU.
///
/// # Safety
/// `source` is readable for `length` bytes and `target` writable for [`symbols_for`] them; if they overlap, as the module says.
#[inline(always)]
unsafe fn encode_raw(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) {
    // SAFETY: the caller's promise is passed on, and `level` returns a rung only if the CPU and the operating system have it.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        match level() {
            Level::Avx512 => avx512::encode(alphabet, source, length, target),
            Level::Avx2 => avx2::encode(alphabet, source, length, target),
            Level::Ssse3 => ssse3::encode(alphabet, source, length, target),
            _ => portable::encode(alphabet, source, length, target),
        }
        #[cfg(not(target_arch = "x86_64"))]
        portable::encode(alphabet, source, length, target);
    }
}

/// The kernel for this CPU.
///
/// # Safety
/// `source` is readable for `length` bytes and `target` writable for [`bytes_for`] them; if they overlap, as the module says.
#[inline(always)]
unsafe fn decode_raw(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    // SAFETY: the caller's promise is passed on, and `level` returns a rung only if the CPU and the operating system have it.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        match level() {
            Level::Avx512 => avx512::decode(alphabet, source, length, target),
            Level::Avx2 => avx2::decode(alphabet, source, length, target),
            Level::Ssse3 => ssse3::decode(alphabet, source, length, target),
            _ => portable::decode(alphabet, source, length, target),
        }
        #[cfg(not(target_arch = "x86_64"))]
        portable::decode(alphabet, source, length, target)
    }
}

/// Makes `output` longer by `length` bytes, which `fill` must write.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn append(output: &mut alloc::vec::Vec<u8>, length: usize, fill: impl FnOnce(&mut [MaybeUninit<u8>])) {
    output.reserve(length);
    fill(&mut output.spare_capacity_mut()[..length]);
    // SAFETY: the capacity was reserved, and the callers of this module-private function write all of it.
    unsafe { output.set_len(output.len() + length) };
}

/// ASCII symbols as a string.
#[cfg(feature = "alloc")]
#[inline(always)]
pub(crate) fn string(symbols: alloc::vec::Vec<u8>) -> alloc::string::String {
    debug_assert!(symbols.is_ascii());
    // SAFETY: callers pass what a kernel wrote, which is ASCII.
    unsafe { alloc::string::String::from_utf8_unchecked(symbols) }
}
