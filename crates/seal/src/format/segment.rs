//! Data in segments. The engines and the readers use these types and traits for the payloads of each format.
//!
//! A payload is a sequence of sealed segments. Each segment is longer than its data by the same overhead. All segments
//! except the last one are full. Each segment can be opened alone.

mod reader;
mod seek;
mod segments;
mod writer;

pub use reader::SegmentReader;
pub use seek::SeekReader;
pub use segments::Segments;
pub use writer::SegmentWriter;

use crate::Error;
use deadpan_ct::Wipe;

/// The lengths of a payload's segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of bytes in a full sealed segment.
    pub sealed: usize,
    /// The number of bytes by which a sealed segment is longer than its data.
    pub overhead: usize,
}

impl Shape {
    /// Returns the number of bytes of data in a full segment.
    pub const fn data(self) -> usize {
        self.sealed - self.overhead
    }
}

/// Seals and opens the segments of one payload, on one thread.
pub trait SegmentCipher {
    fn shape(&self) -> Shape;

    /// Seals `data` into `sealed`, which must be longer than `data` by the overhead. Only the last segment may be
    /// shorter than the other segments.
    ///
    /// # Errors
    /// If the lengths do not fit, or the system fails.
    fn seal(&mut self, segment: u64, last: bool, data: &[u8], sealed: &mut [u8]) -> Result<(), Error>;

    /// Opens a segment into `data`, which must be shorter than `sealed` by the overhead. After a failure, `data`
    /// contains no data of the segment.
    ///
    /// # Errors
    /// If the segment was changed or belongs to another position, or if `last` does not match the segment.
    fn open(&mut self, segment: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> Result<(), Error>;

    /// Opens a segment at a wrong position, after [`Error::Trailing`] or [`Error::Truncated`]. If `last` is false, the
    /// segment was sealed as the last segment, but other segments follow. If `last` is true, the segment was not sealed
    /// as the last one, but no segment follows. Returns whether the format recognizes a segment at a wrong position. If
    /// the format recognizes the segment, the data of the segment are authentic, and the reader returns them before the
    /// error.
    fn open_misplaced(&mut self, _segment: u64, _last: bool, _sealed: &[u8], _data: &mut [u8]) -> bool {
        false
    }
}

/// The keys of all segments of a payload. Several threads share this value.
pub(crate) trait Payload: Sync {
    type Cipher<'a>: SegmentCipher
    where
        Self: 'a;

    fn shape(&self) -> Shape;

    /// Returns a cipher for segments. Each thread needs its own cipher.
    fn cipher(&self) -> Self::Cipher<'_>;

    /// Returns how data of this length divide into segments. Returns [`Error::TooLong`] if the data are too long for a
    /// payload.
    fn segments_for(&self, data: u64) -> Result<Segments, Error> {
        Segments::for_data(self.shape(), data)
    }

    /// Returns how `sealed` bytes divide into sealed segments. Fails if no payload has this length.
    fn segments_in(&self, sealed: u64) -> Result<Segments, Error> {
        Segments::for_sealed(self.shape(), sealed)
    }

    /// Seals all of `data` on this thread, and appends the segments to `sealed`.
    fn seal_onto(&self, data: &[u8], sealed: &mut Vec<u8>) -> Result<(), Error> {
        let begin = sealed.len();
        let segments = self.segments_for(data.len() as u64)?;
        sealed.resize(begin + segments.sealed() as usize, 0);
        let mut cipher = self.cipher();
        let mut rest = &mut sealed[begin..];
        for segment in 0..segments.count() {
            let plain = &data[segments.data_range(segment)];
            let (here, behind) = rest.split_at_mut(plain.len() + self.shape().overhead);
            cipher.seal(segment, segments.is_last(segment), plain, here)?;
            rest = behind;
        }
        Ok(())
    }

    /// Opens all segments on this thread, and appends the data to `data`. After an error, `data` is unchanged.
    fn open_onto(&self, sealed: &[u8], data: &mut Vec<u8>) -> Result<(), Error> {
        let begin = data.len();
        let segments = self.segments_in(sealed.len() as u64)?;
        data.resize(begin + segments.data() as usize, 0);
        let mut cipher = self.cipher();
        let mut open = |segment| {
            let output = &mut data[begin..][segments.data_range(segment)];
            cipher.open(segment, segments.is_last(segment), &sealed[segments.sealed_range(segment)], output)
        };
        let result = (0..segments.count()).try_for_each(&mut open);
        if result.is_err() {
            data[begin..].wipe();
            data.truncate(begin);
        }
        result
    }
}
