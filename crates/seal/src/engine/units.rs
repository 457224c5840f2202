//! Data that are not a file and not a stream, but many things put together or to be taken apart.

use super::file::write_all_at;
use std::fs::File;
use std::io::{self, Read, Write};

/// Something that gives data in order, and leaves the slow part of that to be done by any thread: a folder, whose order and lengths are settled by
/// one, while its files are read by all.
pub trait Source: Send {
    /// What is left to do for some data.
    type Rest: Send;

    /// Fills `buffer`, but for what completing the rest will fill in. Fewer bytes than it has room for are the last.
    ///
    /// # Errors
    /// If there is no going on.
    fn take(&mut self, buffer: &mut [u8]) -> io::Result<Taken<Self::Rest>>;

    /// Completes the data that `take` left in these bytes.
    ///
    /// # Errors
    /// If they cannot be had.
    fn complete(rest: Self::Rest, bytes: &mut [u8]) -> io::Result<()>;
}

/// Data that were taken.
#[derive(Debug)]
pub struct Taken<R> {
    /// How many bytes.
    pub length: usize,
    /// Whether there are no more.
    pub last: bool,
    /// What is left to do.
    pub rest: R,
}

/// Something that takes data in order, and leaves the slow part of that to be done by any thread: a folder, whose files are made by one in order, and
/// written by all.
pub trait Sink: Send {
    /// What is left to do with some data.
    type Rest: Send;

    /// Looks at the next data.
    ///
    /// # Errors
    /// If there is no going on.
    fn put(&mut self, bytes: &[u8]) -> io::Result<Self::Rest>;

    /// Does with them what `put` left.
    ///
    /// # Errors
    /// If there is no going on.
    fn complete(rest: Self::Rest, bytes: &[u8]) -> io::Result<()>;
}

/// Where the engine puts units.
pub(crate) trait Drain: Send {
    type Rest: Send;
    /// Whether units have to come in order.
    const ORDERED: bool;

    fn put(&mut self, number: u64, bytes: &[u8]) -> io::Result<Self::Rest>;

    fn complete(rest: Self::Rest, bytes: &[u8]) -> io::Result<()>;
}

/// A sink.
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

/// A writer, which has done all when it has written.
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

/// A regular file, where each unit has its place: nobody waits for the one before.
pub(crate) struct Placing<'f> {
    pub(crate) file: &'f File,
    /// Where the first unit begins.
    pub(crate) begin: u64,
    pub(crate) unit: u64,
}

impl<'f> Drain for Placing<'f> {
    type Rest = (&'f File, u64);
    const ORDERED: bool = false;

    fn put(&mut self, number: u64, _bytes: &[u8]) -> io::Result<Self::Rest> {
        Ok((self.file, self.begin + number * self.unit))
    }

    fn complete((file, position): Self::Rest, bytes: &[u8]) -> io::Result<()> {
        write_all_at(file, bytes, position)
    }
}

/// A source or a sink as a stream, on one thread.
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
