//! Extracts a part from a picture.

use std::convert::Infallible;

use super::imp::{self, Course, LINES, Level, Line, Values};
use super::places::{self, Places};
use super::shares::Shares;
use super::{Bits, Found, LINE, data};
use crate::Pixels;
use crate::pixels::one_channel;

/// Extracts the found part into the buffer `part`, which must have the length of the part. `threads` is the number of
/// threads that work on the picture. The caller must compare the checksum of the part.
///
/// # Panics
///
/// Panics if `part` does not have the length in the label, or if `found` comes from a larger picture. [`Found::fits`]
/// checks whether the picture is large enough.
pub fn extract(pixels: &Pixels, found: &Found, part: &mut [u8], threads: usize) {
    extract_with(Level::detect(), pixels, found, part, threads);
}

/// Extracts with a given back end.
pub(super) fn extract_with(level: Level, pixels: &Pixels, found: &Found, part: &mut [u8], threads: usize) {
    assert_eq!(found.label.length as usize, part.len(), "the buffer has the length of the part");
    if part.is_empty() {
        return;
    }
    let gray = found.gray_in_color.then(|| one_channel(&pixels.samples));
    let lines = data(gray.as_ref().unwrap_or(&pixels.samples), found.doors).as_chunks::<LINE>().0;
    let task = ExtractTask::new(level, found, lines.len() as u64);
    let many = part.len().div_ceil(threads.max(1)).next_multiple_of(LEAST);
    if many >= part.len() {
        let Ok(()) = task.extract(0, part, lines);
        return;
    }
    std::thread::scope(|scope| {
        for (piece, at) in part.chunks_mut(many).zip(0..) {
            let task = &task;
            scope.spawn(move || {
                let Ok(()) = task.extract(at * many as u64, piece, lines);
            });
        }
    });
}

/// The minimum number of bytes that a thread extracts.
const LEAST: usize = 1 << 16;

/// The data lines of a picture (groups of 64 samples), in memory or in a file.
pub(super) trait Lines {
    type Error;

    /// Returns `count` lines, beginning with line `first`: at most [`LINES`] lines, and all of them must be in the
    /// picture.
    fn read(&mut self, first: u64, count: usize) -> Result<&[Line], Self::Error>;
}

impl Lines for &[Line] {
    type Error = Infallible;

    fn read(&mut self, first: u64, count: usize) -> Result<&[Line], Infallible> {
        Ok(&self[first as usize..][..count])
    }
}

/// Extracts pieces of a part.
#[derive(Debug)]
pub(super) struct ExtractTask {
    level: Level,
    bits: Bits,
    length: u64,
    shares: Shares,
    places: Places,
    mask: blake3::OutputReader,
}

impl ExtractTask {
    /// Prepares to extract a part from a picture with `lines` data lines. The part must not be empty.
    ///
    /// # Panics
    ///
    /// Panics if the picture has no room for the part.
    pub(super) fn new(level: Level, found: &Found, lines: u64) -> Self {
        let length = u64::from(found.label.length);
        let values = (length * 8).div_ceil(u64::from(found.bits.get()));
        assert!(values <= lines * LINE as u64, "the picture has room for the part");
        Self {
            level,
            bits: found.bits,
            length,
            shares: Shares::new(found.order, values, lines),
            places: Places::new(found.order, &found.set_key, &found.seed),
            mask: places::mask(&found.set_key, &found.seed),
        }
    }

    /// Returns the length of the part.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Extracts the bytes of the part, beginning with byte `first`.
    pub(super) fn extract<L: Lines>(&self, first: u64, piece: &mut [u8], mut picture: L) -> Result<(), L::Error> {
        if piece.is_empty() {
            return Ok(());
        }
        let (mut mask, mut stream) = (self.mask.clone(), self.places.choices());
        let bits = u64::from(self.bits.get());
        let end = first + piece.len() as u64;
        mask.set_position(first);
        mask.fill(piece);

        let mut line = self.shares.line(first * 8 / bits);
        let last = self.shares.line((end * 8 - 1) / bits);
        let mut bit = self.shares.first(line) * bits;
        let mut walk = self.shares.from(line);
        let mut values: Values = [0; size_of::<Values>()];
        let mut choices = [[0; 2]; LINES];
        while line <= last {
            let count = (last - line + 1).min(LINES as u64) as usize;
            let choices = &mut choices[..count];
            stream.choose(line, choices);
            let lines = picture.read(line, count)?;
            let mut course = Course { bits: self.bits.count(), at: (bit % 8) as usize, walk };
            imp::extract(self.level, lines, &mut values, &mut course, &self.places.table, choices);
            // Bytes before `first`, and a last byte of which some bits are still missing, are not extracted.
            let start = bit / 8;
            let complete = course.at / 8 + usize::from(line + count as u64 > last);
            let skip = first.saturating_sub(start) as usize;
            let length = complete.min(end.saturating_sub(start) as usize);
            if skip < length {
                let at = (start + skip as u64 - first) as usize;
                let target = &mut piece[at..at + length - skip];
                target.iter_mut().zip(&values[skip..length]).for_each(|(byte, value)| *byte ^= value);
            }
            values[0] = values[course.at / 8];
            bit = start * 8 + course.at as u64;
            line += count as u64;
            walk = course.walk;
        }
        Ok(())
    }
}
