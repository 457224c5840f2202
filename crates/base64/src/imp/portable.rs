//! Works on eight symbols in a 64-bit register, with additions, shifts and masks only.
//!
//! The usual portable code compares each byte with ranges, and the compiler may turn such a comparison into a jump.
//! This code instead compares by an addition that carries into the top bit of each byte of a word. The compiler cannot
//! turn such a carry into a jump at any optimization level. No word depends on another word, so the compiler puts as
//! many words into a vector as fit.

use super::{Flaws, bytes_for, fill_up, symbols_for};
use crate::Alphabet;
use deadpan_ct::Wipe;

/// The number one in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// The top bit of every byte.
const TOPS: u64 = 0x8080_8080_8080_8080;

/// The number of words that are processed at a time; `SYMBOLS` and `BYTES` are the numbers of symbols and bytes in
/// these words. The words fill the widest vector that the compiler may choose.
const WORDS: usize = 8;
const SYMBOLS: usize = 8 * WORDS;
const BYTES: usize = 6 * WORDS;

/// Sets the top bit of every byte of `word` that is at least `limit`. The bytes and the limit are below 128.
#[inline(always)]
const fn reaches(word: u64, limit: u8) -> u64 {
    (word + ONES * (128 - limit as u64)) & TOPS
}

/// Returns an offset for each byte of `word`. The range to which a byte belongs determines its offset; each range is
/// given by its lower limit and its offset. All numbers are below 128. If a byte is at least a limit, its offset is
/// replaced by the offset of this limit: an XOR under a mask of seven bits does this. A subtraction makes this mask
/// from a top bit.
#[inline(always)]
const fn climb<const N: usize>(word: u64, first: u8, ladder: [(u8, u8); N]) -> u64 {
    let mut offset = ONES * first as u64;
    let mut below = first;
    let mut step = 0;
    while step < N {
        let (limit, here) = ladder[step];
        let tops = reaches(word, limit);
        offset ^= (tops - (tops >> 7)) & (ONES * (here ^ below) as u64);
        below = here;
        step += 1;
    }
    offset
}

/// Returns the difference that turns `from` into `to`, modulo 128.
const fn offset(from: u8, to: u8) -> u8 {
    to.wrapping_sub(from) & 0x7f
}

/// Turns eight values below 64 into symbols.
#[inline(always)]
fn to_symbols(alphabet: Alphabet, values: u64) -> u64 {
    let (c62, c63) = (alphabet.sixty_two(), alphabet.sixty_three());
    let ladder = [(26, offset(26, b'a')), (52, offset(52, b'0')), (62, offset(62, c62)), (63, offset(63, c63))];
    (values + climb(values, b'A', ladder)) & !TOPS
}

/// Turns eight bytes into values. In each value, bits above the lowest six may also be set. The result also has a
/// second word: in it, the top bit of each byte that is not a symbol is set.
#[inline(always)]
fn to_values(alphabet: Alphabet, bytes: u64) -> (u64, u64) {
    let (c62, c63) = (alphabet.sixty_two(), alphabet.sixty_three());
    let low = bytes & !TOPS;
    // A byte between two ranges of symbols is reported as bad, so its offset does not matter.
    let inside = |from: u8, to: u8| reaches(low, from) & !reaches(low, to + 1);
    let good = inside(b'0', b'9') | inside(b'A', b'Z') | inside(b'a', b'z') | inside(c62, c62) | inside(c63, c63);
    let [digits, upper, lower] = [(b'0', offset(b'0', 52)), (b'A', offset(b'A', 0)), (b'a', offset(b'a', 26))];
    let (first, last) = (offset(c62, 62), (c63, offset(c63, 63)));
    let offsets = match alphabet {
        Alphabet::Standard => climb(low, first, [last, digits, upper, lower]),
        Alphabet::UrlSafe => climb(low, first, [digits, upper, last, lower]),
    };
    (low + offsets, (bytes | !good) & TOPS)
}

/// Spreads 48 bits over eight bytes, six bits in each byte: the first six bits go to the lowest byte.
#[inline(always)]
const fn spread(bits: u64) -> u64 {
    let halves = ((bits & 0x00ff_ffff) << 32) | (bits >> 24);
    let quarters = ((halves & 0x0000_0fff_0000_0fff) << 16) | ((halves >> 12) & 0x0000_0fff_0000_0fff);
    ((quarters & 0x003f_003f_003f_003f) << 8) | ((quarters >> 6) & 0x003f_003f_003f_003f)
}

/// Gathers six bits of every byte into 48 bits. Reverses [`spread`].
#[inline(always)]
const fn gather(values: u64) -> u64 {
    let values = values & 0x3f3f_3f3f_3f3f_3f3f;
    let quarters = ((values & 0x00ff_00ff_00ff_00ff) << 6) | ((values >> 8) & 0x00ff_00ff_00ff_00ff);
    let halves = ((quarters & 0x0000_ffff_0000_ffff) << 12) | ((quarters >> 16) & 0x0000_ffff_0000_ffff);
    ((halves & 0xffff_ffff) << 24) | (halves >> 32)
}

/// Encodes one step. The load of the last word also reads the next two bytes, whose values do not matter.
#[inline(always)]
fn encode_step(alphabet: Alphabet, bytes: &[u8; BYTES + 2]) -> [u8; SYMBOLS] {
    let mut words = [0; WORDS];
    for place in 0..WORDS {
        let mut eight = [0; 8];
        eight.copy_from_slice(&bytes[6 * place..6 * place + 8]);
        words[place] = u64::from_be_bytes(eight) >> 16;
    }
    for word in &mut words {
        *word = to_symbols(alphabet, spread(*word));
    }
    let mut symbols = [0; SYMBOLS];
    for (eight, word) in symbols.as_chunks_mut::<8>().0.iter_mut().zip(&words) {
        *eight = word.to_le_bytes();
    }
    symbols
}

/// Decodes `SYMBOLS` symbols, adds two zero bytes after the decoded bytes, and returns the flaws.
#[inline(always)]
fn decode_step(alphabet: Alphabet, symbols: &[u8; SYMBOLS]) -> ([u8; BYTES + 2], u64) {
    let mut words = [0; WORDS];
    for (word, eight) in words.iter_mut().zip(symbols.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*eight);
    }
    let mut flaws = 0;
    for word in &mut words {
        let (values, bad) = to_values(alphabet, *word);
        flaws |= bad;
        *word = gather(values);
    }
    let mut bytes = [0; BYTES + 2];
    for place in 0..WORDS {
        bytes[6 * place..6 * place + 8].copy_from_slice(&(words[place] << 16).to_be_bytes());
    }
    (bytes, flaws)
}

/// Encodes `length` bytes under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` bytes, and `target` is writable for `total` bytes.
pub unsafe fn encode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8, total: usize) {
    let (mut read, mut written) = (0, 0);
    // SAFETY: the loop continues only while `BYTES` bytes and two more bytes are left. The remaining bytes go through
    // an array, and exactly the remaining length is copied into and out of the array.
    unsafe {
        while length - read >= BYTES + 2 {
            let bytes = source.add(read).cast::<[u8; BYTES + 2]>().read();
            target.add(written).cast::<[u8; SYMBOLS]>().write(encode_step(alphabet, &bytes));
            read += BYTES;
            written += SYMBOLS;
        }
        while length > read {
            let rest = (length - read).min(BYTES);
            let mut bytes = [0; BYTES + 2];
            bytes.as_mut_ptr().copy_from_nonoverlapping(source.add(read), rest);
            let mut symbols = encode_step(alphabet, &bytes);
            target.add(written).copy_from_nonoverlapping(symbols.as_ptr(), symbols_for(rest));
            bytes.wipe();
            symbols.wipe();
            read += rest;
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
    let (mut read, mut written) = (0, 0);
    let mut flaws = 0;
    let mut trailing = 0;
    // SAFETY: as in `encode`.
    unsafe {
        while length - read >= SYMBOLS {
            let symbols = source.add(read).cast::<[u8; SYMBOLS]>().read();
            let (bytes, bad) = decode_step(alphabet, &symbols);
            flaws |= bad;
            target.add(written).copy_from_nonoverlapping(bytes.as_ptr(), BYTES);
            read += SYMBOLS;
            written += BYTES;
        }
        let rest = length - read;
        if rest > 0 {
            // The rest of the array contains the symbol for zero, so that the byte after the last decoded byte holds
            // only bits that belong to no byte.
            let mut symbols = [b'A'; SYMBOLS];
            symbols.as_mut_ptr().copy_from_nonoverlapping(source.add(read), rest);
            let (mut bytes, bad) = decode_step(alphabet, &symbols);
            flaws |= bad;
            trailing = u64::from(bytes[bytes_for(rest)]);
            target.add(written).copy_from_nonoverlapping(bytes.as_ptr(), bytes_for(rest));
            symbols.wipe();
            bytes.wipe();
        }
    }
    Flaws { symbols: flaws, trailing }
}
