//! Takes a part out of a picture.

use super::imp::{self, Course, LINES, Level, Line, Values};
use super::places::{self, Places};
use super::shares::Shares;
use super::{Bits, Found, LINE, data};
use crate::Pixels;
use crate::pixels::one_channel;

/// Extracts the part that was found into `part`, which has the length of the part. `threads` is how many threads work
/// on the picture. The caller compares the checksum.
///
/// # Panics
///
/// Panics if `part` does not have the length that the label tells, or if `found` comes from a larger picture:
/// [`Found::fits`] tells.
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
    let values = (part.len() as u64 * 8).div_ceil(u64::from(found.bits.get()));
    assert!(values <= (lines.len() * LINE) as u64, "the picture has room for the part");
    let task = Task {
        level,
        bits: found.bits,
        lines,
        shares: Shares::new(found.order, values, lines.len() as u64),
        places: Places::new(found.order, &found.set_key, &found.seed),
        mask: places::mask(&found.set_key, &found.seed),
    };
    let many = part.len().div_ceil(threads.max(1)).next_multiple_of(LEAST);
    if many >= part.len() {
        return task.extract(0, part);
    }
    std::thread::scope(|scope| {
        for (piece, at) in part.chunks_mut(many).zip(0..) {
            let task = task.clone();
            scope.spawn(move || task.extract(at * many as u64, piece));
        }
    });
}

/// The fewest bytes that a thread extracts.
const LEAST: usize = 1 << 16;

/// Extracts pieces of a part.
#[derive(Clone)]
struct Task<'a> {
    level: Level,
    bits: Bits,
    lines: &'a [Line],
    shares: Shares,
    places: Places,
    mask: blake3::OutputReader,
}

impl Task<'_> {
    /// Extracts the bytes of the part from `first` on.
    fn extract(mut self, first: u64, piece: &mut [u8]) {
        let bits = u64::from(self.bits.get());
        let end = first + piece.len() as u64;
        self.mask.set_position(first);
        self.mask.fill(piece);

        let mut line = self.shares.line(first * 8 / bits);
        let last = self.shares.line((end * 8 - 1) / bits);
        let mut bit = self.shares.first(line) * bits;
        let mut walk = self.shares.from(line);
        let mut values: Values = [0; size_of::<Values>()];
        let mut choices = [[0; 2]; LINES];
        while line <= last {
            let count = (last - line + 1).min(LINES as u64) as usize;
            let choices = &mut choices[..count];
            self.places.choose(line, choices);
            let lines = &self.lines[line as usize..][..count];
            let mut course = Course { bits: self.bits.count(), at: (bit % 8) as usize, walk };
            imp::extract(self.level, lines, &mut values, &mut course, &self.places.table, choices);
            // Bytes of other pieces and the byte that is not yet complete are left out.
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
    }
}
