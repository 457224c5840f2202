//! Expands a stream: as a reader of stored bytes, or as a writer of them.

use std::io::{self, Read, Write};

use crate::Table;
use crate::error::step;
use crate::room::Filled;
use crate::unfold::Unfold;
use deadpan_ct::Wiped;

/// How many bytes are read or written at once. For longer writes to files, systems look for huge pages, which can take
/// longer than the write.
const PIECE: usize = 256 << 10;

/// Reads stored bytes from `input`, and gives the data to its own reader. The data are complete only if the reader
/// reaches the end without an error, because the seek table at the end is compared with the frames.
pub struct Expander<R> {
    input: R,
    unfold: Unfold,
    piece: Wiped<Vec<u8>>,
    begin: usize,
    end: usize,
    ended: bool,
    ready: Filled,
    given: usize,
}

impl<R: Read> Expander<R> {
    /// Makes an expander that uses this number of threads, or all cores if the number is 0.
    pub fn new(input: R, threads: usize) -> Self {
        Self {
            input,
            unfold: Unfold::new(threads),
            piece: Wiped::new(vec![0; PIECE]),
            begin: 0,
            end: 0,
            ended: false,
            ready: Filled::default(),
            given: 0,
        }
    }

    /// Returns the lengths of the frames that were found so far.
    pub fn table(&self) -> &Table {
        &self.unfold.table
    }

    /// Returns the input.
    pub fn input(&self) -> &R {
        &self.input
    }

    /// Gets the data of the next frame. Returns false at the end.
    fn refill(&mut self) -> io::Result<bool> {
        while !self.ended && self.unfold.is_hungry() {
            if self.begin == self.end {
                (self.begin, self.end) = (0, 0);
                self.end = match self.input.read(&mut self.piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read?,
                };
                self.ended = self.end == 0;
            }
            self.begin += self.unfold.feed(&self.piece[self.begin..self.end]);
        }
        match self.unfold.next() {
            Some(data) => {
                self.ready = data?;
                self.given = 0;
            }
            None => return self.unfold.finish().map(|()| false),
        }
        Ok(true)
    }
}

impl<R: Read> Read for Expander<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.ready.bytes().len() {
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

/// Takes stored bytes, and writes the data to `output`. The data are complete only if [`ExpandWriter::finish`] returns
/// without an error. If the writer is dropped before, it still writes the data of the frames that are whole.
pub struct ExpandWriter<W: Write> {
    /// `None` after [`ExpandWriter::finish`].
    output: Option<W>,
    unfold: Unfold,
    /// Whether writing to the output has failed. The frame that was not written is lost.
    failed: bool,
}

impl<W: Write> ExpandWriter<W> {
    /// Makes a writer that uses this number of threads, or all cores if the number is 0.
    pub fn new(output: W, threads: usize) -> Self {
        Self { output: Some(output), unfold: Unfold::new(threads), failed: false }
    }

    /// Writes the rest of the data, and returns the output and the lengths of all frames.
    ///
    /// # Errors
    /// A [`Flaw`](crate::Flaw) if the stored bytes are malformed or end too early; another error if writing fails.
    pub fn finish(mut self) -> io::Result<(W, Table)> {
        while self.write_next()? {}
        self.unfold.finish()?;
        let output = self.output.take().ok_or_else(|| io::Error::other("the writer has ended"))?;
        Ok((output, std::mem::take(&mut self.unfold.table)))
    }

    fn write_next(&mut self) -> io::Result<bool> {
        step(
            self,
            |writer| &mut writer.failed,
            |writer| {
                let Some(data) = writer.unfold.next() else { return Ok(false) };
                let data = data?;
                let Some(output) = &mut writer.output else { return Ok(true) };
                data.bytes().chunks(PIECE).try_for_each(|piece| output.write_all(piece)).map(|()| true)
            },
        )
    }
}

impl<W: Write> Write for ExpandWriter<W> {
    fn write(&mut self, stored: &[u8]) -> io::Result<usize> {
        if !self.unfold.is_hungry() && !self.write_next()? && !stored.is_empty() {
            // All data before the flaw were written.
            self.unfold.finish()?;
        }
        Ok(self.unfold.feed(stored))
    }

    /// Flushes the output. Data that still wait for a thread, or for the rest of their frame, are not written.
    fn flush(&mut self) -> io::Result<()> {
        self.output.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl<W: Write> Drop for ExpandWriter<W> {
    fn drop(&mut self) {
        if self.output.is_some() && !std::thread::panicking() {
            while self.write_next().is_ok_and(|is_more| is_more) {}
        }
    }
}
