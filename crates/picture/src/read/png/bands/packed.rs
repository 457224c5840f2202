//! The bytes of a band: stored, or a block with codes of its own. Several such blocks are decoded in turns.

use std::ops::Range;

use crate::write::png::STORED;
use crate::write::png::code::{LONGEST, SYMBOLS, codes};
use crate::write::png::pack::{END, first_bits, match_of, prelude};

/// The number of entries of a table.
const ENTRIES: usize = 1 << LONGEST;
/// How many codes are certainly there after a refill.
const CODES: usize = 56 / LONGEST as usize;
/// Bytes after the data and after the filtered bytes, for reading and writing before positions are checked.
const SLACK: usize = 16;
/// The bytes at the end of a band that is not the last one: an empty stored block, without its first bits.
const FLUSHED: [u8; 4] = [0, 0, 255, 255];

/// What bits stand for: one or two literals, a match, or the end of the block.
#[derive(Clone, Copy, Default)]
struct Entry(u32);

impl Entry {
    /// Makes an entry for a code of so many bits.
    fn of(symbol: usize, bits: u8) -> Self {
        let (count, value) = match symbol {
            0..END => (1, symbol),
            END => (0, 0),
            _ => {
                let (least, extra) = match_of(symbol);
                (0, least | (extra as usize) << 9)
            }
        };
        Self(u32::from(bits) | count << 8 | (value as u32) << 16)
    }

    /// Adds a second literal.
    fn then(self, next: Self) -> Self {
        Self((self.bits() + next.bits()) | 2 << 8 | (self.0 & 0xff_0000) | (next.0 & 0xff_0000) << 8)
    }

    fn bits(self) -> u32 {
        self.0 & 255
    }

    /// Returns how many literals there are: none for a match and for the end.
    fn count(self) -> usize {
        (self.0 >> 8 & 255) as usize
    }

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
    place: Place,
    is_last: bool,
    is_done: bool,
}

/// How far a block is decoded.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The next bits, the lowest first.
    bits: u64,
    /// How many of them are certainly right.
    count: u32,
    /// The byte of the data after these bits.
    at: usize,
    /// Where the next filtered byte goes.
    to: usize,
}

impl Place {
    #[inline(always)]
    fn refill(&mut self, data: &[u8]) -> Option<()> {
        let next = u64::from_le_bytes(*data.get(self.at..)?.first_chunk()?);
        self.bits |= next << self.count;
        self.at += (63 - self.count as usize) / 8;
        self.count |= 56;
        Some(())
    }

    #[inline(always)]
    fn skip(&mut self, count: u32) {
        self.bits >>= count;
        self.count -= count;
    }

    fn take(&mut self, count: u32) -> usize {
        let bits = self.bits & ((1 << count) - 1);
        self.skip(count);
        bits as usize
    }
}

impl Stream {
    pub fn new() -> Self {
        Self {
            data: Vec::new(),
            end: 0,
            filtered: Vec::new(),
            length: 0,
            table: Box::new([Entry::default(); ENTRIES]),
            place: Place::default(),
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
        (self.end, self.is_last, self.is_done) = (range.end, is_last, false);
        let mut place = Place { at: range.start, ..Place::default() };
        let mut take = |count| {
            place.refill(&self.data)?;
            Some(place.take(count))
        };
        if take(3)? as u64 != first_bits(is_last) {
            return None;
        }
        for (number, count) in prelude() {
            if take(count)? as u64 != number {
                return None;
            }
        }
        let mut lengths = [0; SYMBOLS];
        for length in &mut lengths {
            *length = (take(4)? as u8).reverse_bits() >> 4;
        }
        if take(4)? != 8 || !fill(&lengths, &mut self.table) {
            return None;
        }
        self.place = place;
        Some(())
    }

    /// Checks what comes after the last code.
    fn finish(&mut self) -> Option<()> {
        let place = &mut self.place;
        place.refill(&self.data)?;
        // An empty stored block, whose first three bits are zeros.
        if !self.is_last && place.take(3) != 0 {
            return None;
        }
        let rest = self.data.get(place.at - place.count as usize / 8..self.end)?;
        let is_right = if self.is_last { rest.is_empty() } else { rest == FLUSHED };
        self.is_done = true;
        (is_right && place.to == self.length).then_some(())
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
        if first.count() == 1 && next.count() == 1 && fits {
            table[at] = first.then(next);
        }
    }
    true
}

/// Decodes blocks in turns, until one of them is done.
pub fn decode<const N: usize>(mut streams: [&mut Stream; N]) -> Option<()> {
    let mut places = streams.each_ref().map(|stream| stream.place);
    let lanes = streams.each_mut().map(|stream| Lane {
        data: &stream.data,
        table: &stream.table,
        filtered: &mut stream.filtered,
        length: stream.length,
    });
    let done = run(lanes, &mut places)?;
    streams.iter_mut().zip(places).for_each(|(stream, place)| stream.place = place);
    streams[done].finish()
}

/// What is read and written of a stream.
struct Lane<'a> {
    data: &'a [u8],
    table: &'a [Entry; ENTRIES],
    filtered: &'a mut [u8],
    length: usize,
}

impl Lane<'_> {
    /// Repeats the byte before. Returns false at the end of the block.
    #[cold]
    fn repeat(&mut self, entry: Entry, place: &mut Place) -> Option<bool> {
        let (least, extra) = entry.length();
        if least == 0 {
            return Some(false);
        }
        place.refill(self.data)?;
        let length = least + place.take(extra);
        // The only code of a distance is one bit, 0.
        let (before, after) = self.filtered[..self.length].split_at_mut_checked(place.to)?;
        let target = after.get_mut(..length).filter(|_| place.take(1) == 0)?;
        target.fill(*before.last()?);
        place.to += length;
        Some(true)
    }
}

/// Decodes until a lane is done, and returns which one.
fn run<const N: usize>(mut lanes: [Lane<'_>; N], places: &mut [Place; N]) -> Option<usize> {
    let mut now = *places;
    let done = 'all: loop {
        for (lane, place) in lanes.iter().zip(&mut now) {
            if place.to > lane.length {
                return None;
            }
            place.refill(lane.data)?;
        }
        for _ in 0..CODES {
            for at in 0..N {
                let (lane, place) = (&mut lanes[at], &mut now[at]);
                let entry = lane.table[place.bits as usize % ENTRIES];
                place.skip(entry.bits());
                if entry.count() == 0 {
                    match lane.repeat(entry, place)? {
                        true => continue,
                        false => break 'all at,
                    }
                }
                *lane.filtered.get_mut(place.to..)?.first_chunk_mut()? = entry.literals();
                place.to += entry.count();
            }
        }
    };
    *places = now;
    Some(done)
}
