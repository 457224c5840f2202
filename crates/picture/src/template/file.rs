//! Reads parts of templates in files without compression. Only the needed samples are read.

use std::fs::File;
use std::io;

use super::extract::{ExtractTask, Lines};
use super::imp::{LINES, Level, Line};
use super::stored::Stored;
use super::{Found, LINE, data_lines, first_data_line};
use crate::Opened;
use crate::carrier::Buffers;

/// A template whose part can be read at any position.
#[derive(Debug)]
pub struct Template {
    stored: Stored,
    /// `None` if the part is empty.
    task: Option<ExtractTask>,
    /// The number of lines before the data lines, and the number of data lines.
    first: u64,
    lines: u64,
}

/// Prepares to read a part at any position, for a [`Reader`](crate::Reader), from a PNG file without compression:
/// [`Compression::Stored`](crate::Compression::Stored) writes this kind of file. Returns the file as an error if it is
/// another kind of picture, or if it has fewer samples than the picture in which `found` was found. If the file is
/// returned, decode the picture, and use [`extract`](fn@super::extract).
///
/// # Errors
///
/// The file, if its part cannot be read in this way.
pub fn open(file: File, found: &Found) -> Result<Opened, File> {
    if found.gray_in_color {
        return Err(file);
    }
    let stored = Stored::open(file)?;
    if !found.fits_in(stored.samples()) {
        return Err(stored.into_file());
    }
    let lines = data_lines(stored.samples(), found.doors);
    let task = (found.label.length > 0).then(|| ExtractTask::new(Level::detect(), found, lines));
    Ok(Opened::Template(Box::new(Template { task, first: first_data_line(found.doors), lines, stored })))
}

impl Template {
    pub(crate) fn read(&self, buffer: &mut [u8], at: u64, buffers: &Buffers) -> io::Result<()> {
        let length = self.task.as_ref().map_or(0, ExtractTask::length);
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

/// The number of lines that are read at once. This number of lines fits into the cache of a CPU core.
const STEP: u64 = 4 * LINES as u64;

/// Reads lines from the file.
struct FileLines<'a> {
    template: &'a Template,
    /// The data lines that were read.
    samples: &'a mut Vec<u8>,
    /// Memory for the bytes of the file.
    room: &'a mut Vec<u8>,
    /// The number of the first line in the buffer.
    first: u64,
}

impl Lines for FileLines<'_> {
    type Error = io::Error;

    fn read(&mut self, first: u64, count: usize) -> io::Result<&[Line]> {
        let there = (self.samples.len() / LINE) as u64;
        if first < self.first || first + count as u64 > self.first + there {
            let Template { stored, first: before, lines, .. } = self.template;
            self.samples.resize((lines - first).min(STEP) as usize * LINE, 0);
            stored.read((before + first) * LINE as u64, self.samples, self.room)?;
            self.first = first;
        }
        let from = (first - self.first) as usize;
        Ok(&self.samples.as_chunks::<LINE>().0[from..from + count])
    }
}
