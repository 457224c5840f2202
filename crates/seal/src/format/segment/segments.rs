//! How a payload divides into segments.

use std::ops::Range;

use super::Shape;
use crate::Error;

/// The maximum number of segments in a payload. FLOE has the same maximum.
const MOST: u64 = crate::format::deadpan::floe::MOST_SEGMENTS;

/// The division of data into segments. This type only computes with lengths, and holds no data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    segment: u64,
    overhead: u64,
    count: u64,
    data: u64,
}

impl Segments {
    /// Divides `data` bytes of plain data.
    pub(crate) fn for_data(shape: Shape, data: u64) -> Result<Self, Error> {
        let (segment, overhead) = (shape.sealed as u64, shape.overhead as u64);
        let count = data.div_ceil(segment - overhead).max(1);
        if count > MOST {
            return Err(Error::TooLong);
        }
        Ok(Self { segment, overhead, count, data })
    }

    /// Divides `sealed` bytes of segments.
    pub(crate) fn for_sealed(shape: Shape, sealed: u64) -> Result<Self, Error> {
        let (segment, overhead) = (shape.sealed as u64, shape.overhead as u64);
        let count = sealed.div_ceil(segment);
        if count > MOST {
            return Err(Error::Limit("more segments than there can be"));
        }
        // If the last segment is shorter than the overhead, the payload was cut short.
        let data = sealed.checked_sub(count * overhead).filter(|_| count > 0 && (sealed - 1) % segment + 1 >= overhead);
        Ok(Self { segment, overhead, count, data: data.ok_or(Error::Truncated)? })
    }

    /// Returns the number of bytes in a full sealed segment.
    #[must_use]
    pub const fn segment_length(&self) -> u64 {
        self.segment
    }

    /// Returns the number of segments, at least one.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns the number of bytes of data in all segments.
    #[must_use]
    pub const fn data(&self) -> u64 {
        self.data
    }

    /// Returns the number of bytes in all sealed segments.
    #[must_use]
    pub const fn sealed(&self) -> u64 {
        self.data + self.count * self.overhead
    }

    /// Returns whether `segment` is the last segment.
    #[must_use]
    pub const fn is_last(&self, segment: u64) -> bool {
        segment + 1 == self.count
    }

    /// Returns the position of a segment's data in the plain data.
    #[must_use]
    pub const fn data_at(&self, segment: u64) -> u64 {
        segment * (self.segment - self.overhead)
    }

    /// Returns the position of a segment among all segments.
    #[must_use]
    pub const fn sealed_at(&self, segment: u64) -> u64 {
        segment * self.segment
    }

    /// Returns the number of bytes of data in a segment.
    #[must_use]
    pub const fn data_in(&self, segment: u64) -> usize {
        let full = self.segment - self.overhead;
        (if self.is_last(segment) { self.data - self.data_at(segment) } else { full }) as usize
    }

    pub(crate) fn data_range(&self, segment: u64) -> Range<usize> {
        let begin = self.data_at(segment) as usize;
        begin..begin + self.data_in(segment)
    }

    pub(crate) fn sealed_range(&self, segment: u64) -> Range<usize> {
        let begin = self.sealed_at(segment) as usize;
        begin..begin + self.data_in(segment) + self.overhead as usize
    }
}
