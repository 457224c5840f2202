//! Where frames lie in stored bytes.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use crate::Flaw;
use crate::frame::{Expand, FRAME};
use crate::split::{Next, Split};
use crate::table::{FOOT, Table};

/// A seek table that fits the length of the stored bytes. The frames themselves are checked only when they are
/// expanded.
pub struct Index {
    table: Table,
    /// Where each frame begins in the stored bytes, and where the last frame ends.
    begins: Vec<u64>,
}

impl Index {
    /// Reads the seek table at the end of `input`.
    ///
    /// # Errors
    /// A [`Flaw`] if the table is malformed; another error if reading fails.
    pub fn read(mut input: impl Read + Seek) -> io::Result<Self> {
        let end = input.seek(SeekFrom::End(0))?;
        let mut foot = [0; FOOT];
        input.seek(SeekFrom::Start(end.checked_sub(FOOT as u64).ok_or(Flaw::Truncated)?))?;
        input.read_exact(&mut foot)?;
        let length = Table::bytes_for(Table::frames_in(&foot)?);
        let begin = end.checked_sub(length).ok_or(Flaw::Table)?;
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| Flaw::Table)?];
        input.seek(SeekFrom::Start(begin))?;
        input.read_exact(&mut bytes)?;
        let table = Table::decode(&bytes)?;
        let mut begins = Vec::with_capacity(table.stored_lengths().len() + 1);
        begins.push(0);
        let mut sum = 0;
        begins.extend(table.stored_lengths().iter().map(|&stored| {
            sum += u64::from(stored);
            sum
        }));
        if sum != begin {
            return Err(Flaw::Table.into());
        }
        Ok(Self { table, begins })
    }

    /// Returns the lengths of all frames.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Returns the position of a frame in the stored bytes, or `None` if there is no such frame.
    #[must_use]
    pub fn stored(&self, number: u64) -> Option<Range<u64>> {
        let number = usize::try_from(number).ok()?;
        Some(*self.begins.get(number)?..*self.begins.get(number + 1)?)
    }

    /// Returns the length of the data in a frame.
    #[must_use]
    pub fn length(&self, number: u64) -> usize {
        let begin = number.saturating_mul(FRAME as u64);
        self.table.length().saturating_sub(begin).min(FRAME as u64) as usize
    }

    /// Returns the length of the longest frame.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.table.stored_lengths().iter().max().map_or(0, |&length| length as usize)
    }
}

/// Expands single frames.
pub struct FrameExpander(Expand);

impl FrameExpander {
    /// Makes an expander.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new() -> io::Result<Self> {
        Expand::new().map(Self)
    }

    /// Expands the frame with this number into `data`, which must be as long as the data of the frame. `frame` holds
    /// the bytes that belong to the frame according to the index.
    ///
    /// # Errors
    /// If the frame is malformed, or another frame than the index tells.
    pub fn expand(&mut self, number: u64, frame: &[u8], data: &mut [u8]) -> Result<(), Flaw> {
        match Split::default().next(number, frame)? {
            Next::Frame { stored, length } if stored == frame.len() && length == data.len() => {}
            _ => return Err(Flaw::OtherFrames),
        }
        self.0.expand(number, frame, data)
    }
}
