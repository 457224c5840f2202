//! Sealing: to whom, and how.

mod sealer;
#[cfg(test)]
mod tests;

pub use sealer::Sealer;

use crate::engine::stream::{Input, Passed};
use crate::engine::units::{Alone, Placing, Source, Writing};
use crate::engine::{file, memory, stream};
use crate::entropy::Entropy;
use crate::file_key::{FileKey, KEY};
use crate::floe::{self, Message, Parameters};
use crate::header::{self, Entry, PAGE, PREAMBLE};
use crate::metadata::Contents;
use crate::padding::{Padded, padded_length, write_padding};
use crate::recipient;
use crate::{Error, Metadata, Recipient, Secret, Summary, Work};
use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;

/// To whom something is sealed, and how; then any of the ways to do it.
///
/// ```
/// use deadpan_seal::{Header, Identity, Kem, PrivateKey, Recipient, Sealing};
///
/// let key = PrivateKey::generate(Kem::XWing)?;
/// let sealed = Sealing::to(vec![Recipient::Key(key.public().clone())])?.bytes(b"straight face")?;
///
/// let mut input = sealed.as_slice();
/// let opened = Header::read(&mut input)?.open(&[Identity::Key(key)])?;
/// let mut plain = Vec::new();
/// opened.bytes_onto(input, &mut plain)?;
/// assert_eq!(plain, b"straight face");
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sealing {
    recipients: Vec<Recipient>,
    contents: Contents,
    entropy: Entropy,
}

/// What a file begins with, but for its recipients, which may take longer.
struct Start {
    key: FileKey,
    metadata: Vec<u8>,
    message: Message,
    floe: [u8; floe::HEADER],
}

impl Sealing {
    /// To these recipients.
    ///
    /// # Errors
    /// [`Error::NoRecipients`]; [`Error::TooMany`]; [`Error::Mixed`] if some are classical and others are not: see [`Sealing::mixed`].
    pub fn to(recipients: Vec<Recipient>) -> Result<Self, Error> {
        recipient::check(&recipients, false)?;
        Ok(Self { recipients, contents: Contents::default(), entropy: Entropy::System })
    }

    /// To these recipients, though the classical ones among them make the whole file classical.
    ///
    /// # Errors
    /// As [`Sealing::to`], but for [`Error::Mixed`].
    pub fn mixed(recipients: Vec<Recipient>) -> Result<Self, Error> {
        recipient::check(&recipients, true)?;
        Ok(Self { recipients, contents: Contents::default(), entropy: Entropy::System })
    }

    #[cfg(test)]
    pub(crate) fn with_entropy(mut self, entropy: Entropy) -> Self {
        self.entropy = entropy;
        self
    }

    /// What it is, sealed beside it.
    ///
    /// # Errors
    /// If the name has a separator in it, is longer than 4096 bytes, or is no name.
    pub fn metadata(mut self, metadata: Metadata) -> Result<Self, Error> {
        metadata.check()?;
        self.contents.metadata = metadata;
        Ok(self)
    }

    /// Whether to pad the data, so that the length tells little: up to 12 % more.
    #[must_use]
    pub fn hide_length(mut self, hide: bool) -> Self {
        self.contents.padded = hide;
        self
    }

    fn start(&self) -> Result<Start, Error> {
        let mut secret = Secret::zeroed(KEY);
        self.entropy.fill("file key", 0, &mut secret)?;
        let key = FileKey::from_secret(secret).ok_or(Error::System("no random bytes"))?;
        let metadata = self.contents.seal(&key, self.entropy)?;
        let (message, floe) = key.message(|key| Message::start_with(Parameters::default(), key, &PREAMBLE, self.entropy))?;
        Ok(Start { key, metadata, message, floe })
    }

    /// How long the header is. Where there is more than a unit of data, the first segment begins on a page.
    fn header_length(&self, start: &Start, long: bool) -> usize {
        let length = header::length(self.recipients.iter().map(Recipient::body), start.metadata.len());
        let payload = length + floe::HEADER;
        if long { payload.next_multiple_of(PAGE) - floe::HEADER } else { length }
    }

    /// The header and FLOE's. With a passphrase this takes a while.
    fn header(&self, start: &Start, length: usize) -> Result<Vec<u8>, Error> {
        let entries: Result<Vec<Entry>, Error> = self.recipients.iter().map(|it| it.wrap(&start.key, self.entropy)).collect();
        let mut header = header::build(&start.key, &entries?, &start.metadata, length)?;
        header.extend_from_slice(&start.floe);
        Ok(header)
    }

    /// One regular file to another, on all cores, at positions. `input` is read from its start to its end. `output` is empty, and not open for
    /// appending, where systems ignore positions.
    ///
    /// # Errors
    /// If either is not such a file, if `input` changes its length, if reading, writing or the system fails. The output is then of no use.
    pub fn file(&self, input: &File, output: &File, work: &Work<'_>) -> Result<Summary, Error> {
        let about = input.metadata().map_err(Error::Read)?;
        if !about.is_file() {
            return Err(Error::Invalid("the input is not a regular file\nhint: seal it as a stream"));
        }
        file::check_empty(output)?;
        let length = about.len();
        let padded = self.contents.padded;
        let start = self.start()?;
        let segments = start.message.segments_for(if padded { padded_length(length)? } else { length })?;
        let long = segments.data() > stream::data_unit(&start.message) as u64;
        let header_length = self.header_length(&start, long);
        let begin = (header_length + floe::HEADER) as u64;
        let source = file::Source { file: input, length, padded };
        let put_header = || {
            let header = self.header(&start, header_length)?;
            file::write_all_at(output, &header, 0).map_err(Error::Write)
        };
        let put_payload = || file::seal(&start.message, source, segments, output, begin, work);
        self.with_header(put_header, put_payload)?;
        source.check_end()?;
        Ok(Summary { plain: length, sealed: begin + segments.sealed() })
    }

    /// Makes header and payload, at the same time where the header takes long: the payload does not depend on a passphrase, so nothing waits for it.
    fn with_header<H: Send, P>(
        &self,
        header: impl Fn() -> Result<H, Error> + Sync,
        payload: impl FnOnce() -> Result<P, Error>,
    ) -> Result<(H, P), Error> {
        // A session has its passphrase hashed, but for the first time: a thread for each item would cost more than that.
        if !self.recipients.iter().any(|it| matches!(it, Recipient::Passphrase(..))) {
            return Ok((header()?, payload()?));
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, &header);
            let payload = payload()?;
            // Where the system has no thread to give, one after the other.
            let header = thread.map_or_else(|_| header(), |thread| thread.join().unwrap_or(Err(Error::System("a thread ended"))))?;
            Ok((header, payload))
        })
    }

    /// A stream to a stream, on all cores, in order.
    ///
    /// # Errors
    /// As for files.
    pub fn stream(&self, input: impl Read + Send, output: impl Write + Send, work: &Work<'_>) -> Result<Summary, Error> {
        if self.contents.padded {
            let mut counted = Counted { input, read: 0 };
            let summary = self.stream_all(Padded::new(&mut counted), output, work)?;
            return Ok(Summary { plain: counted.read, ..summary });
        }
        self.stream_all(input, output, work)
    }

    fn stream_all(&self, input: impl Read + Send, output: impl Write + Send, work: &Work<'_>) -> Result<Summary, Error> {
        let start = self.start()?;
        let input = stream::Stream::start(input, stream::data_unit(&start.message))?;
        self.units(&start, input, output, work).map(|(summary, _)| summary)
    }

    /// What is put together from many things, to a stream, on all cores.
    ///
    /// # Errors
    /// As for files.
    pub fn gather<S: Source>(&self, source: S, output: impl Write + Send, work: &Work<'_>) -> Result<(Summary, S), Error> {
        if self.contents.padded {
            let mut source = Alone { inner: source, ended: false };
            let summary = self.stream(&mut source, output, work)?;
            return Ok((summary, source.inner));
        }
        let start = self.start()?;
        let input = stream::Gathered::start(source, stream::data_unit(&start.message))?;
        let (summary, input) = self.units(&start, input, output, work)?;
        Ok((summary, input.into_source()))
    }

    /// What is put together from many things, to a regular file, on all cores, at positions. `output` is empty, and not open for appending.
    ///
    /// # Errors
    /// As for files.
    pub fn gather_file<S: Source>(&self, source: S, output: &File, work: &Work<'_>) -> Result<(Summary, S), Error> {
        file::check_empty(output)?;
        if self.contents.padded {
            return self.gather(source, output, work);
        }
        let start = self.start()?;
        let unit = stream::sealed_unit(&start.message) as u64;
        let input = stream::Gathered::start(source, stream::data_unit(&start.message))?;
        let header_length = self.header_length(&start, !input.ended());
        let begin = (header_length + floe::HEADER) as u64;
        let put_header = || {
            let header = self.header(&start, header_length)?;
            file::write_all_at(output, &header, 0).map_err(Error::Write)
        };
        let put_payload = || stream::seal(&start.message, input, Placing { file: output, begin, unit }, work);
        let ((), passed) = self.with_header(put_header, put_payload)?;
        Ok((Summary { plain: passed.read, sealed: begin + passed.written }, passed.input.into_source()))
    }

    fn units<I: Input>(&self, start: &Start, input: I, mut output: impl Write + Send, work: &Work<'_>) -> Result<(Summary, I), Error> {
        let header = self.header(start, self.header_length(start, !input.ended()))?;
        output.write_all(&header).map_err(Error::Write)?;
        let Passed { read, written, input, mut output } = stream::seal(&start.message, input, Writing(output), work)?;
        output.0.flush().map_err(Error::Write)?;
        Ok((Summary { plain: read, sealed: header.len() as u64 + written }, input))
    }

    /// Bytes in memory, appended to `sealed`, whose memory is used again; more than a few mebibytes on all cores.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn bytes_onto(&self, plain: &[u8], sealed: &mut Vec<u8>) -> Result<(), Error> {
        if self.contents.padded {
            let length = padded_length(plain.len() as u64)?;
            let mut padded = deadpan_ct::Wiped::new(Vec::with_capacity(usize::try_from(length).unwrap_or(usize::MAX)));
            padded.extend_from_slice(plain);
            write_padding(plain.len() as u64, &mut *padded).map_err(Error::Write)?;
            return self.all_bytes_onto(&padded, sealed);
        }
        self.all_bytes_onto(plain, sealed)
    }

    fn all_bytes_onto(&self, plain: &[u8], sealed: &mut Vec<u8>) -> Result<(), Error> {
        let start = self.start()?;
        let length = self.header_length(&start, plain.len() > stream::data_unit(&start.message));
        let begin = sealed.len();
        let end = begin + length + floe::HEADER;
        sealed.resize(end, 0);
        let made = self.with_header(|| self.header(&start, length), || memory::seal(&start.message, plain, sealed));
        let (header, ()) = made.inspect_err(|_| sealed.truncate(begin))?;
        sealed[begin..end].copy_from_slice(&header);
        Ok(())
    }

    /// Bytes in memory.
    ///
    /// # Errors
    /// As above.
    pub fn bytes(&self, plain: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = Vec::new();
        self.bytes_onto(plain, &mut sealed)?;
        Ok(sealed)
    }

    /// A writer that seals what is written to it, on the caller's thread.
    ///
    /// # Errors
    /// As above.
    pub fn writer<W: Write>(&self, mut output: W) -> Result<Sealer<W>, Error> {
        let start = self.start()?;
        // How much will come is not known: the shorter header it is.
        let header = self.header(&start, self.header_length(&start, false))?;
        output.write_all(&header).map_err(Error::Write)?;
        Ok(Sealer::new(floe::Writer::new(Arc::new(start.message), output), self.contents.padded))
    }
}

/// Counts what is read.
struct Counted<R> {
    input: R,
    read: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}
