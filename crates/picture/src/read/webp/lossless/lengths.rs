//! Reads the lengths of the codes of symbols. A file describes a prefix code only by these lengths.

use std::io::Read;

use super::bits::BitReader;
use super::codes::PrefixCode;
use super::{Fault, Result};

/// The maximum number of bits of a code.
pub const LONGEST: usize = 15;

/// The order in which a file lists the lengths of the codes for lengths.
const ORDER: [usize; 19] = [17, 18, 0, 1, 2, 3, 4, 5, 16, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The lengths of one complete code. This memory is used again for the next code.
#[derive(Default)]
pub struct Lengths {
    /// The length of each symbol's code, or 0 for a symbol without a code. Symbols after the last listed symbol have no
    /// code.
    each: Vec<u8>,
    /// The number of symbols with each length. The number for length 0 has no meaning.
    counts: [u32; LONGEST + 1],
}

impl Lengths {
    pub fn new(lengths: &[u8]) -> Result<Self> {
        let mut new = Self::default();
        lengths.iter().for_each(|length| new.push(*length, 1));
        new.check()?;
        Ok(new)
    }

    pub fn each(&self) -> &[u8] {
        &self.each
    }

    pub fn counts(&self) -> &[u32; LONGEST + 1] {
        &self.counts
    }

    /// Returns the only symbol.
    pub fn only(&self) -> Option<u32> {
        let is_only = self.counts[1..].iter().sum::<u32>() == 1;
        is_only.then(|| self.each.iter().position(|&length| length > 0).unwrap_or(0) as u32)
    }

    /// Reads the lengths of a code for `symbols` symbols.
    pub fn read(&mut self, bits: &mut BitReader<impl Read>, symbols: usize) -> Result<()> {
        self.clear();
        if bits.read(1)? == 1 {
            self.read_few(bits, symbols)?
        } else {
            self.read_all(bits, symbols)?
        }
        self.check()
    }

    /// Reads one or two symbols, which have codes of one bit.
    fn read_few(&mut self, bits: &mut BitReader<impl Read>, symbols: usize) -> Result<()> {
        let two = bits.read(1)? == 1;
        let width = if bits.read(1)? == 1 { 8 } else { 1 };
        let first = bits.read(width)?;
        let second = if two { bits.read(8)? } else { first };
        // If two symbols are in descending order, `image-webp` differs from libwebp. A fuzz target compares this
        // decoder with `image-webp`.
        if cfg!(fuzzing) && two && second <= first {
            return Err(Fault::Damaged("it has two symbols that are not in order"));
        }
        let (least, most) = (first.min(second), first.max(second));
        if most as usize >= symbols {
            return Err(Fault::Damaged("it has a prefix code with an unknown symbol"));
        }
        self.push(0, least as usize);
        self.push(1, 1);
        if least < most {
            self.push(0, (most - least) as usize - 1);
            self.push(1, 1);
        }
        Ok(())
    }

    /// Reads the lengths of all symbols. The lengths are stored with another prefix code.
    fn read_all(&mut self, bits: &mut BitReader<impl Read>, symbols: usize) -> Result<()> {
        let mut of_lengths = [0; ORDER.len()];
        let count = 4 + bits.read(4)? as usize;
        for &place in &ORDER[..count] {
            of_lengths[place] = bits.read(3)? as u8;
        }
        let code = PrefixCode::new(&Self::new(&of_lengths)?);
        let mut left = symbols;
        if bits.read(1)? == 1 {
            let width = 2 + 2 * bits.read(3)?;
            left = 2 + bits.read(width)? as usize;
            if left > symbols {
                return Err(Fault::Damaged("it has a prefix code with too many lengths"));
            }
        }
        // If the code for lengths has only one length, the lengths take no bits, and all symbols have this length.
        if let Some(length @ 0..=15) = code.only() {
            self.push(length as u8, left);
            return Ok(());
        }
        let mut last = 8;
        while self.each.len() < symbols && left > 0 {
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
            if self.each.len() + times as usize > symbols {
                return Err(Fault::Damaged("it has a prefix code with too many lengths"));
            }
            self.push(length, times as usize);
        }
        Ok(())
    }

    fn clear(&mut self) {
        self.each.clear();
        self.counts = [0; LONGEST + 1];
    }

    fn push(&mut self, length: u8, times: usize) {
        self.each.resize(self.each.len() + times, length);
        self.counts[usize::from(length)] += times as u32;
    }

    /// Checks that the code is complete. A code with only one symbol takes no bits, whatever its length, and needs no
    /// check.
    fn check(&self) -> Result<()> {
        let share = |(count, length): (&u32, usize)| count << (LONGEST - length);
        let is_complete = self.counts.iter().zip(0..).skip(1).map(share).sum::<u32>() == 1 << LONGEST;
        if is_complete || self.counts[1..].iter().sum::<u32>() == 1 {
            Ok(())
        } else {
            Err(Fault::Damaged("it has an incomplete prefix code"))
        }
    }
}
