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

use super::{BLOCK, Decoder, Encoder};
use crate::{Base64, Error};
use deadpan_ct::{Wipe, Wiped};
use std::boxed::Box;
use std::io::{self, Read, Write};

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = if error == Error::Invalid { io::ErrorKind::InvalidData } else { io::ErrorKind::InvalidInput };
        Self::new(kind, error)
    }
}

/// The writer behind. Once it has failed, what came out is not complete, and nothing more goes out: a caller that tried again would make
/// a text with a hole in it.
struct Sink<W> {
    inner: W,
    failed: bool,
}

impl<W: Write> Sink<W> {
    fn new(inner: W) -> Self {
        Self { inner, failed: false }
    }

    /// An error if it has failed before.
    fn check(&self) -> io::Result<()> {
        if self.failed { Err(io::Error::other("an earlier write failed, so the output is not complete")) } else { Ok(()) }
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

/// Never shows what passes through or stands behind: logs are public.
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

/// Writes symbols for the bytes written to it. Call [`finish`](EncodeWriter::finish): without it the end is missing. The writer behind
/// must block: when it fails, the output is incomplete, and every further call fails too.
#[must_use = "the end is missing until `finish` is called"]
pub struct EncodeWriter<W> {
    encoder: Box<Encoder>,
    sink: Sink<W>,
}

impl<W: Write> EncodeWriter<W> {
    /// A writer in front of `inner`.
    pub fn new(codec: Base64, inner: W) -> Self {
        Self { encoder: Box::new(Encoder::new(codec)), sink: Sink::new(inner) }
    }

    /// Writes what is left, flushes, and gives back the writer behind.
    ///
    /// # Errors
    /// If the writer behind fails.
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

    /// Passed on; symbols that wait for more bytes stay where they are.
    fn flush(&mut self) -> io::Result<()> {
        self.sink.inner.flush()
    }
}

/// Writes the bytes of the symbols written to it. Call [`finish`](DecodeWriter::finish): without it the end is missing and not judged.
/// The writer behind must block: when it fails, the output is incomplete, and every further call fails too.
#[must_use = "the end is missing until `finish` is called"]
pub struct DecodeWriter<W> {
    decoder: Box<Decoder>,
    sink: Sink<W>,
}

impl<W: Write> DecodeWriter<W> {
    /// A writer in front of `inner`.
    pub fn new(codec: Base64, inner: W) -> Self {
        Self { decoder: Box::new(Decoder::new(codec)), sink: Sink::new(inner) }
    }

    /// Judges and writes what is left, flushes, and gives back the writer behind.
    ///
    /// # Errors
    /// If the text is not valid (`InvalidData`), or if the writer behind fails.
    pub fn finish(mut self) -> io::Result<W> {
        self.sink.finish(self.decoder.finish()?)
    }
}

impl<W: Write> Write for DecodeWriter<W> {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.sink.check()?;
        let mut taken = 0;
        // A full block may be opened without taking anything; `Ok(0)` would mean that nothing can be written any more.
        while taken == 0 && !input.is_empty() {
            let (more, bytes) = self.decoder.push(input)?;
            self.sink.put(bytes)?;
            taken = more;
        }
        Ok(taken)
    }

    /// Passed on; bytes that wait for more symbols stay where they are.
    fn flush(&mut self) -> io::Result<()> {
        self.sink.inner.flush()
    }
}

/// Input that was read and not yet used, and output that was made and not yet given out.
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

    /// Keeps `bytes` to be given out.
    fn keep(&mut self, bytes: &[u8]) {
        self.output[..bytes.len()].copy_from_slice(bytes);
        (self.given, self.made) = (0, bytes.len());
    }

    /// Reads more if everything was used; false at the end.
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

    /// Gives out what fits.
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

/// Reads symbols for the bytes behind it.
pub struct EncodeReader<R> {
    encoder: Box<Encoder>,
    buffers: Box<Buffers>,
    inner: R,
}

impl<R: Read> EncodeReader<R> {
    /// A reader in front of `inner`.
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

/// Reads the bytes of the symbols behind it. No byte of a block that is not valid comes out.
pub struct DecodeReader<R> {
    decoder: Box<Decoder>,
    buffers: Box<Buffers>,
    inner: R,
}

impl<R: Read> DecodeReader<R> {
    /// A reader in front of `inner`.
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
                // Only a good end ends the reader: after a bad one, every further read fails again.
                let bytes = self.decoder.finish()?;
                buffers.ended = true;
                buffers.keep(bytes);
            }
        }
        Ok(buffers.give(target))
    }
}
