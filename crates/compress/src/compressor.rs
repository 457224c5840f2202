//! Compresses a stream: as a reader of data, or as a writer of them.

use std::io::{self, Read, Write};

use crate::fill::fill;
use crate::fold::{FIRST, Fold};
use crate::room::Filled;
use crate::{FRAME, Level, Table};
use deadpan_ct::Wiped;

/// Reads data from `input`, and gives the stored bytes to its own reader. The stored bytes depend only on the data, the
/// level and the number of threads.
pub struct Compressor<R> {
    input: R,
    fold: Fold,
    begun: bool,
    ended: bool,
    finished: bool,
    failed: bool,
    ready: Filled,
    given: usize,
}

impl<R: Read> Compressor<R> {
    /// Makes a compressor that uses this number of threads, or all cores if the number is 0.
    pub fn new(input: R, level: Level, threads: usize) -> Self {
        let fold = Fold::new(level, threads);
        Self {
            input,
            fold,
            begun: false,
            ended: false,
            finished: false,
            failed: false,
            ready: Filled::default(),
            given: 0,
        }
    }

    /// Returns the lengths of the frames that the reader has got so far.
    pub fn table(&self) -> &Table {
        &self.fold.table
    }

    /// Reads the data of the next frame. The result is shorter than a frame only at the end of the input.
    fn take(&mut self) -> io::Result<Filled> {
        let mut buffer = if self.begun { self.fold.room() } else { Wiped::new(vec![0; FIRST]) };
        let mut length = fill(&mut self.input, &mut buffer)?;
        if !self.begun && length == FIRST {
            buffer = widened(&buffer);
            length += fill(&mut self.input, &mut buffer[FIRST..])?;
        }
        self.begun = true;
        self.ended = length < buffer.len();
        Ok(Filled { buffer, length })
    }

    /// Gets the next frame, or the table after the last frame. Returns false after the table. After a failure, data may
    /// be lost, so all later calls fail, too.
    fn refill(&mut self) -> io::Result<bool> {
        if self.failed {
            return Err(io::Error::other("compressing failed before"));
        }
        self.failed = true;
        let is_more = self.try_refill()?;
        self.failed = false;
        Ok(is_more)
    }

    fn try_refill(&mut self) -> io::Result<bool> {
        while !self.ended && self.fold.is_hungry() {
            let is_first = !self.begun;
            let data = self.take()?;
            if data.length > 0 {
                self.fold.add(data, is_first && self.ended)?;
            }
        }
        self.given = 0;
        let next = self.fold.next()?;
        self.fold.give_back(std::mem::take(&mut self.ready));
        match next {
            Some(frame) => self.ready = frame,
            None if self.finished => return Ok(false),
            None => (self.ready, self.finished) = (self.fold.finish(), true),
        }
        Ok(true)
    }
}

/// Copies the first bytes of a frame into a buffer for a whole frame.
fn widened(first: &[u8]) -> Wiped<Vec<u8>> {
    let mut data = Wiped::new(vec![0; FRAME]);
    data[..first.len()].copy_from_slice(first);
    data
}

impl<R: Read> Read for Compressor<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.length {
            if buffer.is_empty() || !self.refill()? {
                return Ok(0);
            }
        }
        let ready = &self.ready.bytes()[self.given..];
        let length = buffer.len().min(ready.len());
        buffer[..length].copy_from_slice(&ready[..length]);
        self.given += length;
        Ok(length)
    }
}

/// Takes data, and writes the stored bytes to `output`. The stored bytes are complete only after
/// [`CompressWriter::finish`].
pub struct CompressWriter<W> {
    output: W,
    fold: Fold,
    data: Wiped<Vec<u8>>,
    held: usize,
    /// Whether a step failed. Data may be lost then.
    failed: bool,
}

impl<W: Write> CompressWriter<W> {
    /// Makes a writer that uses this number of threads, or all cores if the number is 0.
    pub fn new(output: W, level: Level, threads: usize) -> Self {
        Self { output, fold: Fold::new(level, threads), data: Wiped::default(), held: 0, failed: false }
    }

    /// Returns the output.
    pub fn output_mut(&mut self) -> &mut W {
        &mut self.output
    }

    /// Writes the rest of the stored bytes, and returns the output and the lengths of all frames.
    ///
    /// # Errors
    /// If writing fails, or if the data are longer than 64 TiB.
    pub fn finish(mut self) -> io::Result<(W, Table)> {
        if self.failed {
            return Err(io::Error::other("compressing failed before"));
        }
        if self.held > 0 {
            let data = Filled { buffer: std::mem::take(&mut self.data), length: self.held };
            let is_alone = self.fold.table.frames() == 0;
            self.add(data, is_alone)?;
        }
        while self.write_next()? {}
        let table = self.fold.finish();
        self.output.write_all(table.bytes())?;
        Ok((self.output, self.fold.table))
    }

    fn add(&mut self, data: Filled, alone: bool) -> io::Result<()> {
        while !self.fold.is_hungry() {
            self.write_next()?;
        }
        self.fold.add(data, alone)
    }

    fn write_next(&mut self) -> io::Result<bool> {
        match self.fold.next()? {
            Some(frame) => {
                self.output.write_all(frame.bytes())?;
                self.fold.give_back(frame);
                Ok(true)
            }
            None => Ok(false),
        }
    }
}

impl<W: Write> Write for CompressWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.failed {
            return Err(io::Error::other("compressing failed before"));
        }
        if self.held == self.data.len() {
            match self.held {
                FIRST => self.data = widened(&self.data),
                0 => self.data = Wiped::new(vec![0; FIRST]),
                _ => {
                    let buffer = std::mem::replace(&mut self.data, self.fold.room());
                    self.held = 0;
                    self.failed = true;
                    self.add(Filled { buffer, length: FRAME }, false)?;
                    self.failed = false;
                }
            }
        }
        let length = data.len().min(self.data.len() - self.held);
        self.data[self.held..self.held + length].copy_from_slice(&data[..length]);
        self.held += length;
        Ok(length)
    }

    /// Flushes the output. Data that still wait for the rest of their frame are not written.
    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
