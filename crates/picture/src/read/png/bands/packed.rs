//! The bytes of a band: stored, or a block with codes of its own. Several such blocks are decoded in turns.

use std::ops::Range;

use crate::write::png::STORED;
use crate::write::png::code::{LONGEST, SYMBOLS, codes};
use crate::write::png::pack::{END, first_bits, match_of, prelude};

/// The number of entries of a table.
const ENTRIES: usize = 1 << LONGEST;
/// How many entries a step takes. Their codes have at most 44 bits, and they stand for at most 8 literals.
const STEP: usize = 4;
/// Bytes after the data and after the filtered bytes, for steps that end before them.
const SLACK: usize = 16;
/// The bytes at the end of a band that is not the last one: an empty stored block, without its first bits.
const FLUSHED: [u8; 4] = [0, 0, 255, 255];

/// What bits stand for: one or two literals, a match, or the end of the block.
#[derive(Clone, Copy, Default)]
struct Entry(u32);

impl Entry {
    /// Marks entries that are no literals.
    const OTHER: u32 = 1 << 15;

    /// Makes an entry for a code of so many bits.
    fn of(symbol: usize, bits: u8) -> Self {
        let (kind, value) = match symbol {
            0..END => (1 << 8, symbol),
            END => (Self::OTHER, 0),
            _ => {
                let (least, extra) = match_of(symbol);
                (Self::OTHER, least | (extra as usize) << 9)
            }
        };
        Self(u32::from(bits) | kind | (value as u32) << 16)
    }

    /// Adds a second literal.
    fn then(self, next: Self) -> Self {
        Self((self.bits() + next.bits()) | 2 << 8 | (self.0 & 0xff_0000) | (next.0 & 0xff_0000) << 8)
    }

    /// Returns the length of the codes. At most 63, so that shifts need no other limit.
    #[inline(always)]
    fn bits(self) -> u32 {
        self.0 & 63
    }

    /// Returns how many literals there are.
    #[inline(always)]
    fn count(self) -> usize {
        (self.0 >> 8 & 15) as usize
    }

    #[inline(always)]
    fn literals(self) -> [u8; 2] {
        ((self.0 >> 16) as u16).to_le_bytes()
    }

    /// Returns the least length of a match, which is 0 for the end, and how many bits are added to it.
    fn length(self) -> (usize, u32) {
        ((self.0 >> 16 & 511) as usize, self.0 >> 25)
    }
}

/// The bytes of a band, and how far they are decoded.
pub struct Stream {
    data: Vec<u8>,
    /// Where the blocks end.
    end: usize,
    filtered: Vec<u8>,
    length: usize,
    table: Box<[Entry; ENTRIES]>,
    /// The next bit of the data.
    bit: usize,
    /// Where the next filtered byte goes.
    to: usize,
    is_last: bool,
    is_done: bool,
}

impl Stream {
    pub fn new() -> Self {
        Self {
            data: Vec::new(),
            end: 0,
            filtered: Vec::new(),
            length: 0,
            table: Box::new([Entry::default(); ENTRIES]),
            bit: 0,
            to: 0,
            is_last: false,
            is_done: false,
        }
    }

    /// Begins with a band of `length` filtered bytes. Returns the room for its data.
    pub fn begin(&mut self, length: usize, data: usize) -> &mut [u8] {
        self.data.resize(data + SLACK, 0);
        self.filtered.resize(length + SLACK, 0);
        self.length = length;
        &mut self.data[..data]
    }

    /// Returns the filtered bytes.
    pub fn filtered(&self) -> &[u8] {
        &self.filtered[..self.length]
    }

    pub fn is_done(&self) -> bool {
        self.is_done
    }

    /// Copies stored blocks.
    pub fn stored(&mut self, range: Range<usize>, is_last: bool) -> Option<()> {
        let (mut data, mut target) = (&self.data[range], &mut self.filtered[..self.length]);
        while let Some((head, rest)) = data.split_first_chunk::<5>() {
            let block = target.len().min(STORED);
            let (now, later) = target.split_at_mut(block);
            let [low, high] = (block as u16).to_le_bytes();
            if *head != [u8::from(is_last && later.is_empty()), low, high, !low, !high] || block == 0 {
                return None;
            }
            let (bytes, rest) = rest.split_at_checked(block)?;
            now.copy_from_slice(bytes);
            (data, target) = (rest, later);
        }
        (data.is_empty() && target.is_empty()).then_some(())
    }

    /// Begins a block with codes of its own.
    pub fn packed(&mut self, range: Range<usize>, is_last: bool) -> Option<()> {
        (self.bit, self.to, self.end) = (range.start * 8, 0, range.end);
        (self.is_last, self.is_done) = (is_last, false);
        if self.take(3)? != first_bits(is_last) {
            return None;
        }
        for (number, count) in prelude() {
            if self.take(count)? != number {
                return None;
            }
        }
        let mut lengths = [0; SYMBOLS];
        for length in &mut lengths {
            *length = (self.take(4)? as u8).reverse_bits() >> 4;
        }
        // The one distance has a code of one bit.
        (self.take(4)? == 8 && fill(&lengths, &mut self.table)).then_some(())
    }

    /// Returns the next bits, 57 or more, the lowest first.
    #[inline(always)]
    fn bits(&self) -> Option<u64> {
        let bytes = self.data.get(self.bit / 8..)?.first_chunk()?;
        Some(u64::from_le_bytes(*bytes) >> (self.bit % 8))
    }

    fn take(&mut self, count: u32) -> Option<u64> {
        let bits = self.bits()?;
        self.bit += count as usize;
        Some(bits & ((1 << count) - 1))
    }

    /// Decodes some bytes of a block that is not done.
    #[inline(always)]
    pub fn step(&mut self) -> Option<()> {
        let mut bits = self.bits()?;
        let mut entries = [Entry(0); STEP];
        for entry in &mut entries {
            *entry = self.table[bits as usize % ENTRIES];
            bits >>= entry.bits();
        }
        if entries.iter().any(|entry| entry.0 & Entry::OTHER != 0) {
            return self.one();
        }
        let room: &mut [u8; SLACK] = self.filtered.get_mut(self.to..)?.first_chunk_mut()?;
        let (mut to, mut bit) = (0, 0);
        for entry in entries {
            // Two literals for each of the entries before: the remainder is for the compiler.
            let to_now = to % (2 * STEP);
            room[to_now..to_now + 2].copy_from_slice(&entry.literals());
            to += entry.count();
            bit += entry.bits();
        }
        self.to += to;
        self.bit += bit as usize;
        Some(())
    }

    /// Decodes one entry of any kind.
    #[inline(never)]
    fn one(&mut self) -> Option<()> {
        let entry = self.table[self.bits()? as usize % ENTRIES];
        self.bit += entry.bits() as usize;
        let (before, after) = self.filtered.split_at_mut_checked(self.to)?;
        if entry.0 & Entry::OTHER == 0 {
            *after.first_chunk_mut()? = entry.literals();
            self.to += entry.count();
            return Some(());
        }
        let (least, extra) = entry.length();
        if least == 0 {
            return self.finish();
        }
        let (left, last) = (self.length.checked_sub(self.to)?, *before.last()?);
        let length = least + self.take(extra)? as usize;
        let (_, after) = self.filtered.split_at_mut_checked(self.to)?;
        after.get_mut(..length).filter(|_| length <= left)?.fill(last);
        self.to += length;
        // The code of the distance 1 is the bit 0, and there is no other distance.
        (self.take(1)? == 0).then_some(())
    }

    /// Checks what comes after the last code.
    fn finish(&mut self) -> Option<()> {
        // An empty stored block, whose first three bits are zeros.
        if !self.is_last && self.take(3)? != 0 {
            return None;
        }
        let rest = self.data.get(self.bit.div_ceil(8)..self.end)?;
        let is_right = if self.is_last { rest.is_empty() } else { rest == FLUSHED };
        self.is_done = true;
        (is_right && self.to == self.length).then_some(())
    }
}

/// Makes the table of the codes with these lengths. Returns false if they are no complete code.
fn fill(lengths: &[u8; SYMBOLS], table: &mut [Entry; ENTRIES]) -> bool {
    let used = || lengths.iter().filter(|length| **length > 0);
    let room = |length: &u8| ENTRIES >> length;
    if used().any(|length| *length > LONGEST) || used().map(room).sum::<usize>() != ENTRIES {
        return false;
    }
    for (symbol, code) in codes(lengths).iter().enumerate().filter(|(_, code)| code.length > 0) {
        let entry = Entry::of(symbol, code.length);
        table[usize::from(code.bits)..].iter_mut().step_by(1 << code.length).for_each(|at| *at = entry);
    }
    // A pair takes the place of its first literal. Entries with fewer bits set are still single ones.
    for at in (0..ENTRIES).rev() {
        let first = table[at];
        let next = table[at >> first.bits()];
        let fits = first.bits() + next.bits() <= LONGEST.into();
        if [first, next].iter().all(|entry| entry.count() == 1) && fits {
            table[at] = first.then(next);
        }
    }
    true
}
