//! The description of the part that a picture carries.

use crate::carrier::MOST_PICTURES;
use crate::spare;

/// The length of a label in bytes.
pub const LABEL: usize = 56;

/// Returns the checksum of a part, for [`Label::checksum`].
#[must_use]
pub fn checksum(part: &[u8]) -> u64 {
    crate::crc::crc64(part)
}

/// Describes the part that a picture carries, and its set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Label {
    /// The random name of the set, which is the same in all pictures of the set.
    pub set: [u8; 16],
    /// The index of the picture in the set. The spare pictures have the highest indexes.
    pub index: u32,
    /// How many pictures of the set carry data.
    pub count: u32,
    /// How many spare pictures the set has.
    pub spares: u32,
    /// The length of the part.
    pub length: u32,
    /// The offset of the part in the data; 0 in spare pictures.
    pub offset: u64,
    /// The total length of the data.
    pub total: u64,
    /// The CRC-64/NVME of the part.
    pub checksum: u64,
}

impl Label {
    /// Returns the label as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; LABEL] {
        let mut bytes = [0; LABEL];
        bytes[..16].copy_from_slice(&self.set);
        for (at, number) in [(16, self.index), (20, self.count), (24, self.spares), (28, self.length)] {
            bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
        }
        for (at, number) in [(32, self.offset), (40, self.total), (48, self.checksum)] {
            bytes[at..at + 8].copy_from_slice(&number.to_be_bytes());
        }
        bytes
    }

    /// Reads a label. Returns `None` if no set can have a picture with this label.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; LABEL]) -> Option<Self> {
        let four = |at: usize| bytes[at..at + 4].iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
        let eight = |at: usize| u64::from(four(at)) << 32 | u64::from(four(at + 4));
        let label = Self {
            set: std::array::from_fn(|at| bytes[at]),
            index: four(16),
            count: four(20),
            spares: four(24),
            length: four(28),
            offset: eight(32),
            total: eight(40),
            checksum: eight(48),
        };
        label.is_possible().then_some(label)
    }

    /// Returns whether the picture is a spare picture.
    #[must_use]
    pub fn is_spare(&self) -> bool {
        self.index >= self.count
    }

    fn is_possible(&self) -> bool {
        let is_set = match self.spares {
            0 => self.count <= MOST_PICTURES,
            spares => spare::check(self.count, spares).is_ok(),
        };
        let part = if self.is_spare() {
            self.offset == 0 && self.length.is_multiple_of(64)
        } else {
            self.offset.checked_add(u64::from(self.length)).is_some_and(|end| end <= self.total)
        };
        self.count > 0 && is_set && self.index < self.count + self.spares && part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Label =
        Label { set: [7; 16], index: 0, count: 3, spares: 2, length: 640, offset: 0, total: 1900, checksum: 9 };

    #[test]
    fn a_label_comes_back() {
        for label in [FIRST, Label { index: 2, length: 620, offset: 1280, ..FIRST }, Label { index: 4, ..FIRST }] {
            assert_eq!(Label::from_bytes(&label.to_bytes()), Some(label));
        }
    }

    #[test]
    fn impossible_labels_are_refused() {
        let impossible = [
            Label { count: 0, index: 0, ..FIRST },
            Label { index: 5, ..FIRST },
            Label { count: 32_767, ..FIRST },
            Label { count: 65_537, spares: 0, ..FIRST },
            Label { offset: 1261, ..FIRST },
            Label { offset: u64::MAX, ..FIRST },
            Label { index: 3, offset: 64, ..FIRST },
            Label { index: 3, length: 641, ..FIRST },
        ];
        for label in impossible {
            assert_eq!(Label::from_bytes(&label.to_bytes()), None, "{label:?}");
        }
    }
}
