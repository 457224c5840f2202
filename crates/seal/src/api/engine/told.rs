//! Calls the callbacks of [`Work`] for data that are compressed before, or expanded after, the engine.

use std::io::{self, Read, Write};

use crate::{Error, Work};

/// A reader or writer of plain data that reports the progress, and ends the work if the caller wants to stop.
pub(crate) struct Told<'w, T> {
    pub(crate) inner: T,
    pub(crate) work: &'w Work<'w>,
}

impl<T> Told<'_, T> {
    fn passed(&self, bytes: usize) -> io::Result<()> {
        self.work.progress.inspect(|progress| progress(bytes as u64));
        if self.work.stop.is_some_and(|stop| stop()) { Err(Error::Stopped.into_io()) } else { Ok(()) }
    }
}

impl<R: Read> Read for Told<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.passed(read).map(|()| read)
    }
}

impl<W: Write> Write for Told<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.passed(written).map(|()| written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
