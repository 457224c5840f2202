//! Files whose header is open.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

use super::Opener;
use super::unlocked::Unlocked;
use crate::api::engine::stream::Passed;
use crate::api::engine::units::{Alone, Drain, Giving, Sink, Writing};
use crate::api::engine::{file, memory, stream};
use crate::format::deadpan::metadata::Contents;
use crate::format::deadpan::padding::{Stripped, Stripper};
use crate::format::deadpan::trailer::{Checker, Expected, Leaves, PayloadReader, Verified, Watched};
use crate::format::fill::Counted;
use crate::format::payload::AnyPayload;
use crate::format::segment::{Payload, Segments};
use crate::{Cursor, Error, Format, Metadata, PublicKey, ReadAt, Signatures, Summary, Work, WriteAt};
use deadpan_ct::{Wipe, Wiped};

/// A file whose header is open. This value holds the file key, and its methods open the payload.
pub struct Opened {
    pub(super) unlocked: Unlocked,
    pub(super) contents: Contents,
    /// The public keys of the private keys that opened the header.
    keys: Vec<PublicKey>,
    /// Whether the caller wants compressed data as they are stored.
    as_stored: bool,
}

/// The parts of a whole sealed file.
pub(super) struct Located {
    pub(super) payload: AnyPayload,
    pub(super) segments: Segments,
    /// The checked upper part of the hash tree, and the position of the trailer. This field is `None` if the file is
    /// not signed.
    pub(super) signed: Option<(Verified, u64)>,
}

impl Located {
    /// Opens the segments with `open`. If the file is signed, `open` compares the segments with the signed hashes.
    /// `input` holds the trailer.
    pub(super) fn open<R: ReadAt, T>(
        self,
        input: &R,
        open: impl FnOnce(&Watched<'_, AnyPayload, Option<Checker<'_, R>>>, Segments) -> Result<T, Error>,
    ) -> Result<(T, Option<Signatures>), Error> {
        let checker = self.signed.map(|(verified, begin)| Checker { verified, input, begin });
        let opened = open(&Watched { payload: &self.payload, watch: &checker }, self.segments)?;
        Ok((opened, checker.map(|checker| checker.verified.signatures)))
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opened(..)")
    }
}

impl Opened {
    pub(super) fn new(unlocked: Unlocked, contents: Contents, keys: Vec<PublicKey>) -> Self {
        Self { unlocked, contents, keys, as_stored: false }
    }

    /// Returns the format of the file.
    #[must_use]
    pub fn format(&self) -> Format {
        self.unlocked.format()
    }

    /// Returns whether the file is signed. Each method that opens the data of a signed file also checks the signatures.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.expected().is_some()
    }

    /// Returns the values that the signatures must match, or `None` if the file is not signed.
    pub(crate) fn expected(&self) -> Option<Expected<'_>> {
        match &self.unlocked {
            Unlocked::Deadpan { key, opener, .. } if key.preamble().is_signed() => {
                Some(Expected { key, metadata: self.contents.fields(), opener })
            }
            _ => None,
        }
    }

    /// Checks the signatures of a whole sealed file, and returns the signatures; `None` if nobody signed it. This
    /// method does not open the data, so it does not check whether the data in the file are the signed data. Each
    /// method that opens the data compares the data with the signed hashes.
    ///
    /// # Errors
    /// If the file was changed or cut short, or if a signature is wrong.
    pub fn check_signatures<R: Read + Seek>(&self, input: R) -> Result<Option<Signatures>, Error> {
        Ok(self.locate(input)?.signed.map(|(verified, _)| verified.signatures))
    }

    /// Returns the public keys of the private keys that opened the file. If the file is sealed to a threshold, these
    /// can be several keys. If a passphrase or the shares of other people opened the file, returns no key.
    #[must_use]
    pub fn opened_by(&self) -> &[PublicKey] {
        &self.keys
    }

    /// Returns the metadata that were sealed with the data. An age file has no metadata.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.contents.metadata
    }

    /// Returns whether the length of the data is hidden.
    #[must_use]
    pub fn hides_length(&self) -> bool {
        self.contents.padded
    }

    /// Returns whether the data are compressed.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.contents.compressed
    }

    /// Makes all methods return compressed data as they are stored: in Zstandard's seekable format, which any Zstandard
    /// decoder reads. Has no effect on data that are not compressed.
    #[must_use]
    pub fn as_stored(mut self) -> Self {
        self.as_stored = true;
        self
    }

    /// Returns whether the methods of this type expand the data.
    pub(crate) fn expands(&self) -> bool {
        self.contents.compressed && !self.as_stored
    }

    /// Returns whether a reader needs the end of the file before it can read any range of the data, because the file is
    /// signed or compressed, or hides its length.
    #[must_use]
    pub fn needs_end(&self) -> bool {
        self.is_signed() || self.hides_length() || self.expands()
    }

    /// Returns the number of bytes before the first segment.
    pub(super) fn begin(&self) -> u64 {
        self.unlocked.begin()
    }

    /// Reads the beginning of the payload.
    pub(crate) fn payload(&self, input: impl Read) -> Result<AnyPayload, Error> {
        self.unlocked.payload(input)
    }

    /// Finds the parts of a whole sealed file, and checks the signatures of the file.
    pub(super) fn locate<R: Read + Seek>(&self, mut input: R) -> Result<Located, Error> {
        let length = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        input.seek(SeekFrom::Start(self.unlocked.header_length() as u64)).map_err(Error::Read)?;
        let payload = self.payload(&mut input)?;
        self.locate_in(payload, input, self.begin(), length)
    }

    /// Finds the segments, which begin at `begin`, and the trailer after the segments.
    fn locate_in(&self, payload: AnyPayload, input: impl Read + Seek, begin: u64, end: u64) -> Result<Located, Error> {
        let Some(expected) = self.expected() else {
            let segments = payload.segments_in(end.saturating_sub(begin))?;
            return Ok(Located { payload, segments, signed: None });
        };
        let (verified, trailer) = Verified::read_at(&expected, input, begin, end)?;
        let segments = payload.segments_in(trailer - begin)?;
        verified.check_segments(segments.count(), segments.data())?;
        Ok(Located { payload, segments, signed: Some((verified, trailer)) })
    }

    /// Opens the regular file `input` on all cores, and writes the data to the regular file `output`, with positioned
    /// reads and writes. `input` is the whole sealed file. `output` must be empty. `output` must not be open for
    /// appending, because systems then ignore the positions.
    ///
    /// # Errors
    /// If the output is not empty, if the data were changed or cut short, or if the system fails. After an error, the
    /// contents of `output` must not be used.
    pub fn open_file(&self, input: &File, output: &File, work: &Work<'_>) -> Result<Summary, Error> {
        let length = (&mut &*input).seek(SeekFrom::End(0)).map_err(Error::Read)?;
        self.open_at(input, length, output, work)
    }

    /// Opens `input`, a whole sealed file of `length` bytes, on all cores, and writes the data to `output`, with
    /// positioned reads and writes. If `output` is a file, the file must be empty, and must not be open for appending.
    /// Any other output must have space for [`Opened::room_at`] bytes. After the call, the first [`Summary::plain`]
    /// bytes of the output are the data.
    ///
    /// # Errors
    /// If `output` cannot be used, if the data were changed or cut short, if reading or writing fails, or if the system
    /// fails. After an error, the contents of `output` must not be used.
    pub fn open_at(
        &self,
        input: &impl ReadAt,
        length: u64,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        output.check()?;
        let located = self.locate(Cursor::new(input, length))?;
        if self.expands() {
            return Ok(Summary { sealed: length, ..self.expand_at(located, input, output, work)? });
        }
        let (begin, padded) = (self.begin(), self.contents.padded);
        let (plain, signatures) = located
            .open(input, |payload, segments| file::open(payload, input, begin, segments, padded, output, work))?;
        if padded {
            output.cut(plain).map_err(Error::Write)?;
        }
        Ok(Summary { plain, sealed: length, signatures })
    }

    /// Returns how many bytes of space [`Opened::open_at`] and [`Opened::open_into`] need for the data of `input`, a
    /// whole sealed file of `length` bytes.
    ///
    /// # Errors
    /// If no sealed file has this length, if the beginning of the file was changed, or if reading fails.
    pub fn room_at(&self, input: &impl ReadAt, length: u64) -> Result<u64, Error> {
        if self.expands() {
            return Ok(self.seek_in(Cursor::new(input, length))?.length());
        }
        Ok(self.locate(Cursor::new(input, length))?.segments.data())
    }

    /// Opens the sealed stream `input`, and writes the data to the stream `output`, in order, on all cores. `input`
    /// begins after the header. All written data are authentic. The data are complete only if this method returns
    /// without an error.
    ///
    /// # Errors
    /// If the data were changed or cut short, if reading or writing fails, or if the system fails.
    pub fn open_stream(
        &self,
        mut input: impl Read + Send,
        mut output: impl Write + Send,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        self.open_dyn(&mut input, &mut output, work)
    }

    /// Does the work of [`Opened::open_stream`]. The reader and the writer are trait objects, so the engine is compiled
    /// only once, and not for each type of reader and writer. The engine calls a trait object only once for each unit,
    /// so these calls cost little.
    fn open_dyn(
        &self,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let (summary, output) =
            if self.expands() { self.expand(input, output, work)? } else { self.strip(input, output, work)? };
        output.flush().map(|()| summary).map_err(Error::Write)
    }

    /// Opens a stream, and removes the padding.
    pub(super) fn strip<W: Write + Send>(
        &self,
        input: &mut (dyn Read + Send),
        output: W,
        work: &Work<'_>,
    ) -> Result<(Summary, W), Error> {
        if !self.contents.padded {
            return self.units(input, Writing(output), work).map(|(summary, output)| (summary, output.0));
        }
        let stripped = Stripped { output, stripper: Stripper::default() };
        let (summary, Writing(Stripped { output, stripper })) = self.units(input, Writing(stripped), work)?;
        Ok((Summary { plain: stripper.finish()?, ..summary }, output))
    }

    /// Opens a stream, and passes the data to a [`Sink`], on all cores. `input` begins after the header. All data that
    /// the sink receives are authentic. The data are complete only if this method returns without an error.
    ///
    /// # Errors
    /// If the data were changed or cut short, if reading or writing fails, or if the system fails.
    pub fn scatter<S: Sink>(
        &self,
        mut input: impl Read + Send,
        sink: S,
        work: &Work<'_>,
    ) -> Result<(Summary, S), Error> {
        if !self.contents.padded && !self.expands() {
            let (summary, sink) = self.units(&mut input, Giving(sink), work)?;
            return Ok((summary, sink.0));
        }
        let output = Alone { inner: sink, ended: false };
        let (summary, output) =
            if self.expands() { self.expand(&mut input, output, work)? } else { self.strip(&mut input, output, work)? };
        Ok((summary, output.inner))
    }

    fn units<S: Drain>(
        &self,
        mut input: &mut (dyn Read + Send),
        sink: S,
        work: &Work<'_>,
    ) -> Result<(Summary, S), Error> {
        let payload = self.payload(&mut input)?;
        let expected = self.expected();
        let leaves = expected.is_some().then(Leaves::new);
        let mut input = PayloadReader::new(input, leaves.is_some().then(|| payload.shape().sealed));
        let watched = Watched { payload: &payload, watch: &leaves };
        let segments = stream::Stream::start(&mut input, stream::sealed_unit(&payload))?;
        let Passed { read, written, output, .. } = stream::open(&watched, segments, sink, work)?;
        let mut trailer = Counted { input: input.inner(), read: 0 };
        let check = |(expected, leaves)| Verified::read(expected, &mut trailer, leaves);
        let signatures = expected.as_ref().zip(leaves.as_ref()).map(check).transpose()?;
        Ok((Summary { plain: written, sealed: self.begin() + read + trailer.read, signatures }, output))
    }

    /// Opens bytes in memory. `payload` begins after the header. Opens data of more than a few mebibytes on all cores.
    /// This method checks the signatures of a signed file, but does not return them. [`Opened::open_stream`] and
    /// [`Opened::open_into`] return the signatures.
    ///
    /// # Errors
    /// If the data were changed or cut short.
    pub fn open(&self, mut payload: &[u8]) -> Result<Vec<u8>, Error> {
        let keys = self.payload(&mut payload)?;
        let located = self.locate_in(keys, std::io::Cursor::new(payload), 0, payload.len() as u64)?;
        let mut plain = Vec::new();
        located
            .open(&payload, |keys, segments| memory::open(keys, &payload[..segments.sealed() as usize], &mut plain))?;
        let length = self.length_of(&mut plain)?;
        plain.truncate(length as usize);
        if !self.expands() {
            return Ok(plain);
        }
        Self::expand_bytes(&Wiped::new(plain))
    }

    /// Opens `input`, a whole sealed file of `length` bytes, into a buffer of at least [`Opened::room_at`] bytes. After
    /// the call, the first [`Summary::plain`] bytes of the buffer are the data. Opens data of more than a few mebibytes
    /// on all cores.
    ///
    /// If [`ReadAt::bytes_at`] returns `None`, `input` may change during this call: each segment is read only once, so
    /// the opened data are authentic. For memory that other programs can write, such as a memory map, implement a
    /// [`ReadAt`] that copies.
    ///
    /// # Errors
    /// If the buffer is too small, if the data were changed or cut short, if reading fails, or if the work is stopped.
    /// After an error, the buffer contains none of the data.
    pub fn open_into(
        &self,
        input: &impl ReadAt,
        length: u64,
        plain: &mut [u8],
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let located = self.locate(Cursor::new(input, length))?;
        let begin = self.begin();
        if self.expands() {
            let plain = room_for(self.room_at(input, length)?, plain)?;
            let room = usize::try_from(located.segments.data()).map_err(|_| Error::TooLong)?;
            let (mut stored, inside) = (Wiped::new(vec![0; room]), Work { progress: None, ..*work });
            let ((), signatures) = located.open(input, |payload, segments| {
                memory::open_into(payload, segments, input, begin, &mut stored, &inside)
            })?;
            let end = self.length_of(&mut stored)?;
            Self::expand_into(&stored[..end as usize], plain, work)?;
            return Ok(Summary { plain: plain.len() as u64, sealed: length, signatures });
        }
        let plain = room_for(located.segments.data(), plain)?;
        let ((), signatures) =
            located.open(input, |payload, segments| memory::open_into(payload, segments, input, begin, plain, work))?;
        let plain = self.length_of(plain)?;
        Ok(Summary { plain, sealed: length, signatures })
    }

    /// Returns the length of the data, without the padding after the data. If the padding is wrong, wipes the data.
    fn length_of(&self, plain: &mut [u8]) -> Result<u64, Error> {
        if !self.contents.padded {
            return Ok(plain.len() as u64);
        }
        let mut stripper = Stripper::default();
        stripper.pass(plain);
        stripper.finish().inspect_err(|_| plain.wipe())
    }

    /// Returns a reader that opens the data in order, on the caller's thread. `input` begins after the header.
    ///
    /// # Errors
    /// If the payload's header cannot be read or was changed.
    pub fn read_from<R: Read>(&self, mut input: R) -> Result<Opener<R>, Error> {
        let payload = self.payload(&mut input)?;
        Ok(Opener::new(self, payload, input))
    }
}

/// Returns the beginning of the buffer, which has this length.
fn room_for(length: u64, plain: &mut [u8]) -> Result<&mut [u8], Error> {
    let room = usize::try_from(length).ok().and_then(|length| plain.get_mut(..length));
    room.ok_or(Error::Invalid("the buffer is too small"))
}
