//! Reads the data of a sealed file at any position: one range in one call, or with a reader that can seek.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use super::Opened;
use super::opened::Located;
use crate::format::deadpan::padding::End;
use crate::format::deadpan::trailer::{SeekChecker, Shared, WatchedCipher};
use crate::format::payload::{AnyPayload, OwnedCipher};
use crate::format::positions::read_full_at;
use crate::format::segment::{Payload, SeekReader, SegmentCipher};
use crate::{Cursor, Error, ReadAt, Signatures};
use deadpan_compress::SeekExpander;
use deadpan_ct::{Wipe, Wiped};

/// A reader that opens data at any position. The reader opens only the segments that contain the requested data. If the
/// file is signed, the reader returns only data that were signed.
pub struct RangeReader<R> {
    inner: Inner<R>,
    signatures: Option<Signatures>,
}

enum Inner<R> {
    Plain(Box<RangeStored<R>>),
    Compressed(Box<SeekExpander<RangeStored<R>>>),
}

type RangeStored<R> = StoredRange<WatchedCipher<OwnedCipher, Option<SeekChecker<R>>>, Shared<R>>;

/// Reads data at any position, or the stored bytes of compressed data, without the padding.
pub(super) struct StoredRange<C, R> {
    reader: SeekReader<C, R>,
    length: u64,
}

impl<C: SegmentCipher, R: Read + Seek> StoredRange<C, R> {
    /// Reads from the segments. If the data are padded, finds the end of the data.
    pub(super) fn new(mut reader: SeekReader<C, R>, padded: bool) -> Result<Self, Error> {
        let length = if padded { end_of_padded(&mut reader)? } else { reader.length() };
        reader.rewind().map_err(Error::Read)?;
        Ok(Self { reader, length })
    }
}

impl<R> fmt::Debug for RangeReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeReader").finish_non_exhaustive()
    }
}

impl<R: Read + Seek> RangeReader<R> {
    fn new(located: Located, input: R, opened: &Opened) -> Result<Self, Error> {
        let begin = opened.begin();
        let Located { payload, segments, signed } = located;
        let input = Shared::new(input);
        let signatures = signed.as_ref().map(|(verified, _)| verified.signatures.clone());
        let watch = signed.map(|(verified, begin)| SeekChecker { verified, input: input.clone(), begin });
        let cipher = WatchedCipher { cipher: payload.into_cipher(), watch };
        let reader = SeekReader::over(cipher, input, begin, begin + segments.sealed())?;
        let stored = StoredRange::new(reader, opened.hides_length())?;
        let inner = if opened.expands() {
            Inner::Compressed(Box::new(SeekExpander::new(stored).map_err(|error| Error::Read(error).or_inner())?))
        } else {
            Inner::Plain(Box::new(stored))
        };
        Ok(Self { inner, signatures })
    }

    /// Creates a reader for the segments of a damaged file that nobody signed. The reader's length is the number of
    /// bytes of data in all segments, including the padding.
    fn over_damaged(payload: AnyPayload, input: R, begin: u64, end: u64) -> Result<Self, Error> {
        let cipher = WatchedCipher { cipher: payload.into_cipher(), watch: None };
        let reader = SeekReader::over_damaged(cipher, Shared::new(input), begin, end)?;
        let inner = Inner::Plain(Box::new(StoredRange { length: reader.length(), reader }));
        Ok(Self { inner, signatures: None })
    }

    /// Returns the signatures of the file, or `None` if nobody signed the file. The signatures are already checked. The
    /// reader compares each segment with the signed hash before it returns the data of the segment.
    #[must_use]
    pub fn signatures(&self) -> Option<&Signatures> {
        self.signatures.as_ref()
    }

    /// Moves the position to the end of the current segment, for example to skip a damaged segment. In compressed data,
    /// moves the position to the end of the current frame. Returns the new position. The new position is at most the
    /// length of the data.
    pub fn skip_segment(&mut self) -> u64 {
        match &mut self.inner {
            Inner::Plain(stored) => stored.reader.skip_segment().min(stored.length),
            Inner::Compressed(expander) => expander.skip_frame(),
        }
    }

    /// Returns the length to which the data are compressed, or `None` if the data are not compressed.
    #[must_use]
    pub fn compressed_length(&self) -> Option<u64> {
        match &self.inner {
            Inner::Plain(_) => None,
            Inner::Compressed(expander) => Some(expander.table().stored()),
        }
    }

    /// Returns the length of the plain data.
    #[must_use]
    pub fn length(&self) -> u64 {
        match &self.inner {
            Inner::Plain(stored) => stored.length,
            Inner::Compressed(expander) => expander.length(),
        }
    }
}

/// Finds the end of padded data. The search for the padding begins at the end of the file, because there is less
/// padding than data.
fn end_of_padded<C: SegmentCipher, R: Read + Seek>(reader: &mut SeekReader<C, R>) -> Result<u64, Error> {
    let mut end = End::default();
    let mut begin = reader.length();
    while begin > 0 && end.is_open() {
        begin = reader.seek_segment(begin - 1);
        let data = reader.here()?;
        end.see(begin, data);
    }
    end.length(reader.length())
}

impl<R: Read + Seek> Read for RangeReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.inner {
            Inner::Plain(stored) => stored.read(buffer),
            Inner::Compressed(expander) => expander.read(buffer).map_err(Error::expanding),
        }
    }
}

impl<R: Read + Seek> Seek for RangeReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match &mut self.inner {
            Inner::Plain(stored) => stored.seek(to),
            Inner::Compressed(expander) => expander.seek(to),
        }
    }
}

impl<C: SegmentCipher, R: Read + Seek> Read for StoredRange<C, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.length.saturating_sub(self.reader.stream_position()?);
        let wanted = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        self.reader.read(&mut buffer[..wanted])
    }
}

impl<C: SegmentCipher, R: Read + Seek> Seek for StoredRange<C, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let to = match to {
            SeekFrom::End(by) => {
                SeekFrom::Start(self.length.checked_add_signed(by).ok_or(io::ErrorKind::InvalidInput)?)
            }
            other => other,
        };
        self.reader.seek(to)
    }
}

impl Opened {
    /// Reads a range of the data of `input`, a whole sealed file of `length` bytes, into `data`. `data` must be as long
    /// as the range. One read call copies all segments that contain the range into the buffer `sealed`. One read call
    /// is best for an input that is slow to respond. A caller that reads many ranges saves time by passing the same
    /// buffer `sealed` each time. If the file was cut off after the range, this method does not detect the loss.
    /// [`Opened::seek_in`] notices it.
    ///
    /// # Errors
    /// If the range ends after the end of the data, if the data were changed, or if reading fails. [`Error::Invalid`]
    /// if [`Opened::needs_end`] returns `true`, because this method does not read the end of the file.
    /// [`Error::Invalid`] if `data` and the range differ in length. `data` is wiped after an error.
    pub fn read_range(
        &self,
        input: &impl ReadAt,
        length: u64,
        range: Range<u64>,
        sealed: &mut Vec<u8>,
        data: &mut [u8],
    ) -> Result<(), Error> {
        let opened = self.locate_range(input, length, &range, data.len());
        let opened = opened.and_then(|located| self.open_range(input, &located, range, sealed, data));
        opened.inspect_err(|_| data.wipe())
    }

    /// Checks that a range is `wanted` bytes long and does not exceed the data. Returns the positions of the file's
    /// segments.
    fn locate_range(
        &self,
        input: &impl ReadAt,
        length: u64,
        range: &Range<u64>,
        wanted: usize,
    ) -> Result<Located, Error> {
        if self.needs_end() {
            return Err(Error::Invalid("an excerpt of a file that is signed or compressed, or hides its length"));
        }
        let located = self.locate(Cursor::new(input, length))?;
        let there = range.end.checked_sub(range.start).filter(|_| range.end <= located.segments.data());
        match there.ok_or(Error::Invalid("an excerpt behind the end of the data"))? {
            there if there == wanted as u64 => Ok(located),
            _ => Err(Error::Invalid("a buffer of another length than the excerpt")),
        }
    }

    fn open_range(
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

    /// Returns a reader that can seek. The reader opens only the segments that the caller reads. `input` is the whole
    /// sealed file.
    ///
    /// # Errors
    /// If the file cannot have this length, if its last segment does not open, or if a signature is wrong.
    pub fn seek_in<R: Read + Seek>(&self, mut input: R) -> Result<RangeReader<R>, Error> {
        RangeReader::new(self.locate(&mut input)?, input, self)
    }

    /// Does the same as [`Opened::seek_in`], but for a file whose end may be damaged or missing. All data that the
    /// reader returns are authentic, but the length of the data is not authentic. The reader returns padding as data.
    ///
    /// # Errors
    /// [`Error::Invalid`] if the file is signed or compressed, because signatures and the seek table are at the end.
    /// Another error if even the beginning of the payload is damaged.
    pub fn seek_in_damaged<R: Read + Seek>(&self, mut input: R) -> Result<RangeReader<R>, Error> {
        if self.is_signed() || self.expands() {
            return Err(Error::Invalid("the beginning of a signed or compressed file"));
        }
        let length = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        input.seek(SeekFrom::Start(self.unlocked.header_length() as u64)).map_err(Error::Read)?;
        let payload = self.payload(&mut input)?;
        RangeReader::over_damaged(payload, input, self.begin(), length)
    }
}
