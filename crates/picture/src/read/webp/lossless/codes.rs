//! Prefix codes, and the tables with which the decoder reads symbols.

use std::io::Read;

use super::bits::{Ahead, BitReader};
use super::lengths::{LONGEST, Lengths};
use super::{Memory, Result};

/// Codes of at most this many bits take one lookup. The codes that libwebp makes for noise have 7 to 9 bits.
const ROOT: u32 = 10;
/// In a table entry, this bit means that the entry refers to a second table.
const LINK: u32 = 0x80;

/// A prefix code.
pub struct PrefixCode {
    /// An entry contains a symbol (in bit 8 and above) and the length of its code. For longer codes, an entry contains
    /// the position of a second table (above [`LINK`]) and the number of bits that are looked up there. An entry could
    /// also fit into two bytes. With two bytes, the length would need one more instruction for each symbol, and
    /// decoding would be 7 % slower.
    table: Vec<u32>,
    /// A mask for the bits that choose an entry.
    mask: u64,
}

impl PrefixCode {
    /// Returns the next symbol and consumes its bits, at most 15. These bits must be available.
    #[inline(always)]
    pub fn symbol(&self, ahead: &mut Ahead) -> u32 {
        let mut entry = self.table[(ahead.value & self.mask) as usize];
        if entry & LINK != 0 {
            ahead.skip(ROOT);
            let second = ahead.value & ((1 << (entry & (LINK - 1))) - 1);
            entry = self.table[(entry >> 8) as usize + second as usize];
        }
        ahead.skip(entry & 0xff);
        entry >> 8
    }

    /// If the code has only one symbol, returns this symbol, which takes no bits.
    pub fn only(&self) -> Option<u32> {
        (self.mask == 0).then(|| self.table[0] >> 8)
    }

    /// If each literal has a code of 8 bits, as in noise, returns the literals for all values of a byte.
    fn bytes(&self) -> Option<[u8; 256]> {
        let entries: &[u32; 256] = self.table.as_slice().try_into().ok()?;
        entries.iter().all(|entry| entry & 0xff == 8).then(|| entries.map(|entry| (entry >> 8) as u8))
    }

    /// Makes the canonical code with these lengths.
    pub fn new(lengths: &Lengths) -> Self {
        let mut code = Self { table: Vec::new(), mask: 0 };
        code.make(lengths, &mut Vec::new());
        code
    }

    /// Replaces this code by the canonical code with the given lengths. `sorted` is memory for symbols.
    fn make(&mut self, lengths: &Lengths, sorted: &mut Vec<u16>) {
        self.table.clear();
        if let Some(symbol) = lengths.only() {
            self.table.push(symbol << 8);
            self.mask = 0;
            return;
        }
        sort(lengths, sorted);
        let counts = lengths.counts();
        let longest = counts.iter().rposition(|&count| count > 0).unwrap_or(0) as u32;
        let root = longest.min(ROOT);
        self.mask = (1 << root) - 1;
        // The next code; its first bit is the lowest bit.
        let (mut code, mut symbols) = (0, sorted.iter());
        self.table.push(0);
        for length in 1..=root {
            // The table already contains all shorter codes. The new bit does not change the entries of shorter codes.
            self.table.extend_from_within(..);
            for symbol in symbols.by_ref().take(counts[length as usize] as usize) {
                self.table[code as usize] = u32::from(*symbol) << 8 | length;
                code = next(code, length);
            }
        }
        let (mut begin, mut size) = (0, 0);
        for length in root + 1..=longest {
            for at in 0..counts[length as usize] {
                if code >> root == 0 {
                    (begin, size) = (self.table.len(), second_bits(counts, length, at));
                    self.table[code as usize] = (begin as u32) << 8 | LINK | size;
                    self.table.resize(begin + (1 << size), 0);
                }
                let Some(&symbol) = symbols.next() else { break };
                let entry = u32::from(symbol) << 8 | (length - root);
                let places = (code as usize >> root..1 << size).step_by(1 << (length - root));
                places.for_each(|place| self.table[begin + place] = entry);
                code = next(code, length);
            }
        }
    }
}

fn sort(lengths: &Lengths, sorted: &mut Vec<u16>) {
    let mut places = [0; LONGEST + 1];
    for length in 1..LONGEST {
        places[length + 1] = places[length] + lengths.counts()[length] as usize;
    }
    sorted.clear();
    sorted.resize(lengths.each().len(), 0);
    for (&length, symbol) in lengths.each().iter().zip(0..) {
        if length > 0 {
            let place = &mut places[usize::from(length)];
            sorted[*place] = symbol;
            *place += 1;
        }
    }
}

/// Returns the code after `code`, which has `length` bits. The lowest bit of the number is the first bit of the code,
/// so the number stays the same if zero bits are appended to the code.
fn next(code: u32, length: u32) -> u32 {
    // The highest 0 bit becomes 1, and all bits above it become 0.
    match !code & ((1 << length) - 1) {
        0 => 0,
        zeros => {
            let bit = 1 << zeros.ilog2();
            code & (bit - 1) | bit
        }
    }
}

/// Returns the number of bits that are looked up in a second table. The first code in the second table has `length`
/// bits, and is code number `at` of this length.
fn second_bits(counts: &[u32; LONGEST + 1], length: u32, at: u32) -> u32 {
    let mut bits = length - ROOT;
    let mut filled = counts[length as usize] - at;
    while filled < 1 << bits && ROOT + bits < LONGEST as u32 {
        bits += 1;
        filled = 2 * filled + counts[(ROOT + bits) as usize];
    }
    bits
}

/// Memory that is used again for each code that is read.
pub struct CodeScratch {
    lengths: Lengths,
    sorted: Vec<u16>,
    code: PrefixCode,
}

impl CodeScratch {
    pub fn new() -> Self {
        Self { lengths: Lengths::default(), sorted: Vec::new(), code: PrefixCode { table: Vec::new(), mask: 0 } }
    }

    /// Reads a code for `symbols` symbols.
    fn read(&mut self, bits: &mut BitReader<impl Read>, symbols: usize, memory: &mut Memory) -> Result<PrefixCode> {
        self.lengths.read(bits, symbols)?;
        self.code.make(&self.lengths, &mut self.sorted);
        let PrefixCode { table, mask } = &self.code;
        memory.take(size_of_val(table.as_slice()) as u64)?;
        Ok(PrefixCode { table: table.clone(), mask: *mask })
    }
}

/// Tables for noise, in which red and blue have codes of 8 bits for all values, and alpha takes no bits. Therefore only
/// the code of green decides where the next pixel begins.
pub struct Noise {
    /// An entry holds the value of green at the position of green in a pixel, and in the lower bits the number of bits
    /// of the whole pixel. An entry may also be [`RARE`].
    green: [u32; 1 << ROOT],
    /// Red and alpha, by the bits of red.
    red: [u32; 256],
    /// Blue, by the bits of blue.
    blue: [u32; 256],
}

/// The entry for a literal with a longer code, and for a symbol that is not a literal.
const RARE: u32 = u32::MAX;

impl Noise {
    /// The minimum number of pixels for which these tables are made. Making the tables takes the time of about a
    /// thousand pixels.
    const PIXELS: u64 = 4096;
    /// The maximum number of bits of a pixel.
    pub const LONGEST: u32 = ROOT + 16;

    /// Returns the tables. Returns `None` if alpha varies, or if red or blue has a code that is not 8 bits long.
    fn new(
        green: &PrefixCode,
        red: &PrefixCode,
        blue: &PrefixCode,
        alpha: &PrefixCode,
        memory: &mut Memory,
    ) -> Result<Option<Box<Self>>> {
        let (Some(red), Some(blue), Some(alpha)) = (red.bytes(), blue.bytes(), alpha.only()) else { return Ok(None) };
        memory.take(size_of::<Self>() as u64)?;
        let green = |bits: usize| match green.table[bits & green.mask as usize] {
            // An entry that refers to a second table is also at least 256 << 8, because the position of a second table
            // is at least 256.
            entry if entry >= 256 << 8 => RARE,
            entry => entry + 16,
        };
        let red = red.map(|red| alpha << 24 | u32::from(red) << 16);
        Ok(Some(Box::new(Self { green: std::array::from_fn(green), red, blue: blue.map(u32::from) })))
    }

    /// Returns the next pixel and consumes its bits; at least [`Self::LONGEST`] bits must be available. If the pixel is
    /// not a literal or has a long code, returns `None` and consumes no bits.
    #[inline(always)]
    pub fn pixel(&self, ahead: &mut Ahead) -> Option<u32> {
        let entry = self.green[ahead.value as usize % self.green.len()];
        if entry == RARE {
            return None;
        }
        let length = entry & 63;
        // Shifts the red bits to the lowest positions. Decoding of the next pixel does not depend on this shift.
        let [red, blue, ..] = (ahead.value << 16 >> length).to_le_bytes();
        ahead.skip(length);
        Some(self.red[usize::from(red)] | entry & 0xff00 | self.blue[usize::from(blue)])
    }
}

/// The five codes of a pixel.
pub struct Group {
    pub noise: Option<Box<Noise>>,
    pub green: PrefixCode,
    pub red: PrefixCode,
    pub blue: PrefixCode,
    pub alpha: PrefixCode,
    pub distance: PrefixCode,
}

impl Group {
    /// Reads the codes. `colors` is the size of the color cache. `pixels` is the maximum number of pixels of the group.
    pub fn read(
        bits: &mut BitReader<impl Read>,
        colors: usize,
        pixels: u64,
        scratch: &mut CodeScratch,
        memory: &mut Memory,
    ) -> Result<Self> {
        let [green, red, blue, alpha, distance] = Self::symbols(colors);
        let mut code = |symbols| scratch.read(bits, symbols, memory);
        let (green, red, blue) = (code(green)?, code(red)?, code(blue)?);
        let (alpha, distance) = (code(alpha)?, code(distance)?);
        let noise = if pixels >= Noise::PIXELS { Noise::new(&green, &red, &blue, &alpha, memory)? } else { None };
        Ok(Self { noise, green, red, blue, alpha, distance })
    }

    /// Reads codes that no pixel needs. An invalid code is an error even if no pixel needs it.
    pub fn skip(bits: &mut BitReader<impl Read>, colors: usize, scratch: &mut CodeScratch) -> Result<()> {
        Self::symbols(colors).into_iter().try_for_each(|symbols| scratch.lengths.read(bits, symbols))
    }

    /// Returns the maximum number of symbols of each code.
    fn symbols(colors: usize) -> [usize; 5] {
        [256 + 24 + colors, 256, 256, 256, 40]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the symbol of a canonical code bit by bit, as the specification defines it.
    fn slow(lengths: &[u8], bits: u64) -> (u32, u32) {
        let (mut code, mut first) = (0, 0);
        for length in 1..=LONGEST as u32 {
            code = code << 1 | (bits >> (length - 1) & 1) as u32;
            let of_length = |wanted: &(usize, &u8)| u32::from(*wanted.1) == length;
            let symbols: Vec<usize> = lengths.iter().enumerate().filter(of_length).map(|(symbol, _)| symbol).collect();
            if let Some(&symbol) = code.checked_sub(first).and_then(|at| symbols.get(at as usize)) {
                return (symbol as u32, length);
            }
            first = (first + symbols.len() as u32) << 1;
        }
        panic!("no code");
    }

    #[test]
    fn tables_agree_with_reading_bit_by_bit() {
        let chain = |longest: u8| -> Vec<u8> { (1..=longest).chain([longest]).collect() };
        let mixed = [vec![1], vec![11; 512], vec![12; 512], vec![13; 1024]].concat();
        let codes =
            [vec![1, 1], vec![8; 256], chain(9), chain(10), chain(11), chain(15), vec![2, 0, 2, 0, 2, 2], mixed];
        for lengths in codes {
            let code = PrefixCode::new(&Lengths::new(&lengths).unwrap_or_else(|_| panic!("{lengths:?}")));
            for bits in 0..1 << LONGEST {
                let mut ahead = Ahead::default();
                assert!(ahead.refill(&u64::to_le_bytes(bits)));
                let (symbol, length) = slow(&lengths, bits);
                assert_eq!(code.symbol(&mut ahead), symbol, "{lengths:?} {bits:b}");
                assert_eq!(ahead.value, bits >> length, "{lengths:?} {bits:b}");
            }
        }
    }

    #[test]
    fn incomplete_codes_are_refused_and_one_symbol_takes_no_bits() {
        for lengths in [&[0_u8; 4][..], &[1, 2], &[1, 1, 1], &[2, 2, 2], &[15; 200]] {
            assert!(Lengths::new(lengths).is_err(), "{lengths:?}");
        }
        for length in 1..=15 {
            let code = PrefixCode::new(&Lengths::new(&[0, 0, length]).expect("a code"));
            assert_eq!(code.only(), Some(2));
        }
    }
}
