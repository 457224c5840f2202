//! Streams over `Read` and `Write`.
//!
//! ```
//! use deadpan_base64::{STANDARD, stream::io::{DecodeReader, EncodeWriter}};
//! use std::io::{Read, Write};
//!
//! let mut writer = EncodeWriter::new(Vec::new(), STANDARD);
//! writer.write_all(b"straight face")?;
//! let text = writer.finish()?;
//!
//! let mut bytes = Vec::new();
//! DecodeReader::new(text.as_slice(), STANDARD).read_to_end(&mut bytes)?;
//! assert_eq!(bytes, b"straight face");
//! # Ok::<(), std::io::Error>(())
//! ```

use std::boxed::Box;
use std::io::{self, Read, Write};

use super::encoder::HELD;
use super::{BLOCK, Decoder, Encoder};
use crate::{Base64, Error};
use deadpan_ct::{Wipe, Wiped};

impl From<Error> for io::Error {
    fn from(error: Error) -> Self {
        let kind = if error == Error::Invalid { io::ErrorKind::InvalidData } else { io::ErrorKind::InvalidInput };
        Self::new(kind, error)
    }
}

/// The inner writer. After a failure of the inner writer, nothing more is written to it, because its output is
/// incomplete and a second try would leave a gap in the text.
struct Sink<W> {
    /// `None` after `finish`.
    inner: Option<W>,
    failed: bool,
}

impl<W: Write> Sink<W> {
    fn new(inner: W) -> Self {
        Self { inner: Some(inner), failed: false }
    }

    fn check(&self) -> io::Result<()> {
        if self.failed {
            Err(io::Error::other("an earlier write failed, so the output is not complete"))
        } else {
            Ok(())
        }
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(inner) = &mut self.inner else { return Ok(()) };
        // A panic of the inner writer is also a failure, and dropping this writer must not call the inner writer again.
        self.failed = true;
        inner.write_all(bytes)?;
        self.failed = false;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(inner) = &mut self.inner { inner.flush() } else { Ok(()) }
    }

    /// Writes the end of the output, flushes the inner writer, and returns it.
    fn finish(&mut self, end: &[u8]) -> io::Result<W> {
        self.check()?;
        self.put(end)?;
        self.failed = true;
        self.flush()?;
        self.inner.take().ok_or_else(|| io::Error::other("the writer is finished"))
    }
}

/// The debug output contains neither the data nor the inner reader or writer, since logs are public.
macro_rules! closed {
    ($($name:ident)*) => { $(
        impl<T> core::fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )* };
}
closed!(DecodeWriter EncodeReader DecodeReader);

impl<W: Write> core::fmt::Debug for EncodeWriter<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("EncodeWriter").finish_non_exhaustive()
    }
}

/// A writer that encodes the bytes written to it. Only [`finish`](EncodeWriter::finish) completes the text. If `finish`
/// is not called, for example because of `?`, a panic or a mistake, the text is cut short. Readers can notice this: the
/// number of symbols is one more than a multiple of four, and no rule for `=` allows a text of such a length. Decoders
/// refuse a text that is cut short, but decoders that ignore surplus symbols at the end, such as the decoder of
/// Node.js, accept it.
///
/// ```
/// use deadpan_base64::{STANDARD_NO_PAD, stream::io::EncodeWriter};
/// use std::io::Write;
///
/// let mut text = Vec::new();
/// let mut writer = EncodeWriter::new(&mut text, STANDARD_NO_PAD);
/// writer.write_all(&[7; 9000])?;
/// drop(writer);
/// assert!(STANDARD_NO_PAD.decode(&text).is_err());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// An unfinished text is never valid: the writer keeps back three symbols until more symbols follow, and if nothing was
/// written yet, [`Drop`] writes one symbol. The inner writer may still cut the text at another place if the inner
/// writer fails or loses its own buffer. The inner writer must be a blocking writer: after a failure, its output is
/// incomplete, and every further call fails too.
#[must_use = "the text is cut short until `finish` is called"]
pub struct EncodeWriter<W: Write> {
    encoder: Box<Encoder>,
    /// Whether some symbols were already written, so that three symbols are now kept back.
    begun: bool,
    sink: Sink<W>,
}

impl<W: Write> EncodeWriter<W> {
    /// Makes a writer that writes to `inner`.
    pub fn new(inner: W, codec: Base64) -> Self {
        Self { encoder: Box::new(Encoder::new(codec)), begun: false, sink: Sink::new(inner) }
    }

    /// Writes the remaining symbols, flushes the inner writer, and returns it.
    ///
    /// # Errors
    /// If the inner writer fails.
    pub fn finish(mut self) -> io::Result<W> {
        let made = self.encoder.close();
        self.sink.finish(self.encoder.symbols(self.begun, made))
    }
}

impl<W: Write> Write for EncodeWriter<W> {
    fn write(&mut self, input: &[u8]) -> io::Result<usize> {
        self.sink.check()?;
        let (taken, made) = self.encoder.fill(input);
        if made > 0 {
            let symbols = self.encoder.symbols(self.begun, made);
            self.sink.put(&symbols[..symbols.len() - HELD])?;
            self.encoder.hold(made);
            self.begun = true;
        }
        Ok(taken)
    }

    /// Flushes the inner writer. Data that the encoder still collects for the next block are not written.
    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl<W: Write> Drop for EncodeWriter<W> {
    /// If [`finish`](EncodeWriter::finish) was not called, the text that was written is not valid. If nothing was
    /// written, one symbol is written, because an empty text would be valid.
    fn drop(&mut self) {
        if !self.begun && !self.sink.failed {
            // The error is ignored: `drop` cannot report the error, and the text that was written before the error is
            // incomplete.
            let _ = self.sink.put(b"A");
        }
    }
}

/// A writer that decodes the symbols written to it. Only [`finish`](DecodeWriter::finish) completes the data. Without
/// `finish`, the end of the data is neither checked nor written.
///
/// Data can consist of any bytes, so a reader of the written data cannot notice that their end is missing. Without
/// `finish`, the written data are the data of all blocks of [`BLOCK`] symbols after which more symbols came. For a text
/// of one block, nothing is written before `finish`. Therefore pass the inner writer by value, not as `&mut`: then the
/// inner writer can be obtained only from `finish`. An inner writer that must itself be completed, such as a file that
/// gets its name at the end, then cannot be completed without `finish`. The inner writer must be a blocking writer:
/// after a failure, its output is incomplete, and every further call fails too.
#[must_use = "the end of the data is missing until `finish` is called"]
pub struct DecodeWriter<W> {
    decoder: Box<Decoder>,
    sink: Sink<W>,
}

impl<W: Write> DecodeWriter<W> {
    /// Makes a writer that writes to `inner`.
    pub fn new(inner: W, codec: Base64) -> Self {
        Self { decoder: Box::new(Decoder::new(codec)), sink: Sink::new(inner) }
    }

    /// Checks and writes the remaining data, flushes the inner writer, and returns it.
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
        // A call of `push` may decode a full block without taking any input, so the loop calls it again. If this
        // function returned `Ok(0)`, the caller would believe that the writer accepts no more input.
        while taken == 0 && !input.is_empty() {
            let (more, bytes) = self.decoder.push(input)?;
            self.sink.put(bytes)?;
            taken = more;
        }
        Ok(taken)
    }

    /// Flushes the inner writer. Data that the decoder still collects for the next block are not written.
    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

/// The buffers of a reader. The buffers hold input that is not decoded or encoded yet, and output that is not returned
/// yet.
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

    /// Reads more input if the whole input buffer was used. Returns false at the end.
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
    pub fn new(inner: R, codec: Base64) -> Self {
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

/// A reader that decodes the symbols of the inner reader. The reader returns no byte of a block that is not valid.
pub struct DecodeReader<R> {
    decoder: Box<Decoder>,
    buffers: Box<Buffers>,
    inner: R,
}

impl<R: Read> DecodeReader<R> {
    /// Makes a reader that reads from `inner`.
    pub fn new(inner: R, codec: Base64) -> Self {
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
                // The reader reports the end of the data only after a valid end of the text. After an invalid end,
                // every further read fails again.
                let bytes = self.decoder.finish()?;
                buffers.ended = true;
                buffers.keep(bytes);
            }
        }
        Ok(buffers.give(target))
    }
}
