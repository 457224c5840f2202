//! Compresses a stream: as a reader of data, or as a writer of them.

use std::io::{self, Read, Write};

use crate::error::step;
use crate::fold::{FIRST, Fold, Frame};
use crate::frame::{Stretch, stretch};
use crate::pieces::{Feed, Input, widened};
use crate::room::Filled;
use crate::{Level, Table};

/// Reads data from `input`, and gives the stored bytes to its own reader. The stored bytes depend only on the data and
/// the level.
pub struct Compressor<R> {
    input: R,
    feed: Feed,
}

impl<R: Read> Compressor<R> {
    /// Makes a compressor that uses this number of threads, or all cores if the number is 0.
    pub fn new(input: R, level: Level, threads: usize) -> Self {
        Self { input, feed: Feed::new(level, threads) }
    }

    /// Returns the lengths of the frames that the reader has got so far.
    pub fn table(&self) -> &Table {
        self.feed.table()
    }
}

impl<R: Read> Read for Compressor<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (length, rest) = self.feed.take(Input::Reader(&mut self.input), buffer)?;
        rest.complete(&mut buffer[..length]).map(|()| length)
    }
}

/// Takes data, and writes the stored bytes to `output`. The stored bytes are complete only after
/// [`CompressWriter::finish`].
pub struct CompressWriter<W> {
    output: W,
    fold: Fold,
    data: Filled,
    held: usize,
    /// Whether a frame was added.
    begun: bool,
    /// Whether a step failed. Data may be lost then.
    failed: bool,
}

impl<W: Write> CompressWriter<W> {
    /// Makes a writer that uses this number of threads, or all cores if the number is 0.
    pub fn new(output: W, level: Level, threads: usize) -> Self {
        let fold = Fold::new(level, threads);
        Self { output, fold, data: Filled::default(), held: 0, begun: false, failed: false }
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
        step(&mut self, |writer| &mut writer.failed, Self::try_finish)?;
        Ok((self.output, self.fold.table))
    }

    fn try_finish(&mut self) -> io::Result<()> {
        if self.held > 0 {
            let mut data = std::mem::take(&mut self.data);
            data.resize(self.held);
            self.add(data)?;
        }
        while self.write_next()? {}
        self.output.write_all(&self.fold.table.encode())
    }

    fn add(&mut self, data: Filled) -> io::Result<()> {
        while !self.fold.is_hungry() {
            self.write_next()?;
        }
        let is_alone = !self.begun && data.bytes().len() <= FIRST;
        self.begun = true;
        self.fold.add(data, is_alone)
    }

    fn write_next(&mut self) -> io::Result<bool> {
        let Some((frame, stored)) = self.fold.next()? else { return Ok(false) };
        match frame {
            Frame::Compressed(frame) => self.output.write_all(frame.bytes())?,
            Frame::Stored(data) => {
                let (data, mut at) = (data.bytes(), 0);
                while at < stored {
                    let range = match stretch(data.len(), at) {
                        Stretch::Header(header, range) => self.output.write_all(&header[range.clone()]).map(|()| range),
                        Stretch::Data(range) => self.output.write_all(&data[range.clone()]).map(|()| range),
                    };
                    at += range?.len();
                }
            }
            Frame::There(_) => return Err(io::Error::other("data without a place")),
        }
        Ok(true)
    }

    /// Takes data until the buffer is full.
    fn hold(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.held == self.data.room() {
            match self.held {
                FIRST => self.data = widened(&self.fold, &self.data),
                0 => self.data = self.fold.room(FIRST),
                length => {
                    let full = std::mem::take(&mut self.data);
                    self.held = 0;
                    self.add(full)?;
                    self.data = self.fold.room(length);
                }
            }
        }
        let length = data.len().min(self.data.room() - self.held);
        self.data.bytes_mut()[self.held..self.held + length].copy_from_slice(&data[..length]);
        self.held += length;
        Ok(length)
    }
}

impl<W: Write> Write for CompressWriter<W> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        step(self, |writer| &mut writer.failed, |writer| writer.hold(data))
    }

    /// Flushes the output. Data that still wait for the rest of their frame are not written.
    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
