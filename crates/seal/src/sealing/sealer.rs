//! A writer that seals the bytes written to it.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use crate::floe::{Message, Writer};
use crate::padding;

/// A writer that seals. Call [`Sealer::finish`] at the end: without it the output is cut short, and readers refuse it.
#[must_use = "without `finish` the output is cut short, and refused"]
pub struct Sealer<W> {
    writer: Writer<Arc<Message>, W>,
    written: u64,
    padded: bool,
}

impl<W> fmt::Debug for Sealer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("written", &self.written).finish_non_exhaustive()
    }
}

impl<W: Write> Sealer<W> {
    pub(super) fn new(writer: Writer<Arc<Message>, W>, padded: bool) -> Self {
        Self { writer, written: 0, padded }
    }

    /// Writes the last segment, and returns the inner writer.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self) -> io::Result<W> {
        if self.padded {
            padding::write_padding(self.written, &mut self.writer)?;
        }
        self.writer.finish()
    }
}

impl<W: Write> Write for Sealer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
