//! Files whose header is open.

use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;

use super::unlocked::Unlocked;
use super::{Opener, RangeReader};
use crate::api::engine::stream::Passed;
use crate::api::engine::units::{Alone, Drain, Giving, Sink, Writing};
use crate::api::engine::{file, memory, stream};
use crate::format::deadpan::metadata::Contents;
use crate::format::deadpan::padding::{Stripped, Stripper};
use crate::format::deadpan::trailer::{About, Checker, Leaves, PayloadReader, Verified, Watched};
use crate::format::fill::Counted;
use crate::format::payload::AnyPayload;
use crate::format::positions::{Bytes, read_full_at};
use crate::format::segment::{Payload, SegmentCipher, Segments};
use crate::{Cursor, Error, Format, Metadata, PublicKey, ReadAt, Signatures, Summary, Work, WriteAt};
use deadpan_ct::Wiped;

/// A file whose header is open. It holds the file key, and opens the payload in any of several ways.
pub struct Opened {
    pub(super) unlocked: Unlocked,
    contents: Contents,
    /// The public keys of the private keys that opened the header.
    keys: Vec<PublicKey>,
}

/// The parts of a whole sealed file.
struct Located {
    payload: AnyPayload,
    segments: Segments,
    /// The upper part of the hashes of a signed file, and where its trailer begins.
    signed: Option<(Verified, u64)>,
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opened(..)")
    }
}

impl Opened {
    pub(super) fn new(unlocked: Unlocked, contents: Contents, keys: Vec<PublicKey>) -> Self {
        Self { unlocked, contents, keys }
    }

    /// Returns the format of the file.
    #[must_use]
    pub fn format(&self) -> Format {
        self.unlocked.format()
    }

    /// Returns whether the file is signed. Each way to open it checks the signatures, and returns them with its result.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.about().is_some()
    }

    /// Returns what the signatures have to fit; `None` if the file is not signed.
    pub(crate) fn about(&self) -> Option<About<'_>> {
        match &self.unlocked {
            Unlocked::Deadpan { key, opener, .. } if key.preamble().is_signed() => {
                Some(About { key, metadata: self.contents.fields(), opener })
            }
            _ => None,
        }
    }

    /// Returns who signed a whole sealed file; `None` if nobody did. The data are not opened, so this does not tell
    /// whether the data are those that were signed: each way to open them does.
    ///
    /// # Errors
    /// If the file was changed or cut short, or if a signature is wrong.
    pub fn signatures<R: Read + Seek>(&self, input: R) -> Result<Option<Signatures>, Error> {
        Ok(self.locate(input)?.signed.map(|(verified, _)| verified.signatures))
    }

    /// Returns the public keys of the private keys that opened the file: one, several of a threshold, or none if a
    /// passphrase or shares of others did.
    #[must_use]
    pub fn opened_by(&self) -> &[PublicKey] {
        &self.keys
    }

    /// Returns the metadata that were sealed with the data. An age file has none.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.contents.metadata
    }

    /// Returns whether the length of the data is hidden.
    #[must_use]
    pub fn hides_length(&self) -> bool {
        self.contents.padded
    }

    /// Returns the bytes before the first segment.
    fn begin(&self) -> u64 {
        self.unlocked.begin()
    }

    /// Reads the beginning of the payload.
    pub(crate) fn payload(&self, input: impl Read) -> Result<AnyPayload, Error> {
        self.unlocked.payload(input)
    }

    /// Finds the parts of a whole sealed file, and checks its signatures.
    fn locate<R: Read + Seek>(&self, mut input: R) -> Result<Located, Error> {
        let length = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        input.seek(SeekFrom::Start(self.unlocked.header_length() as u64)).map_err(Error::Read)?;
        let payload = self.payload(&mut input)?;
        self.locate_in(payload, input, self.begin(), length)
    }

    /// Finds the segments, which begin at `begin`, and the trailer after them.
    fn locate_in(&self, payload: AnyPayload, input: impl Read + Seek, begin: u64, end: u64) -> Result<Located, Error> {
        let Some(about) = self.about() else {
            let segments = payload.segments_in(end.saturating_sub(begin))?;
            return Ok(Located { payload, segments, signed: None });
        };
        let (verified, trailer) = Verified::read_at(&about, input, begin, end)?;
        let segments = payload.segments_in(trailer - begin)?;
        verified.check_segments(segments.count(), segments.data())?;
        Ok(Located { payload, segments, signed: Some((verified, trailer)) })
    }

    /// Finds the segments of a payload in memory, and moves to them.
    fn locate_bytes(&self, payload: &mut &[u8]) -> Result<Located, Error> {
        let keys = self.payload(&mut *payload)?;
        self.locate_in(keys, std::io::Cursor::new(*payload), 0, payload.len() as u64)
    }

    /// Opens one regular file to another, on all cores, at positions. `input` is the whole sealed file. `output` must
    /// be empty, and not open for appending, because systems then ignore positions.
    ///
    /// # Errors
    /// If the output is not empty, if the data were changed or cut short, or if the system fails. After an error, the
    /// contents of `output` must not be used.
    pub fn file(&self, input: &File, output: &File, work: &Work<'_>) -> Result<Summary, Error> {
        let length = (&mut &*input).seek(SeekFrom::End(0)).map_err(Error::Read)?;
        self.positions(input, length, output, work)
    }

    /// Opens `input`, a whole sealed file of `length` bytes, to a regular file, on all cores, at positions. `output` is
    /// as for [`Opened::file`], which does this for two regular files.
    ///
    /// # Errors
    /// If the output is not empty, if the data were changed or cut short, or if the system fails. After an error, the
    /// contents of `output` must not be used.
    pub fn positions(
        &self,
        input: &impl ReadAt,
        length: u64,
        output: &File,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        file::check_empty(output)?;
        let summary = self.positions_into(input, length, output, work)?;
        if self.contents.padded {
            output.set_len(summary.plain).map_err(Error::Write)?;
        }
        Ok(summary)
    }

    /// Opens `input`, a whole sealed file of `length` bytes, to `output`, which has room for [`Opened::room_at`] bytes,
    /// on all cores. The first [`Summary::plain`] bytes of `output` are then the data.
    ///
    /// # Errors
    /// If the data were changed or cut short, if reading or writing fails, or if the system fails. After an error, the
    /// contents of `output` must not be used.
    pub fn positions_into(
        &self,
        input: &impl ReadAt,
        length: u64,
        output: &impl WriteAt,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let Located { payload, segments, signed } = self.locate(Cursor::new(input, length))?;
        let checker = signed.map(|(verified, begin)| Checker { verified, input, begin });
        let watched = Watched { payload: &payload, watch: &checker };
        let plain = file::open(&watched, input, self.begin(), segments, self.contents.padded, output, work)?;
        let signatures = checker.map(|checker| checker.verified.signatures);
        Ok(Summary { plain, sealed: length, signatures })
    }

    /// Returns how much room [`Opened::positions_into`] needs for `input`, a whole sealed file of `length` bytes.
    ///
    /// # Errors
    /// If no sealed file has this length, if its beginning was changed, or if reading fails.
    pub fn room_at(&self, input: &impl ReadAt, length: u64) -> Result<u64, Error> {
        Ok(self.locate(Cursor::new(input, length))?.segments.data())
    }

    /// Opens a stream to a stream, on all cores, in order. `input` begins after the header. All written data are
    /// authentic. They are complete only if this method returns without an error.
    ///
    /// # Errors
    /// If the data were changed or cut short, if reading or writing fails, or if the system fails.
    pub fn stream(
        &self,
        mut input: impl Read + Send,
        mut output: impl Write + Send,
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        self.stream_all(&mut input, &mut output, work)
    }

    /// Opens as [`Opened::stream`] does. The reader and the writer are trait objects, so the compiler makes the engine
    /// once, and not for each of their types. The engine calls them once for each unit.
    fn stream_all(
        &self,
        input: &mut (dyn Read + Send),
        output: &mut (dyn Write + Send),
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        if !self.contents.padded {
            let (summary, output) = self.units(input, Writing(output), work)?;
            return output.0.flush().map(|()| summary).map_err(Error::Write);
        }
        let stripped = Stripped { output, stripper: Stripper::default() };
        let (summary, stripped) = self.units(input, Writing(stripped), work)?;
        stripped.0.output.flush().map_err(Error::Write)?;
        Ok(Summary { plain: stripped.0.stripper.finish()?, ..summary })
    }

    /// Opens a stream to a [`Sink`], on all cores. `input` begins after the header. All data that the sink gets are
    /// authentic. They are complete only if this method returns without an error.
    ///
    /// # Errors
    /// If the data were changed or cut short, if reading or writing fails, or if the system fails.
    pub fn scatter<S: Sink>(
        &self,
        mut input: impl Read + Send,
        sink: S,
        work: &Work<'_>,
    ) -> Result<(Summary, S), Error> {
        if !self.contents.padded {
            let (summary, sink) = self.units(&mut input, Giving(sink), work)?;
            return Ok((summary, sink.0));
        }
        let stripped = Stripped { output: Alone { inner: sink, ended: false }, stripper: Stripper::default() };
        let (summary, stripped) = self.units(&mut input, Writing(stripped), work)?;
        let plain = stripped.0.stripper.finish()?;
        Ok((Summary { plain, ..summary }, stripped.0.output.inner))
    }

    fn units<S: Drain>(
        &self,
        mut input: &mut (dyn Read + Send),
        sink: S,
        work: &Work<'_>,
    ) -> Result<(Summary, S), Error> {
        let payload = self.payload(&mut input)?;
        let about = self.about();
        let leaves = about.is_some().then(Leaves::new);
        let mut input = PayloadReader::new(input, leaves.is_some().then(|| payload.shape().sealed));
        let watched = Watched { payload: &payload, watch: &leaves };
        let segments = stream::Stream::start(&mut input, stream::sealed_unit(&payload))?;
        let Passed { read, written, output, .. } = stream::open(&watched, segments, sink, work)?;
        let mut trailer = Counted { input: input.inner(), read: 0 };
        let check = |(about, leaves)| Verified::read(about, &mut trailer, leaves);
        let signatures = about.as_ref().zip(leaves.as_ref()).map(check).transpose()?;
        Ok((Summary { plain: written, sealed: self.begin() + read + trailer.read, signatures }, output))
    }

    /// Opens bytes in memory and appends the data to `plain`. `payload` begins after the header. More than a few
    /// mebibytes are opened on all cores.
    ///
    /// # Errors
    /// If the data were changed or cut short. `plain` is then as before.
    pub fn bytes_onto(&self, mut payload: &[u8], plain: &mut Vec<u8>) -> Result<Summary, Error> {
        let Located { payload: keys, segments, signed } = self.locate_bytes(&mut payload)?;
        let input = Bytes(payload);
        let checker = signed.map(|(verified, begin)| Checker { verified, input: &input, begin });
        let watched = Watched { payload: &keys, watch: &checker };
        let begin = plain.len();
        memory::open(&watched, &payload[..segments.sealed() as usize], plain)?;
        if self.contents.padded {
            let mut stripper = Stripper::default();
            stripper.pass(&plain[begin..]);
            match stripper.finish() {
                Ok(length) => plain.truncate(begin + length as usize),
                Err(error) => {
                    deadpan_ct::Wipe::wipe(&mut plain[begin..]);
                    plain.truncate(begin);
                    return Err(error);
                }
            }
        }
        let signatures = checker.map(|checker| checker.verified.signatures);
        let sealed = self.begin() + payload.len() as u64;
        Ok(Summary { plain: (plain.len() - begin) as u64, sealed, signatures })
    }

    /// Returns how long the buffer for [`Opened::bytes_into`] has to be. `payload` begins after the header.
    ///
    /// # Errors
    /// If no payload has this length, or its beginning was changed.
    pub fn room(&self, mut payload: &[u8]) -> Result<u64, Error> {
        Ok(self.locate_bytes(&mut payload)?.segments.data())
    }

    /// Opens bytes in memory into a buffer, whose first bytes are then the data: see [`Opened::room`]. `payload` begins
    /// after the header. More than a few mebibytes are opened on all cores.
    ///
    /// The bytes must not change meanwhile, as Rust demands of every `&[u8]`. A memory map of a file that others can
    /// write may change: the opened bytes may then not be those that were authenticated. Use
    /// [`Opened::positions_into_bytes`], or open the file.
    ///
    /// # Errors
    /// If the buffer is too small, if the data were changed or cut short, or if the work is stopped. The buffer then
    /// holds nothing of the data.
    pub fn bytes_into(&self, mut payload: &[u8], plain: &mut [u8], work: &Work<'_>) -> Result<Summary, Error> {
        let Located { payload: keys, segments, signed } = self.locate_bytes(&mut payload)?;
        let input = Bytes(payload);
        let checker = signed.map(|(verified, begin)| Checker { verified, input: &input, begin });
        let watched = Watched { payload: &keys, watch: &checker };
        let plain = room_for(segments, plain)?;
        memory::open_into(&watched, &payload[..segments.sealed() as usize], plain, work)?;
        let plain = self.length_of(plain)?;
        let signatures = checker.map(|checker| checker.verified.signatures);
        Ok(Summary { plain, sealed: self.begin() + payload.len() as u64, signatures })
    }

    /// Opens `input`, a whole sealed file of `length` bytes, into a buffer, whose first bytes are then the data: see
    /// [`Opened::room_at`]. `input` may change meanwhile: each segment is read once, and what comes out is authentic.
    /// This is for memory that others can write, such as that of another language or a memory map, from which an
    /// implementation of [`ReadAt`] copies. [`Opened::bytes_into`] is faster, but its bytes must not change.
    ///
    /// # Errors
    /// As [`Opened::bytes_into`], or if reading fails.
    pub fn positions_into_bytes(
        &self,
        input: &impl ReadAt,
        length: u64,
        plain: &mut [u8],
        work: &Work<'_>,
    ) -> Result<Summary, Error> {
        let Located { payload, segments, signed } = self.locate(Cursor::new(input, length))?;
        let checker = signed.map(|(verified, begin)| Checker { verified, input, begin });
        let watched = Watched { payload: &payload, watch: &checker };
        let plain = room_for(segments, plain)?;
        memory::open_copies(&watched, segments, input, self.begin(), plain, work)?;
        let plain = self.length_of(plain)?;
        let signatures = checker.map(|checker| checker.verified.signatures);
        Ok(Summary { plain, sealed: length, signatures })
    }

    /// Returns the length of the data, without the padding after them. If the padding is wrong, wipes the data.
    fn length_of(&self, plain: &mut [u8]) -> Result<u64, Error> {
        if !self.contents.padded {
            return Ok(plain.len() as u64);
        }
        let mut stripper = Stripper::default();
        stripper.pass(plain);
        stripper.finish().inspect_err(|_| deadpan_ct::Wipe::wipe(plain))
    }

    /// Returns a reader that opens in order, on the caller's thread. `input` begins after the header.
    ///
    /// # Errors
    /// If the payload's header cannot be read or was changed.
    pub fn reader<R: Read>(&self, mut input: R) -> Result<Opener<R>, Error> {
        let payload = self.payload(&mut input)?;
        Ok(Opener::new(self, payload, input))
    }

    /// Returns a range of the data of `input`, a whole sealed file of `length` bytes. The segments that hold the range
    /// are read at once, and nothing else is, so this suits an input that answers slowly. It does not notice whether
    /// the file was cut off behind the range, as [`Opened::seekable`] does.
    ///
    /// # Errors
    /// If the range ends behind the data, if the data were changed, or if reading fails. [`Error::Invalid`] if the file
    /// is signed or hides its length, because both need its end.
    pub fn excerpt(&self, input: &impl ReadAt, length: u64, range: Range<u64>) -> Result<Wiped<Vec<u8>>, Error> {
        let (located, wanted) = self.excerpt_at(input, length, &range)?;
        let mut data = Wiped::new(vec![0; wanted]);
        self.read_excerpt(input, &located, range, &mut Vec::new(), &mut data)?;
        Ok(data)
    }

    /// Like [`Opened::excerpt`], but writes the range to `data`, which must be as long as the range. `sealed` is a
    /// buffer for the sealed segments. A caller that reads many ranges saves time by passing the same `sealed` again.
    ///
    /// # Errors
    /// If the range ends behind the data, if the data were changed, or if reading fails. [`Error::Invalid`] if the file
    /// is signed or hides its length, or if `data` has another length than the range. `data` is wiped after an error.
    pub fn excerpt_into(
        &self,
        input: &impl ReadAt,
        length: u64,
        range: Range<u64>,
        sealed: &mut Vec<u8>,
        data: &mut [u8],
    ) -> Result<(), Error> {
        let opened = match self.excerpt_at(input, length, &range) {
            Ok((_, wanted)) if wanted != data.len() => {
                Err(Error::Invalid("a buffer of another length than the excerpt"))
            }
            Ok((located, _)) => self.read_excerpt(input, &located, range, sealed, data),
            Err(error) => Err(error),
        };
        opened.inspect_err(|_| deadpan_ct::Wipe::wipe(data))
    }

    /// Checks a range. Returns where the file's segments lie, and the length of the range.
    fn excerpt_at(&self, input: &impl ReadAt, length: u64, range: &Range<u64>) -> Result<(Located, usize), Error> {
        if self.is_signed() || self.contents.padded {
            return Err(Error::Invalid("an excerpt of a file that is signed or hides its length"));
        }
        let located = self.locate(Cursor::new(input, length))?;
        let wanted = range.end.checked_sub(range.start).filter(|_| range.end <= located.segments.data());
        let wanted = wanted.and_then(|wanted| usize::try_from(wanted).ok());
        Ok((located, wanted.ok_or(Error::Invalid("an excerpt behind the end of the data"))?))
    }

    /// Reads and opens the segments of a range that [`Opened::excerpt_at`] has checked.
    fn read_excerpt(
        &self,
        input: &impl ReadAt,
        located: &Located,
        range: Range<u64>,
        sealed: &mut Vec<u8>,
        data: &mut [u8],
    ) -> Result<(), Error> {
        if data.is_empty() {
            return Ok(());
        }
        let Located { payload, segments, .. } = located;
        let (full, overhead) = (payload.shape().data() as u64, payload.shape().overhead as u64);
        let (first, last) = (range.start / full, (range.end - 1) / full);
        let begin = segments.sealed_at(first);
        let end = segments.sealed_at(last) + segments.data_in(last) as u64 + overhead;
        let sealed_length = (end - begin) as usize;
        sealed.reserve_exact(sealed_length.saturating_sub(sealed.len()));
        sealed.resize(sealed_length, 0);
        if read_full_at(input, sealed, self.begin() + begin).map_err(Error::Read)? < sealed.len() {
            return Err(Error::Truncated);
        }
        let (mut cipher, mut piece) = (payload.cipher(), Wiped::new(Vec::new()));
        let mut rest = data;
        for (segment, sealed) in (first..=last).zip(sealed.chunks(payload.shape().sealed)) {
            let (at, all) = (segments.data_at(segment), segments.data_in(segment));
            let from = range.start.saturating_sub(at) as usize;
            let to = all.min((range.end - at) as usize);
            let here = rest.split_off_mut(..to - from).ok_or(Error::Truncated)?;
            let is_last = segments.is_last(segment);
            if here.len() == all {
                cipher.open(segment, is_last, sealed, here)?;
            } else {
                piece.resize(all, 0);
                cipher.open(segment, is_last, sealed, &mut piece)?;
                here.copy_from_slice(&piece[from..to]);
            }
        }
        Ok(())
    }

    /// Returns a reader that can seek, and opens only the segments that are read. `input` is the whole sealed file.
    ///
    /// # Errors
    /// If the file cannot have this length, if its last segment does not open, or if a signature is wrong.
    pub fn seekable<R: Read + Seek>(&self, mut input: R) -> Result<RangeReader<R>, Error> {
        let Located { payload, segments, signed } = self.locate(&mut input)?;
        RangeReader::new(payload, input, self.begin(), segments, signed, self.contents.padded)
    }

    /// As [`Opened::seekable`], for a file whose end may be damaged or missing. All data that the reader returns are
    /// authentic, but not their length, and padding is returned as data.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the file is signed, because the signatures are at the end. Otherwise if not even the
    /// beginning of the payload is whole.
    pub fn seekable_damaged<R: Read + Seek>(&self, mut input: R) -> Result<RangeReader<R>, Error> {
        if self.is_signed() {
            return Err(Error::Invalid("the beginning of a signed file"));
        }
        let length = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        input.seek(SeekFrom::Start(self.unlocked.header_length() as u64)).map_err(Error::Read)?;
        let payload = self.payload(&mut input)?;
        RangeReader::over_damaged(payload, input, self.begin(), length)
    }
}

/// Returns the beginning of a buffer, as long as the data of all segments.
fn room_for(segments: Segments, plain: &mut [u8]) -> Result<&mut [u8], Error> {
    let room = usize::try_from(segments.data()).ok().and_then(|length| plain.get_mut(..length));
    room.ok_or(Error::Invalid("the buffer is too small"))
}
