//! Prefix codes: reading them, and reading symbols with a table.

use std::io::Read;

use super::bits::{Ahead, Bits};
use super::{Fault, Memory, Result};

/// Codes of at most this many bits take one lookup. Those that libwebp makes of noise have 7 to 9 bits.
const ROOT: u32 = 10;
/// The longest code.
const LONGEST: usize = 15;
/// Marks an entry that leads to a second table.
const LINK: u32 = 0x80;

/// The order in which a file lists the lengths of the codes for lengths.
const ORDER: [usize; 19] = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// A prefix code.
pub struct Code {
    /// Entries: the symbol above 8 bits with the length of its code, or the place of a second table above [`LINK`] and
    /// the number of bits that choose an entry of that table.
    table: Vec<u32>,
    /// Selects the bits that choose an entry.
    mask: u64,
}

impl Code {
    /// Returns the next symbol and consumes its bits, at most 15. They must be available.
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

    /// Returns the only symbol, which takes no bits.
    pub fn only(&self) -> Option<u32> {
        (self.mask == 0).then(|| self.table[0] >> 8)
    }

    /// Returns the literals of all bytes if each of their codes has 8 bits, as those of noise have.
    fn bytes(&self) -> Option<[u8; 256]> {
        let entries: &[u32; 256] = self.table.as_slice().try_into().ok()?;
        entries.iter().all(|entry| entry & 0xff == 8).then(|| entries.map(|entry| (entry >> 8) as u8))
    }

    /// Reads a code for `symbols` symbols.
    pub fn read(bits: &mut Bits<impl Read>, symbols: usize, memory: &mut Memory) -> Result<Self> {
        Self::new(&lengths(bits, symbols)?, memory)
    }

    /// Makes the canonical code with these lengths. 0 means that a symbol has no code.
    fn new(lengths: &[u8], memory: &mut Memory) -> Result<Self> {
        let mut counts = [0_u32; LONGEST + 1];
        lengths.iter().for_each(|&length| counts[usize::from(length)] += 1);
        counts[0] = 0;
        if counts.iter().sum::<u32>() == 1 {
            let symbol = lengths.iter().position(|&length| length > 0).unwrap_or(0) as u32;
            memory.take(4)?;
            return Ok(Self { table: vec![symbol << 8], mask: 0 });
        }
        if counts.iter().zip(0..).map(|(count, length)| count << (LONGEST - length)).sum::<u32>() != 1 << LONGEST {
            return Err(Fault::Damaged("it has an incomplete prefix code"));
        }
        let longest = counts.iter().rposition(|&count| count > 0).unwrap_or(0) as u32;
        let root = longest.min(ROOT);
        let mut next = [0; LONGEST + 1];
        for length in 1..LONGEST {
            next[length + 1] = (next[length] + counts[length]) << 1;
        }
        // The codes with their lowest bit first.
        let mut codes = Vec::new();
        for (&length, symbol) in lengths.iter().zip(0_u32..) {
            if length > 0 {
                let code = &mut next[usize::from(length)];
                codes.push((code.reverse_bits() >> (32 - length), u32::from(length), symbol));
                *code += 1;
            }
        }
        let mut table = vec![0; 1 << root];
        // Second tables have room for the longest of their codes.
        for &(code, length, _) in codes.iter().filter(|(_, length, _)| *length > root) {
            let entry = &mut table[(code & ((1 << root) - 1)) as usize];
            *entry = (*entry).max(LINK | (length - root));
        }
        let mut end = table.len();
        for entry in table.iter_mut().filter(|entry| **entry != 0) {
            let size = 1 << (*entry & (LINK - 1));
            *entry |= (end as u32) << 8;
            end += size;
        }
        memory.take(4 * end as u64)?;
        table.resize(end, 0);
        for (code, length, symbol) in codes {
            let first = (code & ((1 << root) - 1)) as usize;
            let (from, used, size) = match length > root {
                true => ((table[first] >> 8) as usize, root, 1 << (table[first] & (LINK - 1))),
                false => (0, 0, 1 << root),
            };
            let places = ((code >> used) as usize..size).step_by(1 << (length - used));
            places.for_each(|at| table[from + at] = symbol << 8 | (length - used));
        }
        Ok(Self { table, mask: (1 << root) - 1 })
    }
}

/// Reads the lengths of a code for `symbols` symbols.
fn lengths(bits: &mut Bits<impl Read>, symbols: usize) -> Result<Vec<u8>> {
    let mut lengths = vec![0; symbols];
    if bits.read(1)? == 1 {
        let two = bits.read(1)? == 1;
        let width = if bits.read(1)? == 1 { 8 } else { 1 };
        let first = bits.read(width)?;
        let second = if two { bits.read(8)? } else { first };
        // `image-webp` sorts two symbols in another way than libwebp. A fuzz target compares this decoder with it.
        if cfg!(fuzzing) && two && second <= first {
            return Err(Fault::Damaged("it has two symbols that are not in order"));
        }
        for symbol in [first, second] {
            *lengths.get_mut(symbol as usize).ok_or(Fault::Damaged("it has a prefix code with an unknown symbol"))? = 1;
        }
        return Ok(lengths);
    }
    let mut of_lengths = [0; ORDER.len()];
    let count = 4 + bits.read(4)? as usize;
    for &place in &ORDER[..count] {
        of_lengths[place] = bits.read(3)? as u8;
    }
    // The table is dropped at once.
    let code = Code::new(&of_lengths, &mut Memory::unlimited())?;
    let mut left = symbols;
    if bits.read(1)? == 1 {
        let width = 2 + 2 * bits.read(3)?;
        left = 2 + bits.read(width)? as usize;
        if left > symbols {
            return Err(Fault::Damaged("it has a prefix code with too many lengths"));
        }
    }
    let (mut at, mut last) = (0, 8);
    while at < symbols && left > 0 {
        left -= 1;
        bits.refill()?;
        let ahead = &mut bits.ahead;
        let (length, times) = match code.symbol(ahead) as u8 {
            16 => (last, 3 + ahead.take(2)),
            17 => (0, 3 + ahead.take(3)),
            18 => (0, 11 + ahead.take(7)),
            length => {
                last = if length > 0 { length } else { last };
                (length, 1)
            }
        };
        let end = at + times as usize;
        lengths.get_mut(at..end).ok_or(Fault::Damaged("it has a prefix code with too many lengths"))?.fill(length);
        at = end;
    }
    Ok(lengths)
}

/// The codes of noise: red and blue take 8 bits each, whatever their values, and alpha none. So only the code of green
/// tells where the next pixel begins.
pub struct Noise {
    /// Green in its place, and below it the number of bits of the whole pixel; or [`RARE`].
    green: [u32; 1 << ROOT],
    /// Red and alpha, by the bits of red.
    red: [u32; 256],
    /// Blue, by the bits of blue.
    blue: [u32; 256],
}

/// Stands for a literal with a longer code, and for a symbol that is no literal.
const RARE: u32 = u32::MAX;

impl Noise {
    /// The most bits of a pixel.
    pub const LONGEST: u32 = ROOT + 16;

    /// Returns tables if red and blue are noise and all pixels have the same alpha.
    fn new(green: &Code, red: &Code, blue: &Code, alpha: &Code, memory: &mut Memory) -> Result<Option<Box<Self>>> {
        let (Some(red), Some(blue), Some(alpha)) = (red.bytes(), blue.bytes(), alpha.only()) else { return Ok(None) };
        memory.take(size_of::<Self>() as u64)?;
        let green = |bits: usize| match green.table[bits & green.mask as usize] {
            // Second tables lie behind the first one, so links are at least as large as symbols that are no literals.
            entry if entry >= 256 << 8 => RARE,
            entry => entry + 16,
        };
        let red = red.map(|red| alpha << 24 | u32::from(red) << 16);
        Ok(Some(Box::new(Self { green: std::array::from_fn(green), red, blue: blue.map(u32::from) })))
    }

    /// Returns the next pixel and consumes its bits, of which [`Self::LONGEST`] must be available. Returns `None` and
    /// consumes nothing if it is no literal or has a long code.
    #[inline(always)]
    pub fn pixel(&self, ahead: &mut Ahead) -> Option<u32> {
        let entry = self.green[ahead.value as usize % self.green.len()];
        if entry == RARE {
            return None;
        }
        let length = entry & 63;
        // Shifts the bits of red to the lowest ones. The next pixel need not wait for this.
        let [red, blue, ..] = (ahead.value << 16 >> length).to_le_bytes();
        ahead.skip(length);
        Some(self.red[usize::from(red)] | entry & 0xff00 | self.blue[usize::from(blue)])
    }
}

/// The five codes of a pixel.
pub struct Group {
    pub noise: Option<Box<Noise>>,
    pub green: Code,
    pub red: Code,
    pub blue: Code,
    pub alpha: Code,
    pub distance: Code,
}

impl Group {
    /// Reads the codes. `colors` is the size of the color cache.
    pub fn read(bits: &mut Bits<impl Read>, colors: usize, memory: &mut Memory) -> Result<Self> {
        let mut code = |symbols| Code::read(bits, symbols, memory);
        let (green, red, blue) = (code(256 + 24 + colors)?, code(256)?, code(256)?);
        let (alpha, distance) = (code(256)?, code(40)?);
        Ok(Self { noise: Noise::new(&green, &red, &blue, &alpha, memory)?, green, red, blue, alpha, distance })
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
            let code = Code::new(&lengths, &mut Memory::unlimited()).unwrap_or_else(|_| panic!("{lengths:?}"));
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
            assert!(Code::new(lengths, &mut Memory::unlimited()).is_err(), "{lengths:?}");
        }
        for length in 1..=15 {
            let code = Code::new(&[0, 0, length], &mut Memory::unlimited()).ok().unwrap();
            assert_eq!(code.only(), Some(2));
        }
    }
}
