//! Sealing: the recipients and the options, and then any of several ways to seal.

mod sealer;
#[cfg(test)]
mod tests;

pub use sealer::Sealer;

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;

use crate::engine::stream::{Input, Passed};
use crate::engine::units::{Alone, Placing, Source, Writing};
use crate::engine::{file, memory, stream};
use crate::entropy::Entropy;
use crate::file_key::{FileKey, KEY};
use crate::floe::{self, Message, Parameters};
use crate::header::{self, PAGE};
use crate::layout::{Entry, PREAMBLE};
use crate::metadata::Contents;
use crate::padding::{Padded, padded_length, write_padding};
use crate::positions::InOrder;
use crate::recipient;
use crate::{Error, Metadata, ReadAt, Recipient, Secret, Summary, Work, WriteAt};

/// The recipients and options of a sealed file. Its methods seal in several ways.
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

/// The beginning of a file, except its recipients, which may take longer.
struct Start {
    key: FileKey,
    metadata: Vec<u8>,
    message: Message,
    floe: [u8; floe::HEADER],
}

impl Sealing {
    /// Seals to these recipients.
    ///
    /// # Errors
    /// [`Error::NoRecipients`] if the list is empty; [`Error::TooMany`]; [`Error::EmptyPassphrase`]; [`Error::Mixed`]
    /// if some recipients are classical and others are not: see [`Sealing::mixed`].
    pub fn to(recipients: Vec<Recipient>) -> Result<Self, Error> {
        recipient::check(&recipients, false)?;
        Ok(Self { recipients, contents: Contents::default(), entropy: Entropy::System })
    }

    /// Seals to these recipients, even if the classical ones among them make the whole file classical.
    ///
    /// # Errors
    /// [`Error::NoRecipients`] if the list is empty; [`Error::TooMany`]; [`Error::EmptyPassphrase`].
    pub fn mixed(recipients: Vec<Recipient>) -> Result<Self, Error> {
        recipient::check(&recipients, true)?;
        Ok(Self { recipients, contents: Contents::default(), entropy: Entropy::System })
    }

    #[cfg(test)]
    pub(crate) fn with_entropy(mut self, entropy: Entropy) -> Self {
        self.entropy = entropy;
        self
    }

    /// Sets the name, time and mode that are sealed with the data.
    ///
    /// # Errors
    /// If the name is empty or longer than 4096 bytes, is `.` or `..`, or contains a separator; or if the mode has more
    /// than permission bits.
    pub fn metadata(mut self, metadata: Metadata) -> Result<Self, Error> {
        metadata.check()?;
        self.contents.metadata = metadata;
        Ok(self)
    }

    /// Sets whether to pad the data, which hides all but the order of magnitude of their length. Padding adds up to 12
    /// %.
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
        let (message, floe) =
            key.message(|key| Message::start_with(Parameters::default(), key, &PREAMBLE, self.entropy))?;
        Ok(Start { key, metadata, message, floe })
    }

    /// Returns the length of the header. If there is more data than one unit, the first segment begins on a page.
    fn header_length(&self, start: &Start, long: bool) -> usize {
        let length = header::length(self.recipients.iter().map(Recipient::body), start.metadata.len());
        let payload = length + floe::HEADER;
        if long { payload.next_multiple_of(PAGE) - floe::HEADER } else { length }
    }

    /// Makes the header and FLOE's header. With a passphrase this takes a while.
    fn header(&self, start: &Start, length: usize) -> Result<Vec<u8>, Error> {
        let entries: Result<Vec<Entry>, Error> =
            self.recipients.iter().map(|it| it.wrap(&start.key, self.entropy)).collect();
        let mut header = header::build(&start.key, &entries?, &start.metadata, length)?;
        header.extend_from_slice(&start.floe);
        Ok(header)
    }

    /// Seals one regular file to another, on all cores, at positions. The length of `input` is read when the call
    /// begins: bytes that are appended later are not sealed. `output` must be empty, and not open for
    /// appending, because systems then ignore positions.
    ///
    /// # Errors
    /// If either is not a regular file or `output` is not empty, if `input` becomes shorter, or if reading, writing or
    /// the system fails. After an error, the contents of `output` are not usable.
    pub fn file(&self, input: &File, output: &File, work: &Work<'_>) -> Result<Summary, Error> {
        let about = input.metadata().map_err(Error::Read)?;
        if !about.is_file() {
            return Err(Error::NotRegular);
        }
        file::check_empty(output)?;
        self.positions(input, about.len(), output, work)
    }

    /// Seals the first `length` bytes of `input` to `output`, on all cores, at positions. [`Sealing::file`] does this
    /// for two regular files.
    ///
    /// # Errors
    /// If `input` is shorter, or if reading, writing or the system fails. After an error, the contents of `output` are
    /// not usable.
    pub fn positions(
        &self,
        input: &impl ReadAt,
        length: u64,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let padded = self.contents.padded;
        let start = self.start()?;
        let segments = start.message.segments_for(if padded { padded_length(length)? } else { length })?;
        let long = segments.data() > stream::data_unit(&start.message) as u64;
        let header_length = self.header_length(&start, long);
        let begin = (header_length + floe::HEADER) as u64;
        let source = file::Plain { input, length, padded };
        let put_header = || {
            let header = self.header(&start, header_length)?;
            output.write_all_at(&header, 0).map_err(Error::Write)
        };
        let put_payload = || file::seal(&start.message, &source, segments, output, begin, work);
        self.with_header(put_header, put_payload)?;
        Ok(Summary { plain: length, sealed: begin + segments.sealed() })
    }

    /// Returns how long the result of [`Sealing::file`] or [`Sealing::positions`] is for `length` bytes.
    ///
    /// # Errors
    /// If the data are too long, or if the system has no random bytes.
    pub fn sealed_length(&self, length: u64) -> Result<u64, Error> {
        let start = self.start()?;
        let length = if self.contents.padded { padded_length(length)? } else { length };
        let segments = start.message.segments_for(length)?;
        let long = segments.data() > stream::data_unit(&start.message) as u64;
        Ok((self.header_length(&start, long) + floe::HEADER) as u64 + segments.sealed())
    }

    /// Makes header and payload, at the same time if the header takes long: the payload does not depend on the
    /// passphrase.
    fn with_header<H: Send, P>(
        &self,
        header: impl Fn() -> Result<H, Error> + Sync,
        payload: impl FnOnce() -> Result<P, Error>,
    ) -> Result<(H, P), Error> {
        // A session hashes its passphrase only the first time, and a thread for each item would cost more than that.
        if !self.recipients.iter().any(|it| matches!(it, Recipient::Passphrase(..))) {
            return Ok((header()?, payload()?));
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, &header);
            let payload = payload()?;
            // Without another thread, header and payload are made one after the other.
            let header = thread
                .map_or_else(|_| header(), |thread| thread.join().unwrap_or(Err(Error::System("a thread ended"))))?;
            Ok((header, payload))
        })
    }

    /// Seals a stream to a stream, on all cores, in order.
    ///
    /// # Errors
    /// If reading or writing fails, if the data are too long, or if the system fails. After an error, the output is of
    /// no use.
    pub fn stream(
        &self,
        input: impl Read + Send,
        output: impl Write + Send,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        if self.contents.padded {
            let mut counted = Counted { input, read: 0 };
            let summary = self.stream_all(Padded::new(&mut counted), output, work)?;
            return Ok(Summary { plain: counted.read, ..summary });
        }
        self.stream_all(input, output, work)
    }

    fn stream_all(
        &self,
        input: impl Read + Send,
        output: impl Write + Send,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let start = self.start()?;
        let input = stream::Stream::start(input, stream::data_unit(&start.message))?;
        self.units(&start, input, output, work).map(|(summary, _)| summary)
    }

    /// Seals the data of a [`Source`] to a stream, on all cores.
    ///
    /// # Errors
    /// If reading or writing fails, if the data are too long, or if the system fails. After an error, the output is of
    /// no use.
    pub fn gather<S: Source>(
        &self,
        source: S,
        output: impl Write + Send,
        work: &Work<'_>,
    ) -> Result<(Summary, S), Error> {
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

    /// Seals the data of a [`Source`] to a regular file, on all cores, at positions. `output` must be empty, and not
    /// open for appending, because systems then ignore positions.
    ///
    /// # Errors
    /// If reading or writing fails, if the data are too long, or if the system fails. After an error, the output is of
    /// no use.
    pub fn gather_file<S: Source>(&self, source: S, output: &File, work: &Work<'_>) -> Result<(Summary, S), Error> {
        file::check_empty(output)?;
        self.gather_positions(source, output, work)
    }

    /// Seals the data of a [`Source`] to `output`, on all cores, at positions. [`Sealing::gather_file`] does this for a
    /// regular file.
    ///
    /// # Errors
    /// If reading or writing fails, if the data are too long, or if the system fails. After an error, the contents of
    /// `output` are not usable.
    pub fn gather_positions<S: Source>(
        &self,
        source: S,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<(Summary, S), Error> {
        if self.contents.padded {
            return self.gather(source, InOrder::new(output), work);
        }
        let start = self.start()?;
        let unit = stream::sealed_unit(&start.message) as u64;
        let input = stream::Gathered::start(source, stream::data_unit(&start.message))?;
        let header_length = self.header_length(&start, !input.ended());
        let begin = (header_length + floe::HEADER) as u64;
        let put_header = || {
            let header = self.header(&start, header_length)?;
            output.write_all_at(&header, 0).map_err(Error::Write)
        };
        let put_payload = || stream::seal(&start.message, input, Placing { output, begin, unit }, work);
        let ((), passed) = self.with_header(put_header, put_payload)?;
        Ok((Summary { plain: passed.read, sealed: begin + passed.written }, passed.input.into_source()))
    }

    fn units<I: Input>(
        &self,
        start: &Start,
        input: I,
        mut output: impl Write + Send,
        work: &Work<'_>,
    ) -> Result<(Summary, I), Error> {
        let header = self.header(start, self.header_length(start, !input.ended()))?;
        output.write_all(&header).map_err(Error::Write)?;
        let Passed { read, written, input, mut output } = stream::seal(&start.message, input, Writing(output), work)?;
        output.0.flush().map_err(Error::Write)?;
        Ok((Summary { plain: read, sealed: header.len() as u64 + written }, input))
    }

    /// Seals bytes in memory and appends the result to `sealed`, whose memory is used again. More than a few mebibytes
    /// are sealed on all cores.
    ///
    /// # Errors
    /// If the system has no random bytes, or no memory for a passphrase. `sealed` is then as before.
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

    /// Seals bytes in memory. More than a few mebibytes are sealed on all cores.
    ///
    /// # Errors
    /// If the system has no random bytes, or no memory for a passphrase.
    pub fn bytes(&self, plain: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = Vec::new();
        self.bytes_onto(plain, &mut sealed)?;
        Ok(sealed)
    }

    /// Returns a writer that seals the bytes written to it, on the caller's thread.
    ///
    /// # Errors
    /// If the system has no random bytes, or no memory for a passphrase.
    pub fn writer<W: Write>(&self, mut output: W) -> Result<Sealer<W>, Error> {
        let start = self.start()?;
        // The length of the data is not known, so the header is the shorter one.
        let header = self.header(&start, self.header_length(&start, false))?;
        output.write_all(&header).map_err(Error::Write)?;
        Ok(Sealer::new(floe::Writer::new(Arc::new(start.message), output), self.contents.padded))
    }
}

/// A reader that counts the bytes that it reads.
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
