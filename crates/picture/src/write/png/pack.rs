//! Writes one deflate block with its own codes. Runs of zeros become matches. Repetitions other than runs of zeros are
//! not compressed.

use super::code::{self, Code, LONGEST, SYMBOLS};

/// The symbol that ends a block.
const END: usize = 256;
/// The symbol for the longest match, and the length of this match.
const MATCH: (usize, usize) = (285, 258);
/// The shortest match.
const SHORTEST: usize = 3;

/// Writes `bytes` as one block; if the block is not the last, an empty stored block follows. Returns false if the bytes
/// are shorter in stored blocks. If false is returned, the contents of `out` are not usable.
pub(super) fn pack(bytes: &[u8], last: bool, out: &mut Vec<u8>) -> bool {
    let counts = count(bytes);
    let lengths = code::lengths(&counts);
    let codes = code::codes(&lengths);
    let sizes = counts.iter().zip(&lengths).enumerate().map(|(symbol, (&count, &length))| {
        u64::from(count) * (u64::from(length) + if symbol > END { distance_and_extra(symbol) } else { 0 })
    });
    // The header of the block has 3 + 14 + 19 · 3 + 287 · 4 bits.
    let size = (sizes.sum::<u64>() + 1222).div_ceil(8) as usize;
    if size >= bytes.len() {
        return false;
    }
    out.resize(size + 16, 0);
    let mut bits = BitWriter { out, at: 0, waiting: 0, count: 0 };
    head(&mut bits, &lengths, last);
    walk(bytes, &mut Emit { bits: &mut bits, codes: &codes });
    bits.put_code(codes[END]);
    if !last {
        bits.put(0, 3);
    }
    bits.put(0, (8 - bits.count % 8) % 8);
    let mut end = bits.at;
    if !last {
        out[end..end + 4].copy_from_slice(&[0, 0, 0xff, 0xff]);
        end += 4;
    }
    out.truncate(end);
    true
}

fn count(bytes: &[u8]) -> [u32; SYMBOLS] {
    let mut counter = Count { tables: [[0; 256]; 4], lengths: [0; SYMBOLS] };
    walk(bytes, &mut counter);
    let mut counts = counter.lengths;
    for (symbol, count) in counts.iter_mut().enumerate().take(256) {
        *count += counter.tables.iter().map(|table| table[symbol]).sum::<u32>();
    }
    counts[END] = 1;
    counts
}

/// All code lengths are stored with 4 bits.
fn head(bits: &mut BitWriter<'_>, lengths: &[u8; SYMBOLS], last: bool) {
    bits.put(u64::from(last) | 2 << 1, 3);
    // There are 286 symbols for literals and lengths, 1 symbol for distances, and 19 symbols for code lengths. Of these
    // 19 symbols, the first three (for repetitions) are not used.
    bits.put((SYMBOLS as u64 - 257) | 15 << 10, 14);
    for at in 0..19 {
        bits.put(if at < 3 { 0 } else { 4 }, 3);
    }
    // The only distance has a code of length 1.
    for &length in lengths.iter().chain(&[1]) {
        bits.put(u64::from(length.reverse_bits() >> 4), 4);
    }
}

/// Receives the symbols of a block.
trait Symbols {
    /// Takes eight literals.
    fn literals(&mut self, word: [u8; 8]);
    /// Takes one literal.
    fn literal(&mut self, byte: u8);
    /// Receives a match that repeats the previous byte.
    fn run(&mut self, length: usize);
}

/// Passes the symbols for the bytes to `symbols`.
#[inline(always)]
fn walk(bytes: &[u8], symbols: &mut impl Symbols) {
    let (words, rest) = bytes.as_chunks::<8>();
    let mut at = 0;
    while let Some(&word) = words.get(at) {
        if u64::from_ne_bytes(word) != 0 {
            symbols.literals(word);
            at += 1;
            continue;
        }
        let count = words[at..].iter().take_while(|word| **word == [0; 8]).count();
        at += count;
        symbols.literal(0);
        let mut zeros = count * 8 - 1;
        while zeros >= SHORTEST {
            let length = zeros.min(MATCH.1);
            symbols.run(length);
            zeros -= length;
        }
        (0..zeros).for_each(|_| symbols.literal(0));
    }
    rest.iter().for_each(|&byte| symbols.literal(byte));
}

/// Returns the symbol of a match, the bits that follow the symbol, and the number of these bits.
fn length_symbol(length: usize) -> (usize, u64, u32) {
    match length {
        258 => (MATCH.0, 0, 0),
        3..=10 => (254 + length, 0, 0),
        _ => {
            // From length 11 on, the symbols form groups of four, and each group has one more extra bit than the group
            // before.
            let extra = (length - 3).ilog2() - 2;
            let step = (length - 3) >> extra;
            (257 + 4 * extra as usize + step, (length as u64 - 3) & ((1 << extra) - 1), extra)
        }
    }
}

/// Returns the number of bits that follow the symbol of a match: the bits of the length, and one bit for the distance.
fn distance_and_extra(symbol: usize) -> u64 {
    match symbol {
        265..285 => (symbol as u64 - 261) / 4 + 1,
        _ => 1,
    }
}

/// Counts symbols. Four tables are used in turn, because an increment of a counter would have to wait for an increment
/// of the same counter.
struct Count {
    tables: [[u32; 256]; 4],
    lengths: [u32; SYMBOLS],
}

impl Symbols for Count {
    #[inline(always)]
    fn literals(&mut self, word: [u8; 8]) {
        for (at, byte) in word.into_iter().enumerate() {
            self.tables[at % 4][usize::from(byte)] += 1;
        }
    }

    fn literal(&mut self, byte: u8) {
        self.lengths[usize::from(byte)] += 1;
    }

    fn run(&mut self, length: usize) {
        self.lengths[length_symbol(length).0] += 1;
    }
}

/// Writes symbols.
struct Emit<'a, 'b> {
    bits: &'a mut BitWriter<'b>,
    codes: &'a [Code; SYMBOLS],
}

impl Symbols for Emit<'_, '_> {
    #[inline(always)]
    fn literals(&mut self, word: [u8; 8]) {
        for four in word.as_chunks::<4>().0 {
            for &byte in four {
                self.bits.add(self.codes[usize::from(byte)]);
            }
            self.bits.flush();
        }
    }

    fn literal(&mut self, byte: u8) {
        self.bits.put_code(self.codes[usize::from(byte)]);
    }

    fn run(&mut self, length: usize) {
        let (symbol, extra, count) = length_symbol(length);
        self.bits.put_code(self.codes[symbol]);
        // The code of the distance is one bit, 0.
        self.bits.put(extra, count + 1);
    }
}

/// Writes bits, the lowest first.
struct BitWriter<'a> {
    out: &'a mut [u8],
    /// The offset in `out` for the bits that are not written yet.
    at: usize,
    waiting: u64,
    /// The number of waiting bits. After `flush`, fewer than 8 bits are waiting.
    count: u32,
}

impl BitWriter<'_> {
    fn put(&mut self, bits: u64, count: u32) {
        self.waiting |= bits << self.count;
        self.count += count;
        self.flush();
    }

    fn put_code(&mut self, code: Code) {
        self.add(code);
        self.flush();
    }

    /// Adds a code. Between two calls of `flush`, at most four codes of at most [`LONGEST`] bits may be added.
    #[inline(always)]
    fn add(&mut self, code: Code) {
        const { assert!(7 + 4 * LONGEST as u32 <= u64::BITS) };
        self.waiting |= u64::from(code.bits) << self.count;
        self.count += u32::from(code.length);
    }

    #[inline(always)]
    fn flush(&mut self) {
        self.out[self.at..self.at + 8].copy_from_slice(&self.waiting.to_le_bytes());
        self.at += self.count as usize / 8;
        self.waiting >>= self.count & !7;
        self.count %= 8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_of_matches_have_the_symbols_of_the_standard() {
        // RFC 1951, section 3.2.5.
        let rows = [(3, 257, 0), (10, 264, 0), (11, 265, 1), (12, 265, 1), (13, 266, 1), (18, 268, 1), (19, 269, 2)];
        let more =
            [(34, 272, 2), (35, 273, 3), (66, 276, 3), (67, 277, 4), (130, 280, 4), (131, 281, 5), (257, 284, 5)];
        for (length, symbol, extra) in rows.into_iter().chain(more).chain([(258, 285, 0)]) {
            let (of, bits, count) = length_symbol(length);
            assert_eq!((of, count), (symbol, extra), "{length}");
            assert_eq!(distance_and_extra(symbol), u64::from(extra) + 1);
            assert!(bits < 1 << extra);
        }
        assert_eq!((length_symbol(12).1, length_symbol(257).1), (1, 30));
    }
}
