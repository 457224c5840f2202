//! Finds blocks that have moved, because bytes of the file were lost or added before them.
//!
//! All blocks after a lost or added part have moved by the same number of bytes, so a *shift* that was found once is
//! tried for all missing blocks. The difference of the lengths is the first shift to try. If that is not enough, the
//! sums of the marks are compared with the sum at each offset near the missing blocks.

use std::collections::HashMap;

use crate::mark::{Mark, WINDOW, roll, weak};
use crate::positions::{ReadAt, is_bad_sector, read_full_at};
use crate::sidecar::Sidecar;
use crate::{Error, Report, Work};

/// Blocks that have moved together: from `begin` up to `end`, by `shift` bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    pub(crate) begin: u64,
    pub(crate) end: u64,
    pub(crate) shift: i64,
}

/// Shifts above this number are not looked for any more.
const MOST_SHIFTS: usize = 64;
/// Groups of moved blocks above this number are not looked for any more.
const MOST_GROUPS: usize = 1 << 18;
/// How far away from its place a block is looked for.
const REACH: u64 = 16 << 20;
/// The number of bytes whose blocks are looked for at the same time, and the most blocks of these.
const STRETCH: (u64, u64) = (64 << 20, 1 << 14);
/// A block that was not found at so many places with its sum is not looked for any more. In a file with many zeros, a
/// block that begins with zeros would be compared at each offset.
const MOST_MISSES: u32 = 64;
/// The number of bytes that may be compared in vain, for each byte of the file.
const VAIN: u64 = 4;
/// The number of bytes that are read at once.
const PIECE: usize = 1 << 20;
/// An upper limit for the memory that this module takes.
#[cfg(test)]
pub(crate) const MEMORY: usize = MOST_GROUPS * size_of::<Moved>() * 2 + PIECE * 2 + (4 << 20);

/// Looks for the missing blocks of a report at other places, and notes those that are found. Ends when the recovery
/// data are enough for the others.
pub(crate) fn find<R: ReadAt>(
    sidecar: &Sidecar<R>,
    file: &(impl ReadAt + ?Sized),
    report: &mut Report,
    work: &Work<'_>,
) -> Result<(), Error> {
    let grid = *sidecar.grid();
    let length = report.file_length;
    let vain = length.saturating_mul(VAIN).saturating_add(REACH);
    let mut search = Search { sidecar, file, length, block: vec![0; grid.block()], vain, work };
    let mut shift = Some(length.wrapping_sub(grid.length) as i64).filter(|shift| *shift != 0);
    let (mut known, mut searched) = (Vec::new(), 0);
    loop {
        if let Some(shift) = shift {
            search.apply(shift, report)?;
            known.push(shift);
        }
        let is_enough = known.len() == MOST_SHIFTS || report.moved.len() >= MOST_GROUPS || search.vain == 0;
        if is_enough || report.fixable().is_ok() {
            return Ok(());
        }
        shift = loop {
            let Some(block) = report.missing.next(searched) else { return Ok(()) };
            let end = block + (STRETCH.0 / u64::from(grid.block)).min(STRETCH.1);
            match search.shift_near(block, end, report, &known)? {
                None => searched = end,
                found => break found,
            }
            if searched >= grid.blocks() {
                return Ok(());
            }
        };
    }
}

struct Search<'a, R, F: ?Sized> {
    sidecar: &'a Sidecar<R>,
    file: &'a F,
    /// The length of the file.
    length: u64,
    block: Vec<u8>,
    /// How many bytes may still be compared in vain.
    vain: u64,
    work: &'a Work<'a>,
}

impl<R: ReadAt, F: ReadAt + ?Sized> Search<'_, R, F> {
    /// Looks for all missing blocks at their places, moved by `shift`.
    fn apply(&mut self, shift: i64, report: &mut Report) -> Result<(), Error> {
        let mut next = report.missing.next(0);
        while let Some(block) = next.filter(|_| report.moved.len() < MOST_GROUPS && self.vain > 0) {
            if self.work.is_stopped() {
                return Err(Error::Stopped);
            }
            let marks = self.sidecar.both_marks(block)?;
            if self.is_at(block, shift, &marks)? {
                report.missing.remove(block);
                match report.moved.last_mut() {
                    Some(last) if last.end == block && last.shift == shift => last.end += 1,
                    _ => report.moved.push(Moved { begin: block, end: block + 1, shift }),
                }
            }
            next = report.missing.next(block + 1);
        }
        report.moved.sort_unstable_by_key(|moved| moved.begin);
        Ok(())
    }

    /// Whether the file has a block with one of these marks `shift` bytes after the place of `block`.
    fn is_at(&mut self, block: u64, shift: i64, marks: &[Mark; 2]) -> Result<bool, Error> {
        let grid = self.sidecar.grid();
        let Some(position) = (block * u64::from(grid.block)).checked_add_signed(shift) else { return Ok(false) };
        if position >= self.length {
            return Ok(false);
        }
        let length = grid.bytes_of(block);
        // Most attempts fail at the sum.
        let window = length.min(WINDOW);
        self.read(window, position)?;
        let sum = weak(&self.block);
        if marks.iter().all(|mark| mark.weak() != sum) {
            return Ok(false);
        }
        self.read(length, position)?;
        let fits = marks.iter().any(|mark| mark.fits(&self.block));
        if !fits {
            self.vain = self.vain.saturating_sub(length as u64);
        }
        Ok(fits)
    }

    /// Reads so many bytes of a block at a position, and fills the block up with zeros.
    fn read(&mut self, length: usize, position: u64) -> Result<(), Error> {
        let read = read_leniently(self.file, &mut self.block[..length], position)?;
        self.block[read..].fill(0);
        Ok(())
    }

    /// Looks for one of the missing blocks from `begin` up to `end` at each offset near their places. Returns its
    /// shift, if it is none of the known ones.
    fn shift_near(&mut self, begin: u64, end: u64, report: &Report, known: &[i64]) -> Result<Option<i64>, Error> {
        let size = u64::from(self.sidecar.grid().block);
        let mut wanted = self.wanted(begin, end, report)?;
        let mut position = (begin * size).saturating_sub(REACH);
        let last = (end * size).saturating_add(REACH).min(self.length);
        let mut piece = vec![0; PIECE + WINDOW];
        while position + WINDOW as u64 <= last && self.vain > 0 {
            if self.work.is_stopped() {
                return Err(Error::Stopped);
            }
            let read = read_leniently(self.file, &mut piece, position)?;
            if read > WINDOW {
                let mut sum = weak(&piece);
                for at in 0..(read - WINDOW).min(PIECE) {
                    if let Some(block) = wanted.get(sum) {
                        let shift = (position + at as u64).wrapping_sub(block * size) as i64;
                        let marks = self.sidecar.both_marks(block)?;
                        if !known.contains(&shift) {
                            if self.is_at(block, shift, &marks)? {
                                return Ok(Some(shift));
                            }
                            wanted.miss(sum);
                        }
                    }
                    sum = roll(sum, piece[at], piece[at + WINDOW]);
                }
            }
            position += PIECE as u64;
        }
        Ok(None)
    }

    /// Collects the sums of the missing blocks from `begin` up to `end`.
    fn wanted(&self, begin: u64, end: u64, report: &Report) -> Result<Wanted, Error> {
        let mut wanted = Wanted::new();
        let mut next = report.missing.next(begin);
        while let Some(block) = next.filter(|block| *block < end) {
            for mark in self.sidecar.both_marks(block)? {
                wanted.add(mark.weak(), block);
            }
            next = report.missing.next(block + 1);
        }
        Ok(wanted)
    }
}

/// Sums of blocks that are looked for.
struct Wanted {
    /// Which sums may be among those that are looked for, by their highest bits.
    filter: Vec<u64>,
    /// The block with this sum; `None` if several blocks have it, such as blocks that begin with zeros. Such blocks
    /// would be found nearly everywhere in some files, and each time only their hash could tell.
    blocks: HashMap<u32, Option<u64>>,
    /// How often a block with this sum was not found.
    misses: HashMap<u32, u32>,
}

impl Wanted {
    const BITS: u32 = 20;

    fn new() -> Self {
        Self { filter: vec![0; 1 << (Self::BITS - 6)], blocks: HashMap::new(), misses: HashMap::new() }
    }

    fn add(&mut self, sum: u32, block: u64) {
        let entry = self.blocks.entry(sum).or_insert(Some(block));
        if *entry != Some(block) {
            *entry = None;
        }
        let bit = sum >> (u32::BITS - Self::BITS);
        self.filter[(bit / 64) as usize] |= 1 << (bit % 64);
    }

    fn get(&self, sum: u32) -> Option<u64> {
        let bit = sum >> (u32::BITS - Self::BITS);
        if self.filter[(bit / 64) as usize] >> (bit % 64) & 1 == 0 {
            return None;
        }
        self.blocks.get(&sum).copied().flatten()
    }

    /// Notes that the block with this sum was not found at a place.
    fn miss(&mut self, sum: u32) {
        let misses = self.misses.entry(sum).or_default();
        *misses += 1;
        if *misses == MOST_MISSES {
            self.blocks.insert(sum, None);
        }
    }
}

/// Reads as much as there is. A sector that the disk cannot read ends the bytes.
fn read_leniently(file: &(impl ReadAt + ?Sized), buffer: &mut [u8], position: u64) -> Result<usize, Error> {
    match read_full_at(file, buffer, position) {
        Err(error) if is_bad_sector(&error) => Ok(0),
        read => read.map_err(Error::Read),
    }
}
