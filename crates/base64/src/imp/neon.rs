//! Registers of 16 bytes on AArch64. One step encodes 48 bytes as 64 symbols, or decodes 64 symbols to 48 bytes.
//!
//! `ld3` and `ld4` load every third or fourth byte into one register, so that each register holds one part of all
//! groups. `tbl` looks up all 64 symbols at once, in four registers. Its time does not depend on the indexes.

use core::arch::aarch64::{
    uint8x16_t, uint8x16x3_t, uint8x16x4_t, vandq_u8, vdupq_n_u8, veorq_u8, vld1q_u8_x4, vld3q_u8, vld4q_u8, vmaxvq_u8,
    vorrq_u8, vqtbl4q_u8, vqtbx4q_u8, vshrq_n_u8, vsliq_n_u8, vst3q_u8, vst4q_u8,
};

use super::table::{self, NO_SYMBOL, Table};
use super::{Flaws, bytes_for, fill_up, symbols_for};
use crate::Alphabet;
use deadpan_ct::Wipe;

const SYMBOLS: usize = 64;
const BYTES: usize = 48;

/// Encodes 48 bytes.
///
/// # Safety
/// `source` is readable for 48 bytes, and `target` is writable for 64 bytes.
#[inline(always)]
unsafe fn encode_step(symbols: uint8x16x4_t, source: *const u8, target: *mut u8) {
    // SAFETY: NEON is part of AArch64. The load and the store access exactly the bytes that the caller promises.
    unsafe {
        let uint8x16x3_t(first, second, third) = vld3q_u8(source);
        let low_bits = vdupq_n_u8(0x3f);
        let a = vshrq_n_u8::<2>(first);
        let b = vandq_u8(vsliq_n_u8::<4>(vshrq_n_u8::<4>(second), first), low_bits);
        let c = vandq_u8(vsliq_n_u8::<2>(vshrq_n_u8::<6>(third), second), low_bits);
        let d = vandq_u8(third, low_bits);
        let (a, b) = (vqtbl4q_u8(symbols, a), vqtbl4q_u8(symbols, b));
        let (c, d) = (vqtbl4q_u8(symbols, c), vqtbl4q_u8(symbols, d));
        vst4q_u8(target, uint8x16x4_t(a, b, c, d));
    }
}

/// The registers that decoding needs, and the flaws found so far.
struct Decoder {
    /// The values of the characters below 64.
    low: uint8x16x4_t,
    /// The values of the characters from 64 to 127.
    high: uint8x16x4_t,
    /// The top bit of a byte is set if a character was not a symbol.
    flaws: uint8x16_t,
}

impl Decoder {
    #[inline(always)]
    fn new(alphabet: Alphabet) -> Self {
        let [Table(low), Table(high)] = table::values(alphabet);
        // SAFETY: NEON is part of AArch64. Each half of the table is as long as four registers.
        unsafe { Self { low: vld1q_u8_x4(low.as_ptr()), high: vld1q_u8_x4(high.as_ptr()), flaws: vdupq_n_u8(0) } }
    }

    /// Decodes 64 symbols.
    ///
    /// # Safety
    /// `source` is readable for 64 bytes, and `target` is writable for 48 bytes.
    #[inline(always)]
    unsafe fn step(&mut self, source: *const u8, target: *mut u8) {
        // SAFETY: NEON is part of AArch64. The load and the store access exactly the bytes that the caller promises.
        unsafe {
            let uint8x16x4_t(a, b, c, d) = vld4q_u8(source);
            let (a, b, c, d) = (self.values(a), self.values(b), self.values(c), self.values(d));
            let first = vsliq_n_u8::<2>(vshrq_n_u8::<4>(b), a);
            let second = vsliq_n_u8::<4>(vshrq_n_u8::<2>(c), b);
            let third = vsliq_n_u8::<6>(d, c);
            vst3q_u8(target, uint8x16x3_t(first, second, third));
        }
    }

    /// Returns the values of 16 symbols.
    #[inline(always)]
    fn values(&mut self, symbols: uint8x16_t) -> uint8x16_t {
        // SAFETY: NEON is part of AArch64.
        unsafe {
            // `tbl` returns zero for an index from 64 on. `tbx` returns the other register's byte instead.
            let low = vqtbl4q_u8(self.low, symbols);
            let values = vqtbx4q_u8(low, self.high, veorq_u8(symbols, vdupq_n_u8(64)));
            // A character from 128 on is in neither table, but its own top bit is set.
            self.flaws = vorrq_u8(self.flaws, vorrq_u8(symbols, values));
            values
        }
    }

    /// Returns a nonzero number if a character was not a symbol.
    #[inline(always)]
    fn flaws(&self) -> u64 {
        // SAFETY: NEON is part of AArch64.
        unsafe { u64::from(vmaxvq_u8(self.flaws) & NO_SYMBOL) }
    }
}

/// Encodes `length` bytes under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` bytes, and `target` is writable for `total` bytes.
pub unsafe fn encode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8, total: usize) {
    let (mut read, mut written) = (0, 0);
    // SAFETY: NEON is part of AArch64, and the table is as long as four registers. The loop continues only while a
    // whole step is left. The remaining bytes go through arrays, and exactly the remaining length is copied.
    unsafe {
        let symbols = vld1q_u8_x4(table::symbols(alphabet).0.as_ptr());
        while length - read >= BYTES {
            encode_step(symbols, source.add(read), target.add(written));
            read += BYTES;
            written += SYMBOLS;
        }
        let rest = length - read;
        if rest > 0 {
            let (mut bytes, mut edge) = ([0; BYTES], [0; SYMBOLS]);
            bytes.as_mut_ptr().copy_from_nonoverlapping(source.add(read), rest);
            encode_step(symbols, bytes.as_ptr(), edge.as_mut_ptr());
            target.add(written).copy_from_nonoverlapping(edge.as_ptr(), symbols_for(rest));
            bytes.wipe();
            edge.wipe();
            written += symbols_for(rest);
        }
        fill_up(target, written, total);
    }
}

/// Decodes `length` symbols under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` symbols, and `target` is writable for the decoded bytes.
pub unsafe fn decode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    let mut decoder = Decoder::new(alphabet);
    let (mut read, mut written) = (0, 0);
    let mut trailing = 0;
    // SAFETY: as in `encode`.
    unsafe {
        while length - read >= SYMBOLS {
            decoder.step(source.add(read), target.add(written));
            read += SYMBOLS;
            written += BYTES;
        }
        let rest = length - read;
        if rest > 0 {
            // The rest of the array contains the symbol for zero, so that the byte after the last decoded byte holds
            // only bits that belong to no byte.
            let (mut symbols, mut edge) = ([b'A'; SYMBOLS], [0; BYTES]);
            symbols.as_mut_ptr().copy_from_nonoverlapping(source.add(read), rest);
            decoder.step(symbols.as_ptr(), edge.as_mut_ptr());
            trailing = u64::from(edge[bytes_for(rest)]);
            target.add(written).copy_from_nonoverlapping(edge.as_ptr(), bytes_for(rest));
            symbols.wipe();
            edge.wipe();
        }
        Flaws { symbols: decoder.flaws(), trailing }
    }
}
