//! Reads data at any position.

use std::io::{self, Read, Seek, SeekFrom};

use crate::frame::FRAME;
use crate::pieces::read_full;
use crate::{Flaw, FrameExpander, Index, Table};
use deadpan_ct::{Wipe, Wiped};

/// A reader of the data at any position. Expands only the frames that the caller reads.
pub struct SeekExpander<R> {
    input: R,
    index: Index,
    expander: FrameExpander,
    /// The frame whose data are in `data`.
    here: Option<u64>,
    data: Wiped<Vec<u8>>,
    position: u64,
}

impl<R: Read + Seek> SeekExpander<R> {
    /// Reads the seek table at the end of `input`, and checks that it fits the length of `input`.
    ///
    /// # Errors
    /// A [`Flaw`] if the table is malformed; another error if reading fails.
    pub fn new(mut input: R) -> io::Result<Self> {
        let index = Index::read(&mut input)?;
        Ok(Self { input, index, expander: FrameExpander::new()?, here: None, data: Wiped::default(), position: 0 })
    }

    /// Returns the lengths of all frames. They are checked only when a frame is expanded.
    pub fn table(&self) -> &Table {
        self.index.table()
    }

    /// Returns the length of the data.
    pub fn length(&self) -> u64 {
        self.table().length()
    }

    /// Moves the position to the end of the current frame, and returns the new position.
    pub fn skip_frame(&mut self) -> u64 {
        self.position = (self.position / FRAME as u64 + 1).saturating_mul(FRAME as u64).min(self.length());
        self.position
    }

    /// Expands the frame with this number.
    fn go_to(&mut self, number: u64) -> io::Result<()> {
        if self.here == Some(number) {
            return Ok(());
        }
        self.here = None;
        let range = self.index.stored(number).ok_or(Flaw::OtherFrames)?;
        let mut frame = Wiped::new(vec![0; (range.end - range.start) as usize]);
        self.input.seek(SeekFrom::Start(range.start))?;
        if read_full(&mut self.input, &mut frame)? < frame.len() {
            return Err(Flaw::Truncated.into());
        }
        let length = self.index.length(number);
        if self.data.len() != length {
            self.data = Wiped::new(vec![0; length]);
        }
        self.expander.expand(number, &frame, &mut self.data).inspect_err(|_| self.data.wipe())?;
        self.here = Some(number);
        Ok(())
    }
}

impl<R: Read + Seek> Read for SeekExpander<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.length().saturating_sub(self.position);
        if left == 0 || buffer.is_empty() {
            return Ok(0);
        }
        self.go_to(self.position / FRAME as u64)?;
        let here = &self.data[(self.position % FRAME as u64) as usize..];
        let length = buffer.len().min(here.len());
        buffer[..length].copy_from_slice(&here[..length]);
        self.position += length as u64;
        Ok(length)
    }
}

impl<R: Read + Seek> Seek for SeekExpander<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::Start(to) => Some(to),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => self.length().checked_add_signed(by),
        };
        self.position = to.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
