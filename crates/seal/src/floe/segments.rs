//! Where the segments of a message lie.

use super::{MOST_SEGMENTS, OVERHEAD};
use crate::Error;
use std::ops::Range;

/// How data lie in segments: nothing but arithmetic over lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    segment: u64,
    count: u64,
    data: u64,
}

impl Segments {
    /// Of `data` bytes.
    pub(super) fn of_data(segment: usize, data: u64) -> Result<Self, Error> {
        let segment = segment as u64;
        let count = data.div_ceil(segment - OVERHEAD as u64).max(1);
        if count > MOST_SEGMENTS {
            return Err(Error::Invalid("the data are too long for one file\nhint: split them"));
        }
        Ok(Self { segment, count, data })
    }

    /// Of `sealed` bytes of segments.
    pub(super) fn of_sealed(segment: usize, sealed: u64) -> Result<Self, Error> {
        let segment = segment as u64;
        let count = sealed.div_ceil(segment);
        if count > MOST_SEGMENTS {
            return Err(Error::Limit("more segments than there can be"));
        }
        // The last segment is never shorter than what stands around its data.
        let data = sealed.checked_sub(count * OVERHEAD as u64).filter(|_| count > 0 && (sealed - 1) % segment + 1 >= OVERHEAD as u64);
        Ok(Self { segment, count, data: data.ok_or(Error::Truncated)? })
    }

    /// Bytes in a full segment, sealed.
    #[must_use]
    pub const fn segment_length(&self) -> u64 {
        self.segment
    }

    /// How many there are, at least one.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of data in all of them.
    #[must_use]
    pub const fn data(&self) -> u64 {
        self.data
    }

    /// Bytes of all of them, sealed.
    #[must_use]
    pub const fn sealed(&self) -> u64 {
        self.data + self.count * OVERHEAD as u64
    }

    /// Whether this is the last one.
    #[must_use]
    pub const fn is_last(&self, segment: u64) -> bool {
        segment + 1 == self.count
    }

    /// Where the data of a segment begin.
    #[must_use]
    pub const fn data_at(&self, segment: u64) -> u64 {
        segment * (self.segment - OVERHEAD as u64)
    }

    /// Where a segment begins.
    #[must_use]
    pub const fn sealed_at(&self, segment: u64) -> u64 {
        segment * self.segment
    }

    /// Bytes of data in a segment.
    #[must_use]
    pub const fn data_in(&self, segment: u64) -> usize {
        let full = self.segment - OVERHEAD as u64;
        (if self.is_last(segment) { self.data - self.data_at(segment) } else { full }) as usize
    }

    pub(crate) fn data_range(&self, segment: u64) -> Range<usize> {
        let begin = self.data_at(segment) as usize;
        begin..begin + self.data_in(segment)
    }

    pub(crate) fn sealed_range(&self, segment: u64) -> Range<usize> {
        let begin = self.sealed_at(segment) as usize;
        begin..begin + self.data_in(segment) + OVERHEAD
    }
}
