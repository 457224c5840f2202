//! Reads a payload at any position. Only the segments that contain the requested data are opened.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use super::{SegmentCipher, Segments};
use crate::Error;
use crate::format::fill::read_full;
use deadpan_ct::Wiped;

/// A reader that opens a payload at any position. The reader opens the last segment first, so that the length is
/// authentic.
pub struct SeekReader<C, R> {
    cipher: C,
    input: R,
    /// The position of the first segment in the input.
    begin: u64,
    segments: Segments,
    position: u64,
    held: Option<u64>,
    /// Whether the segment at the end of the input must be the last segment of the payload.
    ends: bool,
    data: Wiped<Vec<u8>>,
    sealed: Vec<u8>,
}

impl<C, R> fmt::Debug for SeekReader<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SeekReader").field("position", &self.position).finish_non_exhaustive()
    }
}

impl<C: SegmentCipher, R: Read + Seek> SeekReader<C, R> {
    /// Reads the segments between `begin` and `end` in `input`, and opens them with `cipher`.
    ///
    /// # Errors
    /// If no payload has this length, or if the last segment does not open.
    pub(crate) fn over(cipher: C, input: R, begin: u64, end: u64) -> Result<Self, Error> {
        let sealed = end.checked_sub(begin).ok_or(Error::Truncated)?;
        let segments = Segments::for_sealed(cipher.shape(), sealed)?;
        let mut reader = Self::with_segments(cipher, input, begin, segments, true);
        reader.hold(segments.count() - 1)?;
        Ok(reader)
    }

    /// Does the same as [`over`](Self::over), but also works if the last segments are damaged or missing. The length of
    /// the data is computed from the length of the input.
    ///
    /// # Errors
    /// If there is no segment.
    pub(crate) fn over_damaged(cipher: C, input: R, begin: u64, end: u64) -> Result<Self, Error> {
        let sealed = end.checked_sub(begin).ok_or(Error::Truncated)?;
        let segments = Segments::for_sealed(cipher.shape(), sealed).or_else(|_| {
            // If the bytes at the end are too short for a segment, they are ignored.
            Segments::for_sealed(cipher.shape(), sealed - sealed % cipher.shape().sealed as u64)
        });
        Ok(Self::with_segments(cipher, input, begin, segments?, false))
    }

    fn with_segments(cipher: C, input: R, begin: u64, segments: Segments, ends: bool) -> Self {
        // The buffer has its full size from the start: memory that grows leaves copies of its contents behind.
        let data = Wiped::new(Vec::with_capacity(segments.data_in(0)));
        Self { cipher, input, begin, segments, position: 0, held: None, ends, data, sealed: Vec::new() }
    }

    /// Returns the number of bytes of data.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.segments.data()
    }

    /// Opens a segment if the segment is not open yet.
    fn hold(&mut self, segment: u64) -> Result<(), Error> {
        if self.held == Some(segment) {
            return Ok(());
        }
        self.held = None;
        let data = self.segments.data_in(segment);
        self.sealed.resize(data + self.cipher.shape().overhead, 0);
        self.input.seek(SeekFrom::Start(self.begin + self.segments.sealed_at(segment))).map_err(Error::Read)?;
        if read_full(&mut self.input, &mut self.sealed).map_err(Error::Read)? < self.sealed.len() {
            return Err(Error::Truncated);
        }
        self.data.resize(data, 0);
        let is_last = self.segments.is_last(segment);
        match self.cipher.open(segment, is_last, &self.sealed, &mut self.data) {
            // If the end of the file was cut off, this segment may not be the last segment of the original file.
            Err(_) if is_last && !self.ends => self.cipher.open(segment, false, &self.sealed, &mut self.data)?,
            opened => opened?,
        }
        self.held = Some(segment);
        Ok(())
    }

    /// Moves to the start of the segment that holds this byte, and returns the position.
    pub(crate) fn seek_segment(&mut self, byte: u64) -> u64 {
        let full = self.cipher.shape().data() as u64;
        self.position = byte / full * full;
        self.position
    }

    /// Moves the position to the end of the current segment, even if this segment does not open. Returns the new
    /// position.
    pub(crate) fn skip_segment(&mut self) -> u64 {
        let full = self.cipher.shape().data() as u64;
        self.position = (self.position / full + 1).saturating_mul(full).min(self.length());
        self.position
    }

    /// Returns the data from the position to the end of the current segment. Returns an empty slice at the end of the
    /// data. The position does not change.
    ///
    /// # Errors
    /// If the segment was changed, or cannot be read.
    pub(crate) fn here(&mut self) -> Result<&[u8], Error> {
        if self.position >= self.length() {
            return Ok(&[]);
        }
        let full = self.cipher.shape().data() as u64;
        self.hold(self.position / full)?;
        Ok(&self.data[(self.position % full) as usize..])
    }
}

impl<C: SegmentCipher, R: Read + Seek> Read for SeekReader<C, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let here = self.here().map_err(Error::into_io)?;
        let taken = buffer.len().min(here.len());
        buffer[..taken].copy_from_slice(&here[..taken]);
        self.position += taken as u64;
        Ok(taken)
    }
}

impl<C: SegmentCipher, R: Read + Seek> Seek for SeekReader<C, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(position) => (position, 0),
            SeekFrom::End(by) => (self.length(), by),
            SeekFrom::Current(by) => (self.position, by),
        };
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a position before the start of the data");
        self.position = base.checked_add_signed(by).ok_or_else(outside)?;
        Ok(self.position)
    }
}
