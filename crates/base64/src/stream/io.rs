//! Streams over `Read` and `Write`.
//!
//! ```
//! use deadpan_base64::{STANDARD, stream::io::{DecodeReader, EncodeWriter}};
//! use std::io::{Read, Write};
//!
//! let mut writer = EncodeWriter::new(STANDARD, Vec::new());
//! writer.write_all(b"straight face")?;
//! let text = writer.finish()?;
//!
//! let mut bytes = Vec::new();
//! DecodeReader::new(STANDARD, text.as_slice()).read_to_end(&mut bytes)?;
//! assert_eq!(bytes, b"straight face");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::boxed::Box;
use std::io::{self, Read, Write};

use super::{BLOCK, Decoder, Encoder};
use crate::{Base64, Error};
use deadpan_ct::{Wipe, Wiped};

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = if error == Error::Invalid { io::ErrorKind::InvalidData } else { io::ErrorKind::InvalidInput };
        Self::new(kind, error)
    }
}

/// The inner writer. Once it has failed, nothing more is written: its output is incomplete, and a second try would
/// leave a gap in the text.
struct Sink<W> {
    inner: W,
    failed: bool,
}

impl<W: Write> Sink<W> {
    fn new(inner: W) -> Self {
        Self { inner, failed: false }
    }

    /// Fails if the inner writer has failed before.
    fn check(&self) -> io::Result<()> {
        if self.failed {
            Err(io::Error::other("an earlier write failed, so the output is not complete"))
        } else {
            Ok(())
        }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let result = self.inner.write_all(bytes);
        self.failed = result.is_err();
        result
    }

    fn finish(mut self, bytes: &[u8]) -> io::Result<W> {
        self.check()?;
        self.put(bytes)?;
        self.inner.flush()?;
        Ok(self.inner)
    }
}

/// Shows neither the data nor the inner reader or writer, since logs are public.
macro_rules! closed {
    ($($name:ident)*) => { $(
        impl<T> core::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )* };
}
closed!(EncodeWriter DecodeWriter EncodeReader DecodeReader);

/// A writer that encodes the bytes written to it. Call [`finish`](EncodeWriter::finish): without it, the end of the
/// text is missing. The inner writer must block: after a failure, its output is incomplete, and every further call
/// fails too.
#[must_use = "the end is missing until `finish` is called"]
pub struct EncodeWriter<W> {
    encoder: Box<Encoder>,
    sink: Sink<W>,
}

impl<W: Write> EncodeWriter<W> {
    /// Makes a writer that writes to `inner`.
    pub fn new(codec: Base64, inner: W) -> Self {
        Self { encoder: Box::new(Encoder::new(codec)), sink: Sink::new(inner) }
    }

    /// Writes the rest, flushes, and returns the inner writer.
    ///
    /// # Errors
    /// If the inner writer fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.sink.finish(self.encoder.finish().as_bytes())
    }
}

impl<W: Write> Write for EncodeWriter<W> {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.sink.check()?;
        let (taken, symbols) = self.encoder.push(input);
        self.sink.put(symbols.as_bytes())?;
        Ok(taken)
    }

    /// Flushes the inner writer. Symbols that wait for more bytes are not written.
    fn flush(&mut self) -> io::Result<()> {
        self.sink.inner.flush()
    }
}

/// A writer that decodes the symbols written to it. Call [`finish`](DecodeWriter::finish): without it, the end of the
/// data is missing and not checked. The inner writer must block: after a failure, its output is incomplete, and every
/// further call fails too.
#[must_use = "the end is missing until `finish` is called"]
pub struct DecodeWriter<W> {
    decoder: Box<Decoder>,
    sink: Sink<W>,
}

impl<W: Write> DecodeWriter<W> {
    /// Makes a writer that writes to `inner`.
    pub fn new(codec: Base64, inner: W) -> Self {
        Self { decoder: Box::new(Decoder::new(codec)), sink: Sink::new(inner) }
    }

    /// Checks and writes the rest, flushes, and returns the inner writer.
    ///
    /// # Errors
    /// If the text is not valid (`InvalidData`), or if the inner writer fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.sink.finish(self.decoder.finish()?)
    }
}

impl<W: Write> Write for DecodeWriter<W> {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.sink.check()?;
        let mut taken = 0;
        // A call may decode a full block without taking input. `Ok(0)` would mean that the writer accepts no more
        // input.
        while taken == 0 && !input.is_empty() {
            let (more, bytes) = self.decoder.push(input)?;
            self.sink.put(bytes)?;
            taken = more;
        }
        Ok(taken)
    }

    /// Flushes the inner writer. Bytes that wait for more symbols are not written.
    fn flush(&mut self) -> io::Result<()> {
        self.sink.inner.flush()
    }
}

/// The buffers of a reader: input that is not used yet, and output that is not returned yet.
struct Buffers {
    input: Wiped<[u8; BLOCK]>,
    used: usize,
    read: usize,
    output: Wiped<[u8; BLOCK]>,
    given: usize,
    made: usize,
    ended: bool,
}

impl Buffers {
    fn new() -> Box<Self> {
        let empty = || Wiped::new([0; BLOCK]);
        Box::new(Self { input: empty(), used: 0, read: 0, output: empty(), given: 0, made: 0, ended: false })
    }

    /// Stores `bytes` to be returned.
    fn keep(&mut self, bytes: &[u8]) {
        self.output[..bytes.len()].copy_from_slice(bytes);
        (self.given, self.made) = (0, bytes.len());
    }

    /// Reads more input if all of it was used. Returns false at the end.
    fn refill(&mut self, inner: &mut impl Read) -> io::Result<bool> {
        while self.used == self.read {
            match inner.read(&mut *self.input) {
                Ok(0) => return Ok(false),
                Ok(read) => (self.used, self.read) = (0, read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Returns as many bytes as fit.
    fn give(&mut self, target: &mut [u8]) -> usize {
        let count = target.len().min(self.made - self.given);
        target[..count].copy_from_slice(&self.output[self.given..][..count]);
        self.given += count;
        if self.given == self.made {
            self.output[..self.made].wipe();
        }
        count
    }
}

/// A reader that encodes the bytes of the inner reader.
pub struct EncodeReader<R> {
    encoder: Box<Encoder>,
    buffers: Box<Buffers>,
    inner: R,
}

impl<R: Read> EncodeReader<R> {
    /// Makes a reader that reads from `inner`.
    pub fn new(codec: Base64, inner: R) -> Self {
        Self { encoder: Box::new(Encoder::new(codec)), buffers: Buffers::new(), inner }
    }
}

impl<R: Read> Read for EncodeReader<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let buffers = &mut *self.buffers;
        while buffers.given == buffers.made && !buffers.ended && !target.is_empty() {
            if buffers.refill(&mut self.inner)? {
                let (taken, symbols) = self.encoder.push(&buffers.input[buffers.used..buffers.read]);
                buffers.used += taken;
                buffers.keep(symbols.as_bytes());
            } else {
                buffers.ended = true;
                buffers.keep(self.encoder.finish().as_bytes());
            }
        }
        Ok(buffers.give(target))
    }
}

/// A reader that decodes the symbols of the inner reader. It returns no byte of a block that is not valid.
pub struct DecodeReader<R> {
    decoder: Box<Decoder>,
    buffers: Box<Buffers>,
    inner: R,
}

impl<R: Read> DecodeReader<R> {
    /// Makes a reader that reads from `inner`.
    pub fn new(codec: Base64, inner: R) -> Self {
        Self { decoder: Box::new(Decoder::new(codec)), buffers: Buffers::new(), inner }
    }
}

impl<R: Read> Read for DecodeReader<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let buffers = &mut *self.buffers;
        while buffers.given == buffers.made && !buffers.ended && !target.is_empty() {
            if buffers.refill(&mut self.inner)? {
                let (taken, bytes) = self.decoder.push(&buffers.input[buffers.used..buffers.read])?;
                buffers.used += taken;
                buffers.keep(bytes);
            } else {
                // Only a valid end ends the reader: after an invalid one, every further read fails again.
                let bytes = self.decoder.finish()?;
                buffers.ended = true;
                buffers.keep(bytes);
            }
        }
        Ok(buffers.give(target))
    }
}
