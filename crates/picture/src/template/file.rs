//! Parts of templates that lie in files without compression: samples are read only where they are needed.

use std::fs::File;
use std::io;

use super::extract::{Lines, Task};
use super::imp::{LINES, Level, Line};
use super::stored::Stored;
use super::{DOOR_LINES, Found, LINE, SEED_LINES, capacity};
use crate::Opened;
use crate::carrier::Buffers;

/// A template whose part is read at any position.
#[derive(Debug)]
pub struct Template {
    stored: Stored,
    /// `None` if the part is empty.
    task: Option<Task>,
    /// The first sample of the data lines.
    first: u64,
}

/// Prepares to read a part at any position, for a [`Reader`](crate::Reader): from a PNG file without compression, as
/// [`Compression::Stored`](crate::Compression::Stored) makes them. Gives the file back if it is another kind of
/// picture, or is smaller than the one that was found; then decode it, and [`extract`](fn@super::extract) the part.
///
/// # Errors
///
/// The file.
pub fn open(file: File, found: &Found) -> Result<Opened, File> {
    if found.gray_in_color {
        return Err(file);
    }
    let stored = Stored::open(file)?;
    let room = capacity(stored.samples(), found.bits, found.doors - 1);
    if u64::from(found.label.length) > room {
        return Err(stored.into_file());
    }
    let first = ((SEED_LINES + DOOR_LINES * found.doors) * LINE) as u64;
    let lines = (stored.samples() / LINE as u64).saturating_sub(first / LINE as u64);
    let task = (found.label.length > 0).then(|| Task::new(Level::detect(), found, lines));
    Ok(Opened::Template(Box::new(Template { stored, task, first })))
}

impl Template {
    /// Fills `buffer` from a position of the part.
    pub(crate) fn read(&self, buffer: &mut [u8], at: u64, buffers: &Buffers) -> io::Result<()> {
        let length = self.task.as_ref().map_or(0, Task::length);
        if at.checked_add(buffer.len() as u64).is_none_or(|end| end > length) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let Some(task) = &self.task else { return Ok(()) };
        buffers.with(|samples| {
            buffers.with(|room| {
                let lines = FileLines { template: self, samples, room, first: 0 };
                task.extract(at, buffer, lines)
            })
        })
    }
}

/// How many lines are read at once. They stay in the core's cache.
const STEP: u64 = 4 * LINES as u64;

/// Reads lines from the file.
struct FileLines<'a> {
    template: &'a Template,
    /// The lines that were read.
    samples: &'a mut Vec<u8>,
    /// Memory for the bytes of the file.
    room: &'a mut Vec<u8>,
    /// The number of the first of the lines that were read.
    first: u64,
}

impl Lines for FileLines<'_> {
    type Error = io::Error;

    fn read(&mut self, first: u64, count: usize) -> io::Result<&[Line]> {
        let there = (self.samples.len() / LINE) as u64;
        if first < self.first || first + count as u64 > self.first + there {
            let Template { stored, first: before, .. } = self.template;
            let all = (stored.samples() - before) / LINE as u64;
            self.samples.resize((all - first).min(STEP) as usize * LINE, 0);
            stored.read(before + first * LINE as u64, self.samples, self.room)?;
            self.first = first;
        }
        let from = (first - self.first) as usize;
        Ok(&self.samples.as_chunks::<LINE>().0[from..from + count])
    }
}
