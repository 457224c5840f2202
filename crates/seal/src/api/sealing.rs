//! [`Sealing`] holds the recipients and the options. The methods of [`Sealing`] seal bytes, streams, and inputs with
//! positioned reads.

mod compressed;
mod draft;
pub(crate) mod parts;
mod sealer;

#[cfg(test)]
mod tests;

pub use sealer::Sealer;

use std::fs::File;
use std::io::{self, Read, Write};

use crate::api::engine::stream::{Input, Passed};
use crate::api::engine::told::Told;
use crate::api::engine::units::{Alone, Placing, Source, Writing};
use crate::api::engine::{file, memory, stream};
use crate::format::age;
use crate::format::deadpan::metadata::Contents;
use crate::format::deadpan::padding::{Padded, padded};
use crate::format::deadpan::recipient;
use crate::format::deadpan::trailer::{Shelf, Signing};
use crate::format::fill::Counted;
use crate::format::positions::InOrder;
use crate::format::segment::Payload;
use crate::key::sign::Signer;
use crate::primitive::entropy::Entropy;
use crate::{Error, Format, IntoRecipients, Metadata, PublicKey, ReadAt, Recipient, Summary, Threshold, Work, WriteAt};
use deadpan_compress::{Compressor, Level, Pieces, most_stored};
use deadpan_ct::Wiped;
use draft::{Draft, Start};

const SMALL: Error = Error::Invalid("the buffer is too small");

/// The recipients and options of a sealed file. The methods of this type seal data.
///
/// ```
/// use deadpan_seal::{Header, Identity, Kem, PrivateKey, Sealing};
///
/// let key = PrivateKey::generate(Kem::XWing)?;
/// let sealed = Sealing::to(key.public())?.seal(b"straight face")?;
///
/// let mut input = sealed.as_slice();
/// let opened = Header::read(&mut input)?.open(&[Identity::Key(key)])?;
/// assert_eq!(opened.open(input)?, b"straight face");
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sealing {
    recipients: Vec<Recipient>,
    format: Format,
    contents: Contents,
    /// How hard to compress the data, or `None` if the data are not compressed.
    level: Option<Level>,
    signing: Signing,
    entropy: Entropy,
    /// Whether the file may have classical recipients together with other recipients.
    mixed: bool,
}

impl Sealing {
    /// Seals to these recipients. A repeated key counts once.
    ///
    /// # Errors
    /// [`Error::NoRecipients`] if the list is empty; [`Error::TooMany`]; [`Error::EmptyPassphrase`]; [`Error::Mixed`]
    /// if some recipients are classical and some are not: see [`Sealing::mixed`].
    pub fn to(recipients: impl IntoRecipients) -> Result<Self, Error> {
        let recipients = recipients.into_recipients();
        recipient::check(&recipients, false)?;
        Ok(Self::unchecked(recipient::distinct(recipients), false))
    }

    /// Seals to these recipients, even if a classical recipient in the list makes the whole file classical.
    ///
    /// # Errors
    /// [`Error::NoRecipients`] if the list is empty; [`Error::TooMany`]; [`Error::EmptyPassphrase`].
    pub fn mixed(recipients: impl IntoRecipients) -> Result<Self, Error> {
        let recipients = recipients.into_recipients();
        recipient::check(&recipients, true)?;
        Ok(Self::unchecked(recipient::distinct(recipients), true))
    }

    fn unchecked(recipients: Vec<Recipient>, mixed: bool) -> Self {
        let (format, contents, signing) = (Format::default(), Contents::default(), Signing::default());
        Self { recipients, format, contents, level: None, signing, entropy: Entropy::System, mixed }
    }

    /// Seals to the owners of these keys: any `needed` owners open the file together. For a threshold together with
    /// other recipients, or with keys of different modes, use [`Recipient::Threshold`].
    ///
    /// # Errors
    /// The errors of [`Threshold::new`] and of [`Sealing::to`].
    pub fn threshold(needed: usize, members: Vec<PublicKey>) -> Result<Self, Error> {
        Self::to(Recipient::Threshold(Threshold::new(needed, members)?))
    }

    /// Sets the format of the file. An age file keeps no metadata.
    ///
    /// # Errors
    /// [`Error::Invalid`] or [`Error::TooMany`] if the format does not support one of the recipients, or this
    /// combination of recipients.
    pub fn format(mut self, format: Format) -> Result<Self, Error> {
        if format == Format::Age {
            age::check(&self.recipients)?;
        }
        self.format = format;
        Ok(self)
    }

    #[cfg(test)]
    pub(crate) fn with_entropy(mut self, entropy: Entropy) -> Self {
        self.entropy = entropy;
        self
    }

    /// Sets the name, time and mode that are sealed with the data.
    ///
    /// # Errors
    /// If the name is empty or longer than 4096 bytes, is `.` or `..`, or contains a separator; or if the mode has bits
    /// other than permission bits.
    pub fn metadata(mut self, metadata: Metadata) -> Result<Self, Error> {
        metadata.check()?;
        self.contents.metadata = metadata;
        Ok(self)
    }

    /// Sets whether to pad the data. Padding hides the length of the data, except for its order of magnitude. Padding
    /// adds up to 12 %. age files have no padding, so sealing to an age file with this option fails.
    #[must_use]
    pub fn hide_length(mut self, hide: bool) -> Self {
        self.contents.padded = hide;
        self
    }

    /// Compresses the data. The length of the sealed file then tells something about the data, which matters if another
    /// person chooses a part of the data. age files cannot be compressed, so sealing to an age file with this option
    /// fails.
    ///
    /// ```
    /// use deadpan_seal::{Kem, Level, PrivateKey, Sealing, open};
    ///
    /// let key = PrivateKey::generate(Kem::XWing)?;
    /// let data = b"straight face ".repeat(1000);
    /// let sealed = Sealing::to(key.public())?.compress(Level::default()).seal(&data)?;
    /// assert!(sealed.len() < 2500);
    /// assert_eq!(open(&key, &sealed)?, data);
    /// # Ok::<(), deadpan_seal::Error>(())
    /// ```
    #[must_use]
    pub fn compress(mut self, level: Level) -> Self {
        (self.level, self.contents.compressed) = (Some(level), true);
        self
    }

    /// Returns whether the data are compressed. The length of a sealed file is then known only after the data are read.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.level.is_some()
    }

    /// Adds a signer. The signer confirms that the data, the metadata and the recipients belong together in this file.
    /// Only people who can open the file see the signature. People who can open the file can show the signature to
    /// others.
    ///
    /// ```
    /// use deadpan_seal::sign::{Scheme, SigningKey};
    /// use deadpan_seal::{Header, Kem, PrivateKey, Sealing, Work};
    ///
    /// let (key, alice) = (PrivateKey::generate(Kem::XWing)?, SigningKey::generate(Scheme::Ed25519)?);
    /// let known = alice.public().clone();
    /// let sealed = Sealing::to(key.public())?.sign(alice.into())?.seal(b"straight face")?;
    ///
    /// let mut input = sealed.as_slice();
    /// let opened = Header::read(&mut input)?.open(&[(&key).into()])?;
    /// let mut plain = Vec::new();
    /// let done = opened.open_stream(input, &mut plain, &Work::default())?;
    /// let signatures = done.signatures.expect("the file is signed");
    /// assert!(signatures.keys() == [known] && signatures.are_for_opener());
    /// # Ok::<(), deadpan_seal::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::TooMany`] if there are 16 signers already; [`Error::Invalid`] if another signer has the same key.
    pub fn sign(mut self, signer: Signer) -> Result<Self, Error> {
        self.signing.add(signer)?;
        Ok(self)
    }

    /// Excludes the recipients from the statement that the signers sign. Without this call, the signers also sign the
    /// list of recipients. A person who gets the file from one of the recipients sees in this list that the signers
    /// sealed the file for other people.
    #[must_use]
    pub fn for_anyone(mut self) -> Self {
        self.signing.for_anyone = true;
        self
    }

    /// Seals the regular file `input` on all cores, and writes the sealed file to the regular file `output`, with
    /// positioned reads and writes. The length of `input` is read when the call begins, so bytes that are appended
    /// later are not sealed. `output` must be empty. `output` must not be open for appending, because systems then
    /// ignore the positions.
    ///
    /// # Errors
    /// If `input` or `output` is not a regular file, if `output` is not empty, if `input` becomes shorter, if reading
    /// or writing fails, or if the system fails. After an error, the contents of `output` are not usable.
    pub fn seal_file(&self, input: &File, output: &File, work: &Work<'_>) -> Result<Summary, Error> {
        let about = input.metadata().map_err(Error::Read)?;
        if !about.is_file() {
            return Err(Error::NotRegular);
        }
        self.seal_at(input, about.len(), output, work)
    }

    /// Seals the first `length` bytes of `input` to `output`, on all cores, with positioned reads and writes. If
    /// `output` is a file, the file must be empty, and must not be open for appending.
    ///
    /// # Errors
    /// If `input` has fewer than `length` bytes, if `output` cannot be used, if reading or writing fails, or if the
    /// system fails. After an error, the contents of `output` are not usable.
    pub fn seal_at(
        &self,
        input: &impl ReadAt,
        length: u64,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        output.check()?;
        if let Some(level) = self.level {
            return self.compress_at(level, input, length, output, work);
        }
        let start = Start::new(self)?;
        let segments = start.segments_for(length)?;
        let long = segments.data() > start.unit() as u64;
        let draft = Draft::begin(start, long, |begin| Shelf::Placed(output, begin + segments.sealed()))?;
        let (begin, source) = (draft.length() as u64, file::Plain { input, length, padded: self.contents.padded });
        let put_header = |header: &[u8]| output.write_all_at(header, 0).map_err(Error::Write);
        let (header, ()) =
            draft.make(put_header, |payload| file::seal(payload, &source, segments, output, begin, work))?;
        let trailer = draft.finish(&header, io::sink())?;
        Ok(Summary { plain: length, sealed: begin + segments.sealed() + trailer, signatures: None })
    }

    /// Returns the length of the sealed file that [`Sealing::seal`], [`Sealing::seal_into`], [`Sealing::seal_file`] and
    /// [`Sealing::seal_at`] make from `length` bytes. If the data are compressed, returns the largest possible length.
    ///
    /// # Errors
    /// If the data are too long, or if the system has no random bytes.
    pub fn sealed_length(&self, length: u64) -> Result<u64, Error> {
        let length = if self.level.is_some() { most_stored(length).ok_or(Error::TooLong)? } else { length };
        let start = Start::new(self)?;
        let segments = start.segments_for(length)?;
        let sealed = start.length(segments) + segments.sealed();
        start.put_back();
        Ok(sealed + self.signing.trailer_length(&self.contents, &self.recipients, segments.count()))
    }

    /// Seals the stream `input`, and writes the sealed file to the stream `output`, in order, on all cores.
    ///
    /// # Errors
    /// If reading or writing fails, if the data are too long, or if the system fails. After an error, the output must
    /// not be used.
    pub fn seal_stream(
        &self,
        mut input: impl Read + Send,
        mut output: impl Write + Send,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        if let Some(level) = self.level {
            let pieces = Pieces::from_reader(Told { inner: &mut input, work }, level, work.threads);
            return self.compress_stream(pieces, &mut output, work);
        }
        if self.contents.padded {
            let mut counted = Counted { input, read: 0 };
            let summary = self.seal_dyn(&mut Padded::new(&mut counted), &mut output, work)?;
            return Ok(Summary { plain: counted.read, ..summary });
        }
        self.seal_dyn(&mut input, &mut output, work)
    }

    /// Does the work of [`Sealing::seal_stream`]. The reader and the writer are trait objects, so the engine is
    /// compiled only once, and not for each type of reader and writer. The engine calls a trait object only once for
    /// each unit, so these calls cost little.
    fn seal_dyn(
        &self,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let start = Start::new(self)?;
        let input = stream::Stream::start(input, start.unit())?;
        units(start, input, output, work).map(|(summary, _)| summary)
    }

    /// Seals the data of a [`Source`] to a stream, on all cores.
    ///
    /// # Errors
    /// If reading or writing fails, if the data are too long, or if the system fails. After an error, the output must
    /// not be used.
    pub fn gather<S: Source>(
        &self,
        source: S,
        mut output: impl Write + Send,
        work: &Work<'_>,
    ) -> Result<(Summary, S), Error> {
        if self.goes_alone() {
            let mut source = Alone { inner: source, ended: false };
            let summary = self.seal_stream(&mut source, &mut output, work)?;
            return Ok((summary, source.inner));
        }
        let start = Start::new(self)?;
        let input = stream::Gathered::start(source, start.unit())?;
        let (summary, input) = units(start, input, &mut output, work)?;
        Ok((summary, input.into_source()))
    }

    /// Seals the data of a [`Source`] to `output`, on all cores, with positioned writes. If `output` is a file, the
    /// file must be empty, and must not be open for appending.
    ///
    /// # Errors
    /// If `output` cannot be used, if reading or writing fails, if the data are too long, or if the system fails. After
    /// an error, the contents of `output` are not usable.
    pub fn gather_at<S: Source>(
        &self,
        source: S,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<(Summary, S), Error> {
        output.check()?;
        if let Some(level) = self.level {
            let mut source = Alone { inner: source, ended: false };
            let pieces = Pieces::from_reader(Told { inner: &mut source, work }, level, work.threads);
            let summary = self.compress_to(pieces, output, work)?;
            return Ok((summary, source.inner));
        }
        if self.goes_alone() {
            return self.gather(source, InOrder::new(output), work);
        }
        self.place(source, output, work)
    }

    /// Seals the data of a source, with positioned writes.
    fn place<S: Source>(&self, source: S, output: &impl WriteAt, work: &Work<'_>) -> Result<(Summary, S), Error> {
        let start = Start::new(self)?;
        let input = stream::Gathered::start(source, start.unit())?;
        let draft = Draft::begin(start, !input.ended(), |_| Shelf::held())?;
        let begin = draft.length() as u64;
        let placing = Placing::new(output, begin, draft.unit());
        let put_header = |header: &[u8]| output.write_all_at(header, 0).map_err(Error::Write);
        let (header, passed) = draft.make(put_header, |payload| stream::seal(payload, input, placing, work))?;
        let end = begin + passed.written;
        let trailer = draft.finish(&header, InOrder::at(output, end))?;
        passed.output.end(end + trailer).map_err(Error::Write)?;
        let summary = Summary { plain: passed.read, sealed: end + trailer, signatures: None };
        Ok((summary, passed.input.into_source()))
    }

    /// Returns whether the engine must read one byte more than a unit, to know whether the unit is the last. This is
    /// necessary to pad or compress the data. Reading ahead is also necessary for age files: age allows no empty chunk
    /// after other chunks, but the data from a source may end with an empty piece.
    fn goes_alone(&self) -> bool {
        self.contents.padded || self.level.is_some() || self.format == Format::Age
    }

    /// Seals bytes in memory. Seals data of more than a few mebibytes on all cores.
    ///
    /// # Errors
    /// If the system has no random bytes, or no memory to hash a passphrase.
    pub fn seal(&self, plain: &[u8]) -> Result<Vec<u8>, Error> {
        match self.level {
            Some(level) => self.seal_padded(&compressed(plain, level, &Work::default())?),
            None => self.seal_padded(plain),
        }
    }

    fn seal_padded(&self, plain: &[u8]) -> Result<Vec<u8>, Error> {
        if self.contents.padded { self.seal_all(&padded(plain)?) } else { self.seal_all(plain) }
    }

    fn seal_all(&self, plain: &[u8]) -> Result<Vec<u8>, Error> {
        let draft = self.draft_in_memory(plain)?;
        let begin = draft.length();
        let mut sealed = vec![0; begin];
        let (header, ()) = draft.make(|_| Ok(()), |payload| memory::seal(payload, plain, &mut sealed))?;
        sealed[..begin].copy_from_slice(&header);
        draft.finish(&header, &mut sealed)?;
        Ok(sealed)
    }

    fn draft_in_memory(&self, plain: &[u8]) -> Result<Draft<'_, 'static>, Error> {
        let start = Start::new(self)?;
        let long = plain.len() > start.unit();
        Draft::begin(start, long, |_| Shelf::held())
    }

    /// Seals bytes into a buffer, and returns the length of the result. [`Sealing::sealed_length`] returns the
    /// necessary length of the buffer. Seals data of more than a few mebibytes on all cores.
    ///
    /// # Errors
    /// If the buffer is too small, if the work is stopped, or if the system has no random bytes, or no memory to hash a
    /// passphrase. After an error, the contents of the buffer are not usable.
    pub fn seal_into(&self, plain: &[u8], sealed: &mut [u8], work: &Work<'_>) -> Result<usize, Error> {
        let stored = self.level.map(|level| compressed(plain, level, work)).transpose()?;
        let plain = stored.as_ref().map_or(plain, |stored| &stored[..]);
        let work = &if stored.is_some() { Work { progress: None, ..*work } } else { *work };
        if self.contents.padded {
            return self.seal_all_into(&padded(plain)?, sealed, work);
        }
        self.seal_all_into(plain, sealed, work)
    }

    fn seal_all_into(&self, plain: &[u8], sealed: &mut [u8], work: &Work<'_>) -> Result<usize, Error> {
        let draft = self.draft_in_memory(plain)?;
        let segments = draft.payload().segments_for(plain.len() as u64)?;
        let (front, rest) = sealed.split_at_mut_checked(draft.length()).ok_or(SMALL)?;
        let (body, mut end) = rest.split_at_mut_checked(segments.sealed() as usize).ok_or(SMALL)?;
        let (header, ()) = draft.make(|_| Ok(()), |payload| memory::seal_into(payload, plain, body, work))?;
        front.copy_from_slice(&header);
        let room = end.len();
        let trailer = draft.finish(&header, &mut end).map_err(|error| match error {
            Error::Write(error) if error.kind() == io::ErrorKind::WriteZero => SMALL,
            error => error,
        })?;
        debug_assert_eq!(trailer, (room - end.len()) as u64);
        Ok(front.len() + body.len() + trailer as usize)
    }

    /// Writes the header to `output`, and returns a writer. The writer seals the bytes that are written to it, on the
    /// caller's thread. Call [`Sealer::finish`] at the end.
    ///
    /// # Errors
    /// If the system has no random bytes, or no memory to hash a passphrase.
    pub fn write_to<W: Write>(&self, mut output: W) -> Result<Sealer<W>, Error> {
        // The length of the data is not known, so the header has no room for more recipients.
        let draft = Draft::begin(Start::new(self)?, false, |_| Shelf::held())?;
        let header = draft.header()?;
        output.write_all(&header).map_err(Error::Write)?;
        let (payload, ending) = draft.into_ending(&header)?;
        Ok(Sealer::new(payload, output, self.contents.padded, self.level, ending))
    }
}

/// Compresses bytes in memory.
fn compressed(plain: &[u8], level: Level, work: &Work<'_>) -> Result<Wiped<Vec<u8>>, Error> {
    let mut stored = Wiped::new(Vec::new());
    let room = plain.len() + plain.len() / 256 + 256;
    stored.try_reserve_exact(room).map_err(|_| Error::System("there is not enough memory to compress the data"))?;
    let mut compressor = Compressor::new(Told { inner: plain, work }, level, work.threads);
    compressor.read_to_end(&mut stored).map_err(|error| Error::Read(error).or_inner())?;
    Ok(stored)
}

fn units<I: Input>(
    start: Start<'_>,
    input: I,
    output: &mut (dyn Write + Send),
    work: &Work<'_>,
) -> Result<(Summary, I), Error> {
    let draft = Draft::begin(start, !input.ended(), |_| Shelf::held())?;
    let header = draft.header()?;
    output.write_all(&header).map_err(Error::Write)?;
    let Passed { read, written, input, output } = stream::seal(&draft.payload(), input, Writing(output), work)?;
    let trailer = draft.finish(&header, &mut *output.0)?;
    output.0.flush().map_err(Error::Write)?;
    let sealed = header.len() as u64 + written + trailer;
    Ok((Summary { plain: read, sealed, signatures: None }, input))
}
