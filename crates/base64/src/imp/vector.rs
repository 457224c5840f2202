//! The code of the SSSE3 and AVX2 kernels: the same shuffles at two widths. Only the functions of [`Vector`] differ
//! between the two widths.
//!
//! Every lookup is a byte shuffle inside a register. Comparisons stay in vectors, where they cannot become jumps.

use super::{Flaws, bytes_for, fill_up, symbols_for};
use crate::Alphabet;
use deadpan_ct::Wipe;

/// A register of 16 or 32 bytes. Shuffles and table lookups work on each group of 16 bytes separately, and the code
/// that uses this trait does so too.
///
/// # Safety
/// Each function of this trait is one or more instructions of the CPU, and the caller makes sure that the CPU has these
/// instructions. Loads and stores access `SYMBOLS` bytes, beginning at the pointer, unless the comment of a function
/// states something else.
pub(super) trait Vector: Copy {
    /// Symbols in a register. Four symbols hold three bytes.
    const SYMBOLS: usize;
    /// The number of bytes that [`load_bytes`](Vector::load_bytes) reads.
    const REACH: usize;

    unsafe fn splat(byte: u8) -> Self;
    unsafe fn splat_u32(number: u32) -> Self;
    /// Repeats the same 16 bytes in the whole register.
    unsafe fn table(bytes: &[u8; 16]) -> Self;
    unsafe fn load(from: *const u8) -> Self;
    unsafe fn store(self, to: *mut u8);
    /// Loads twelve bytes for each 16 bytes of the register, and puts them into the first twelve of these 16 bytes. The
    /// load reads four more bytes than it uses.
    unsafe fn load_bytes(from: *const u8) -> Self;
    /// Loads the same bytes as `load_bytes` with fewer instructions, but puts them where `spread_quick` expects them.
    /// Reads up to four bytes *before* `from`. The load does not read beyond the last byte that `load_bytes` reads.
    unsafe fn load_quick(from: *const u8) -> Self;
    /// Returns the shuffle table for registers that `load_quick` loaded: the table spreads each group of three bytes
    /// over four bytes.
    unsafe fn spread_quick() -> Self;
    /// Takes the first twelve of each 16 bytes of the register, and stores them without gaps. In total, the store
    /// writes `SYMBOLS` bytes, so it also overwrites bytes after the wanted bytes.
    unsafe fn store_bytes(self, to: *mut u8);
    unsafe fn shuffle(self, index: Self) -> Self;
    unsafe fn and(self, other: Self) -> Self;
    unsafe fn or(self, other: Self) -> Self;
    unsafe fn xor(self, other: Self) -> Self;
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn subtract(self, other: Self) -> Self;
    unsafe fn subtract_saturating(self, other: Self) -> Self;
    unsafe fn equal(self, other: Self) -> Self;
    unsafe fn greater(self, other: Self) -> Self;
    unsafe fn shift_right_4(self) -> Self;
    /// Returns the upper half of the products of 16-bit numbers.
    unsafe fn multiply_high(self, factors: Self) -> Self;
    unsafe fn multiply_low(self, factors: Self) -> Self;
    unsafe fn multiply_add_u8(self, factors: Self) -> Self;
    unsafe fn multiply_add_u16(self, factors: Self) -> Self;
    /// Returns the top bits of all bytes, as one bit for each byte.
    unsafe fn tops(self) -> u32;
}

/// Implements those functions of [`Vector`] that are a single instruction and access only registers.
macro_rules! instructions {
    ($($name:ident($($other:ident)?) = $intrinsic:path;)*) => { $(
        /// # Safety
        /// The CPU has the instruction.
        #[inline(always)]
        unsafe fn $name(self $(, $other: Self)?) -> Self {
            // SAFETY: the caller makes sure that the CPU has the instruction, which touches only registers.
            unsafe { $intrinsic(self $(, $other)?) }
        }
    )* };
}
pub(super) use instructions;

/// The tables of an alphabet, for shuffles.
struct Rows {
    /// The offset from a value to its symbol, for each row of values. Row 0 is for capitals, row 1 is for small
    /// letters, rows 2 to 11 are for digits, and rows 12 and 13 are for the last two symbols.
    to_symbol: [u8; 16],
    /// For each lower half of a byte: a mask of all upper halves with which this lower half does not form a symbol.
    misfits: [u8; 16],
    /// The offset from a symbol to its value, for each upper half of a symbol. The symbol for 63 shares its upper half
    /// with other symbols. So the offset for 63 is stored at another index: at this upper half with its top bit
    /// flipped.
    to_value: [u8; 16],
    /// The symbol for 63.
    odd_one: u8,
}

/// For each upper half of a byte: the bit that stands for this upper half in `misfits`. All upper halves that occur in
/// no symbol share one bit.
const BIT_OF_UPPER: [u8; 16] =
    [0x40, 0x40, 0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40, 0x40];

static STANDARD: Rows = rows(Alphabet::Standard);
static URL_SAFE: Rows = rows(Alphabet::UrlSafe);

const fn rows(alphabet: Alphabet) -> Rows {
    let symbols = alphabet.symbols();
    let digit = b'0'.wrapping_sub(52);
    let mut to_symbol = [digit; 16];
    to_symbol[0] = b'A';
    to_symbol[1] = b'a' - 26;
    to_symbol[12] = symbols[62].wrapping_sub(62);
    to_symbol[13] = symbols[63].wrapping_sub(63);
    // In every entry, the bit is set that stands for the upper halves of no symbol.
    let mut misfits = [0x7f; 16];
    let mut to_value = [0; 16];
    let mut value = 0;
    while value < 64 {
        let (upper, lower) = (symbols[value] >> 4, symbols[value] & 15);
        misfits[lower as usize] &= !BIT_OF_UPPER[upper as usize];
        let row = if value == 63 { upper ^ 8 } else { upper };
        to_value[row as usize] = (value as u8).wrapping_sub(symbols[value]);
        value += 1;
    }
    Rows { to_symbol, misfits, to_value, odd_one: symbols[63] }
}

impl Rows {
    #[inline(always)]
    fn for_alphabet(alphabet: Alphabet) -> &'static Self {
        match alphabet {
            Alphabet::Standard => &STANDARD,
            Alphabet::UrlSafe => &URL_SAFE,
        }
    }
}

/// Indices that spread each three bytes over four bytes, so that each sextet lies in one 16-bit lane: 1 0 2 1, 4 3 5 4,
/// …
pub(super) const SPREAD: [u8; 16] = [1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10];

/// The registers that encoding needs.
struct VectorEncoder<V> {
    spread: V,
    spread_quick: V,
    upper: V,
    upper_factors: V,
    lower: V,
    lower_factors: V,
    offsets: V,
    fifty_one: V,
    twenty_five: V,
}

impl<V: Vector> VectorEncoder<V> {
    /// # Safety
    /// The CPU must have the instructions of `V` when this function and [`step`](VectorEncoder::step) are called.
    #[inline(always)]
    unsafe fn new(alphabet: Alphabet) -> Self {
        // SAFETY: the caller makes sure that the CPU has the instructions.
        unsafe {
            Self {
                spread: V::table(&SPREAD),
                spread_quick: V::spread_quick(),
                upper: V::splat_u32(0x0fc0_fc00),
                upper_factors: V::splat_u32(0x0400_0040),
                lower: V::splat_u32(0x003f_03f0),
                lower_factors: V::splat_u32(0x0100_0010),
                offsets: V::table(&Rows::for_alphabet(alphabet).to_symbol),
                fifty_one: V::splat(51),
                twenty_five: V::splat(25),
            }
        }
    }

    /// Encodes a register loaded by [`Vector::load_bytes`].
    ///
    /// # Safety
    /// The CPU has the instructions of `V`.
    #[inline(always)]
    unsafe fn step(&self, bytes: V) -> V {
        // SAFETY: the caller makes sure that the CPU has the instructions.
        unsafe { self.spread_step(bytes.shuffle(self.spread)) }
    }

    /// Encodes a register loaded by [`Vector::load_quick`].
    ///
    /// # Safety
    /// The CPU has the instructions of `V`.
    #[inline(always)]
    unsafe fn quick_step(&self, bytes: V) -> V {
        // SAFETY: the caller makes sure that the CPU has the instructions.
        unsafe { self.spread_step(bytes.shuffle(self.spread_quick)) }
    }

    /// # Safety
    /// The CPU has the instructions of `V`.
    #[inline(always)]
    unsafe fn spread_step(&self, spread: V) -> V {
        // SAFETY: the caller makes sure that the CPU has the instructions.
        unsafe {
            let first_and_third = spread.and(self.upper).multiply_high(self.upper_factors);
            let second_and_fourth = spread.and(self.lower).multiply_low(self.lower_factors);
            let values = first_and_third.or(second_and_fourth);
            // The saturating subtraction gives 0 for letters, and 1 to 12 for other symbols. The comparison gives -1
            // for every value that is not a capital. Subtracting -1 adds one to the row of every value that is not a
            // capital.
            let row = values.subtract_saturating(self.fifty_one).subtract(values.greater(self.twenty_five));
            values.add(self.offsets.shuffle(row))
        }
    }

    /// Encodes at most one vector. The bytes and their symbols are copied through an array. Exactly `count` bytes are
    /// copied into the array, and exactly the symbols of these bytes are copied out of the array.
    ///
    /// # Safety
    /// `source` is readable for `count` bytes, `target` is writable for the encoded symbols, and `count` is at most the
    /// number of bytes that one vector encodes.
    #[inline(always)]
    unsafe fn edge(&self, source: *const u8, count: usize, target: *mut u8) {
        let mut edge = [0_u8; 32];
        // SAFETY: the array is at least as long as the loads and stores of a vector.
        unsafe {
            edge.as_mut_ptr().copy_from_nonoverlapping(source, count);
            self.step(V::load_bytes(edge.as_ptr())).store(edge.as_mut_ptr());
            target.copy_from_nonoverlapping(edge.as_ptr(), symbols_for(count));
        }
        edge.wipe();
    }
}

/// The registers that decoding needs, and the flaws found so far.
struct VectorDecoder<V> {
    by_lower: V,
    by_upper: V,
    offsets: V,
    odd_one: V,
    odd_row: V,
    low_bits: V,
    zero: V,
    pairs: V,
    quads: V,
    gather: V,
    flaws: V,
}

impl<V: Vector> VectorDecoder<V> {
    /// # Safety
    /// The CPU must have the instructions of `V` when this function and the other functions of this type are called.
    #[inline(always)]
    unsafe fn new(alphabet: Alphabet) -> Self {
        let rows = Rows::for_alphabet(alphabet);
        // SAFETY: the caller makes sure that the CPU has the instructions.
        unsafe {
            Self {
                by_lower: V::table(&rows.misfits),
                by_upper: V::table(&BIT_OF_UPPER),
                offsets: V::table(&rows.to_value),
                odd_one: V::splat(rows.odd_one),
                odd_row: V::splat(8),
                low_bits: V::splat(0x0f),
                zero: V::splat(0),
                pairs: V::splat_u32(0x0140_0140),
                quads: V::splat_u32(0x0001_1000),
                gather: V::table(&[2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 0x80, 0x80, 0x80, 0x80]),
                flaws: V::splat(0),
            }
        }
    }

    /// Decodes `SYMBOLS` symbols. In each 16 bytes of the result, the first twelve bytes are decoded bytes.
    ///
    /// # Safety
    /// The CPU has the instructions of `V`.
    #[inline(always)]
    unsafe fn step(&mut self, symbols: V) -> V {
        // SAFETY: the caller makes sure that the CPU has the instructions.
        unsafe {
            let upper = symbols.shift_right_4().and(self.low_bits);
            let misfit = self.by_upper.shuffle(upper).and(self.by_lower.shuffle(symbols.and(self.low_bits)));
            self.flaws = self.flaws.or(misfit);
            let row = upper.xor(symbols.equal(self.odd_one).and(self.odd_row));
            let values = symbols.add(self.offsets.shuffle(row));
            values.multiply_add_u8(self.pairs).multiply_add_u16(self.quads).shuffle(self.gather)
        }
    }

    /// Decodes at most one vector. The symbols and their bytes are copied through an array. Returns a number that is
    /// nonzero if the last symbol has bits set that belong to no byte.
    ///
    /// # Safety
    /// `source` is readable for `count` symbols, `target` is writable for the decoded bytes, and `count` is at most the
    /// number of symbols in one vector.
    #[inline(always)]
    unsafe fn edge(&mut self, source: *const u8, count: usize, target: *mut u8) -> u64 {
        // The rest of the array contains the symbol for zero, so that the byte after the last decoded byte holds only
        // bits that belong to no byte.
        let mut edge = [b'A'; 32];
        // SAFETY: the array is at least as long as the loads and stores of a vector.
        unsafe {
            edge.as_mut_ptr().copy_from_nonoverlapping(source, count);
            self.step(V::load(edge.as_ptr())).store_bytes(edge.as_mut_ptr());
            target.copy_from_nonoverlapping(edge.as_ptr(), bytes_for(count));
        }
        // If the vector is full, the byte after the last decoded byte is zero, because `gather` writes zeros there.
        let trailing = u64::from(edge[bytes_for(count)]);
        edge.wipe();
        trailing
    }

    /// # Safety
    /// The CPU has the instructions of `V`.
    #[inline(always)]
    unsafe fn flaws(&self) -> u64 {
        // SAFETY: the caller makes sure that the CPU has the instructions. A flaw sets bits of its byte, but never the
        // top bit, so the byte as a signed number is greater than zero.
        unsafe { u64::from(self.flaws.greater(self.zero).tops()) }
    }
}

/// Encodes `length` bytes under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` bytes, `target` is writable for `total` bytes, and the CPU has the instructions of
/// `V`.
#[inline(always)]
pub(super) unsafe fn encode<V: Vector>(
    alphabet: Alphabet,
    source: *const u8,
    length: usize,
    target: *mut u8,
    total: usize,
) {
    let (mut read, mut written) = (0, 0);
    let bytes = V::SYMBOLS / 4 * 3;
    // SAFETY: the loops continue only while at least as many bytes are left as one iteration reads. The stores of
    // `step` and `edge` write only the symbols of their own input.
    unsafe {
        let encoder = VectorEncoder::<V>::new(alphabet);
        if length >= 4 * bytes + V::REACH {
            // The quick loads read a few bytes before their input, so the first vector is encoded without a quick load.
            encoder.step(V::load_bytes(source)).store(target);
            (read, written) = (bytes, V::SYMBOLS);
            while length - read >= 3 * bytes + V::REACH {
                let (from, to) = (source.add(read), target.add(written));
                // These lines are not written as a loop over an array: below -O2, the compiler does not unroll the
                // loop, and keeps the array on the stack.
                let first = encoder.quick_step(V::load_quick(from));
                let second = encoder.quick_step(V::load_quick(from.add(bytes)));
                let third = encoder.quick_step(V::load_quick(from.add(2 * bytes)));
                let fourth = encoder.quick_step(V::load_quick(from.add(3 * bytes)));
                first.store(to);
                second.store(to.add(V::SYMBOLS));
                third.store(to.add(2 * V::SYMBOLS));
                fourth.store(to.add(3 * V::SYMBOLS));
                read += 4 * bytes;
                written += 4 * V::SYMBOLS;
            }
        }
        while length - read >= V::REACH {
            encoder.step(V::load_bytes(source.add(read))).store(target.add(written));
            read += bytes;
            written += V::SYMBOLS;
        }
        while length > read {
            let rest = (length - read).min(bytes);
            encoder.edge(source.add(read), rest, target.add(written));
            read += rest;
            written += symbols_for(rest);
        }
        fill_up(target, written, total);
    }
}

/// Decodes `length` symbols under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` symbols, `target` is writable for the decoded bytes, and the CPU has the
/// instructions of `V`.
#[inline(always)]
pub(super) unsafe fn decode<V: Vector>(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    let (mut read, mut written) = (0, 0);
    let bytes = V::SYMBOLS / 4 * 3;
    let mut trailing = 0;
    // SAFETY: loads are exact. A store writes `SYMBOLS` bytes, and a quarter of these bytes are garbage. A store
    // happens only while at least `SYMBOLS / 2` further symbols are left, and the bytes of these symbols overwrite the
    // garbage. The function `edge` writes only its own bytes.
    unsafe {
        let mut decoder = VectorDecoder::<V>::new(alphabet);
        while length - read >= 4 * V::SYMBOLS + V::SYMBOLS / 2 {
            let (from, to) = (source.add(read), target.add(written));
            // All four loads come before the first store: in a conversion in place, the first store may overwrite the
            // input of the other loads.
            let (first, second) = (V::load(from), V::load(from.add(V::SYMBOLS)));
            let (third, fourth) = (V::load(from.add(2 * V::SYMBOLS)), V::load(from.add(3 * V::SYMBOLS)));
            decoder.step(first).store_bytes(to);
            decoder.step(second).store_bytes(to.add(bytes));
            decoder.step(third).store_bytes(to.add(2 * bytes));
            decoder.step(fourth).store_bytes(to.add(3 * bytes));
            read += 4 * V::SYMBOLS;
            written += 4 * bytes;
        }
        while length - read >= V::SYMBOLS + V::SYMBOLS / 2 {
            decoder.step(V::load(source.add(read))).store_bytes(target.add(written));
            read += V::SYMBOLS;
            written += bytes;
        }
        while length > read {
            let rest = (length - read).min(V::SYMBOLS);
            trailing = decoder.edge(source.add(read), rest, target.add(written));
            read += rest;
            written += bytes_for(rest);
        }
        Flaws { symbols: decoder.flaws(), trailing }
    }
}
