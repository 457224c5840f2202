//! Finds frames in stored bytes that come in pieces, and expands the frames on several threads.

use std::io;

use crate::Flaw;
use crate::frame::{Expand, FRAME, longest};
use crate::pool::{Pool, Worker};
use crate::room::{Filled, Rooms};
use crate::split::{Next, Split};
use crate::table::{HEAD, Table};

/// Frames whose data are shorter than this are expanded without a thread if they are the first.
const SHORT: usize = 256 << 10;

pub(crate) struct Unfold {
    pool: Pool<Expanding>,
    split: Split,
    /// The stored bytes of the next frame that came already, or of the table. Only the first `held` bytes count.
    stored: Filled,
    held: usize,
    frames: Rooms,
    data: Rooms,
    pub(crate) table: Table,
    /// The table as the frames require it, after the last frame.
    expected: Option<Vec<u8>>,
    /// What ended the search for frames.
    trouble: Option<io::Error>,
    /// Why a frame could not be expanded.
    failure: Option<io::Error>,
}

/// Makes an error again. A reader that failed fails in the same way when it is called again.
fn again(error: &io::Error) -> io::Error {
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Flaw>()) {
        Some(flaw) => (*flaw).into(),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

impl Unfold {
    pub(crate) fn new(threads: usize) -> Self {
        Self {
            pool: Pool::new(threads, FRAME + longest(FRAME), || Ok(Expanding(Expand::new()?))),
            split: Split::default(),
            stored: Filled::default(),
            held: 0,
            frames: Rooms::default(),
            data: Rooms::default(),
            table: Table::default(),
            expected: None,
            trouble: None,
            failure: None,
        }
    }

    /// Returns whether more stored bytes are needed before a result is taken.
    pub(crate) fn is_hungry(&self) -> bool {
        self.trouble.is_none() && self.pool.is_hungry()
    }

    /// Takes stored bytes, at most until a frame is whole. Returns how many bytes were taken. What is wrong with the
    /// bytes is told after the data before it.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> usize {
        match self.try_feed(bytes) {
            Ok(taken) => taken,
            Err(error) => {
                self.trouble = Some(error);
                bytes.len()
            }
        }
    }

    fn try_feed(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.trouble.is_some() {
            return Ok(bytes.len());
        }
        if let Some(expected) = &self.expected {
            return self.compare(expected.len(), bytes);
        }
        let number = self.table.frames();
        // A frame that came in one piece is not copied twice.
        let mut taken = 0;
        let (stored, length) = loop {
            let found = if self.held == 0 { &bytes[taken..] } else { &self.stored.bytes()[..self.held] };
            match self.split.next(number, found)? {
                Next::Frame { stored, length } => break (stored, length),
                Next::Table => {
                    let expected = self.table.encode();
                    let length = expected.len();
                    self.expected = Some(expected);
                    return Ok(taken + self.compare(length, &bytes[taken..])?);
                }
                Next::More(wanted) => {
                    let missing = wanted - self.held;
                    let given = &bytes[taken..(taken + missing).min(bytes.len())];
                    self.hold(given, wanted);
                    taken += given.len();
                    if given.len() < missing {
                        return Ok(taken);
                    }
                }
            }
        };
        let frame = if self.held == 0 {
            taken += stored;
            let mut frame = self.frames.take(stored, longest(FRAME));
            frame.bytes_mut().copy_from_slice(&bytes[..stored]);
            frame
        } else {
            self.held = 0;
            let mut frame = std::mem::take(&mut self.stored);
            frame.resize(stored);
            frame
        };
        if !self.table.push(stored, length) {
            return Err(Flaw::Short(number.saturating_sub(1)).into());
        }
        let data = self.data.take(length, FRAME);
        self.pool.add(Stored { number, frame, data }, number == 0 && length < SHORT)?;
        Ok(taken)
    }

    /// Adds bytes to the stored bytes, which will be `wanted` bytes or more.
    fn hold(&mut self, bytes: &[u8], wanted: usize) {
        if self.stored.bytes().len() < wanted {
            // A frame that does not come at once is mostly a long frame.
            let room = self.frames.take((2 * wanted).min(longest(FRAME)).max(wanted), longest(FRAME));
            let old = std::mem::replace(&mut self.stored, room);
            self.stored.bytes_mut()[..self.held].copy_from_slice(&old.bytes()[..self.held]);
        }
        self.stored.bytes_mut()[self.held..self.held + bytes.len()].copy_from_slice(bytes);
        self.held += bytes.len();
    }

    /// Compares the bytes of the table with what the frames require. The memory for the table follows from the frames.
    fn compare(&mut self, length: usize, bytes: &[u8]) -> io::Result<usize> {
        let given = &bytes[..bytes.len().min(length - self.held)];
        self.hold(given, length);
        if given.len() < bytes.len() {
            return Err(Flaw::Trailing.into());
        }
        Ok(given.len())
    }

    /// Returns the data of the next frame. Returns `None` if no frame is waiting. Returns no data after a failure.
    pub(crate) fn next(&mut self) -> Option<io::Result<Filled>> {
        if let Some(error) = &self.failure {
            return Some(Err(again(error)));
        }
        let next = self.pool.next()?;
        self.failure = next.as_ref().err().map(again);
        Some(next)
    }

    /// Ends the work after the last byte, when no frame is waiting. Tells what was wrong with the bytes.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        let found = &self.stored.bytes()[..self.held];
        if let Some(expected) = &self.expected
            && found != &expected[..found.len()]
        {
            // With the lengths of other frames, a table still has its form.
            let is_table = found.len() > HEAD && Table::decode(found).is_ok();
            return Err(if is_table { Flaw::OtherFrames } else { Flaw::Table }.into());
        }
        if let Some(error) = &self.trouble {
            return Err(again(error));
        }
        match &self.expected {
            Some(expected) if expected.len() == found.len() => Ok(()),
            _ => Err(Flaw::Truncated.into()),
        }
    }
}

struct Expanding(Expand);

struct Stored {
    number: u64,
    frame: Filled,
    /// A buffer for the data, which has the length that the frame states.
    data: Filled,
}

impl Worker for Expanding {
    type Job = Stored;
    type Done = Filled;

    fn work(&mut self, Stored { number, frame, mut data }: Stored) -> io::Result<Filled> {
        self.0.expand(number, frame.bytes(), data.bytes_mut())?;
        Ok(data)
    }
}
