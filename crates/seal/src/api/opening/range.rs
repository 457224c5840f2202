//! Reading the data of a sealed file at any position.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use crate::format::deadpan::padding::End;
use crate::format::deadpan::trailer::{SeekChecker, Shared, Verified, WatchedCipher};
use crate::format::payload::{AnyPayload, OwnedCipher};
use crate::format::segment::{SeekReader, Segments};
use crate::{Error, Signatures};

/// A reader that opens at any position. It opens only the segments that hold the wanted data. If the file is signed,
/// all data that it returns are those that were signed.
pub struct RangeReader<R> {
    reader: RangeSegments<R>,
    length: u64,
    signatures: Option<Signatures>,
}

type RangeSegments<R> = SeekReader<WatchedCipher<OwnedCipher, Option<SeekChecker<R>>>, Shared<R>>;

impl<R> fmt::Debug for RangeReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RangeReader").field("length", &self.length).finish_non_exhaustive()
    }
}

impl<R: Read + Seek> RangeReader<R> {
    /// Reads the segments, which begin at `begin` in `input`.
    pub(super) fn new(
        payload: AnyPayload,
        input: R,
        begin: u64,
        segments: Segments,
        signed: Option<(Verified, u64)>,
        padded: bool,
    ) -> Result<Self, Error> {
        let input = Shared::new(input);
        let signatures = signed.as_ref().map(|(verified, _)| verified.signatures.clone());
        let watch = signed.map(|(verified, begin)| SeekChecker { verified, input: input.clone(), begin });
        let cipher = WatchedCipher { cipher: payload.into_cipher(), watch };
        let mut reader = SeekReader::over(cipher, input, begin, begin + segments.sealed())?;
        let length = if padded { end_of_padded(&mut reader)? } else { reader.length() };
        reader.rewind().map_err(Error::Read)?;
        Ok(Self { reader, length, signatures })
    }

    /// Reads the segments of a damaged file that nobody signed. The length is that of the segments, with padding.
    pub(super) fn over_damaged(payload: AnyPayload, input: R, begin: u64, end: u64) -> Result<Self, Error> {
        let cipher = WatchedCipher { cipher: payload.into_cipher(), watch: None };
        let reader = SeekReader::over_damaged(cipher, Shared::new(input), begin, end)?;
        Ok(Self { length: reader.length(), reader, signatures: None })
    }

    /// Returns who signed the file; `None` if nobody did. The signatures are right, and each segment is compared with
    /// what was signed before its data are returned.
    #[must_use]
    pub fn signatures(&self) -> Option<&Signatures> {
        self.signatures.as_ref()
    }

    /// Goes on behind the segment that holds the position, for example because it is damaged and cannot be read.
    /// Returns the position, which is the length at the end.
    pub fn skip_segment(&mut self) -> u64 {
        self.reader.skip_segment().min(self.length)
    }

    /// Returns the length of the plain data.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }
}

/// Finds the end of padded data. The search goes from the back, since padding is the smaller part.
fn end_of_padded<R: Read + Seek>(reader: &mut RangeSegments<R>) -> Result<u64, Error> {
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
        let left = self.length.saturating_sub(self.reader.stream_position()?);
        let wanted = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        self.reader.read(&mut buffer[..wanted])
    }
}

impl<R: Read + Seek> Seek for RangeReader<R> {
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
