//! Traits for data that come from many places or go to many places, such as the files of a folder.

use std::io::{self, Read, Write};

use crate::WriteAt;

/// A source provides data in order. The slow part of the work can run on any thread. A folder is an example: one thread
/// at a time decides the order and the lengths of the files, and all threads read the files.
pub trait Source: Send {
    /// The work that is still necessary for the data of one call of [`Source::take`].
    type Rest: Send;

    /// Fills `buffer` with the next data, except for the parts that [`Source::complete`] fills in later. If the data
    /// are shorter than `buffer`, the source has no more data.
    ///
    /// # Errors
    /// If the source cannot provide the data. An error ends the work.
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Taken<Self::Rest>>;

    /// Fills in the parts of `bytes` that `take` did not fill. Any thread may call this function, and several threads
    /// may call it at the same time.
    ///
    /// # Errors
    /// If the data cannot be read.
    fn complete(rest: Self::Rest, bytes: &mut [u8]) -> io::Result<()>;
}

/// The result of [`Source::take`].
#[derive(Debug)]
pub struct Taken<R> {
    /// The number of bytes in the buffer that belong to the data.
    pub length: usize,
    /// Whether the buffer holds the last data.
    pub last: bool,
    /// The work that is still necessary for these data.
    pub rest: R,
}

/// A sink takes data in order. The slow part of the work can run on any thread. A folder is an example: one thread at a
/// time creates the files in order, and all threads write the files.
pub trait Sink: Send {
    /// The work that is still necessary for the data of one call of [`Sink::put`].
    type Rest: Send;

    /// Takes the next data, and returns the work that is still necessary for these data.
    ///
    /// # Errors
    /// If the sink cannot accept the data. An error ends the work.
    fn put(&mut self, bytes: &[u8]) -> io::Result<Self::Rest>;

    /// Does the work on `bytes` that `put` did not do. Any thread may call this function, and several threads may call
    /// it at the same time.
    ///
    /// # Errors
    /// If the data cannot be completed. An error ends the work.
    fn complete(rest: Self::Rest, bytes: &[u8]) -> io::Result<()>;
}

/// An output of the engine, which receives the data in units.
pub(crate) trait Drain: Send {
    type Rest: Send;
    /// Whether the output takes units only in order.
    const ORDERED: bool;

    fn put(&mut self, number: u64, bytes: &[u8]) -> io::Result<Self::Rest>;

    fn complete(rest: Self::Rest, bytes: &[u8]) -> io::Result<()>;
}

/// Uses a sink as an output.
pub(crate) struct Giving<S>(pub(crate) S);

impl<S: Sink> Drain for Giving<S> {
    type Rest = S::Rest;
    const ORDERED: bool = true;

    fn put(&mut self, _number: u64, bytes: &[u8]) -> io::Result<S::Rest> {
        self.0.put(bytes)
    }

    fn complete(rest: S::Rest, bytes: &[u8]) -> io::Result<()> {
        S::complete(rest, bytes)
    }
}

/// Uses a writer as an output. After a write, no work is left.
pub(crate) struct Writing<W>(pub(crate) W);

impl<W: Write + Send> Drain for Writing<W> {
    type Rest = ();
    const ORDERED: bool = true;

    fn put(&mut self, _number: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }

    fn complete((): (), _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// An output that stores each unit at a given position. The position of a unit is known, so no worker waits for an
/// earlier unit.
pub(crate) struct Placing<'o, W> {
    pub(crate) output: &'o W,
    /// The position of the first unit.
    begin: u64,
    unit: u64,
    /// The end of the space that the output was asked to reserve.
    reserved: u64,
}

/// The least number of bytes for which space is reserved in advance.
const AHEAD: u64 = 64 << 20;

impl<'o, W: WriteAt> Placing<'o, W> {
    pub(crate) fn new(output: &'o W, begin: u64, unit: u64) -> Self {
        Self { output, begin, unit, reserved: begin + unit }
    }

    /// Gives back the space that was reserved after the last byte of the output, which ends at `end`.
    pub(crate) fn end(&self, end: u64) -> io::Result<()> {
        if self.reserved > end { self.output.cut(end) } else { Ok(()) }
    }
}

impl<'o, W: WriteAt> Drain for Placing<'o, W> {
    type Rest = (&'o W, u64);
    const ORDERED: bool = false;

    fn put(&mut self, number: u64, _bytes: &[u8]) -> io::Result<Self::Rest> {
        let begin = self.begin + number * self.unit;
        if begin + self.unit > self.reserved {
            // The length of the output is not known, so space is reserved in steps, which grow with the output. Without
            // space, writing will tell.
            self.reserved = begin + (begin / 8).max(AHEAD);
            let _ = self.output.reserve(self.reserved);
        }
        Ok((self.output, begin))
    }

    fn complete((output, position): Self::Rest, bytes: &[u8]) -> io::Result<()> {
        output.write_all_at(bytes, position)
    }
}

/// Makes a reader from a source, or a writer from a sink, on one thread.
pub(crate) struct Alone<T> {
    pub(crate) inner: T,
    pub(crate) ended: bool,
}

impl<S: Source> Read for Alone<S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.ended || buffer.is_empty() {
            return Ok(0);
        }
        let Taken { length, last, rest } = self.inner.take(buffer)?;
        S::complete(rest, &mut buffer[..length])?;
        self.ended = last;
        Ok(length)
    }
}

impl<S: Sink> Write for Alone<S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let rest = self.inner.put(bytes)?;
        S::complete(rest, bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
