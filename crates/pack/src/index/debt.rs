//! The limit for the length of paths. Because each record stores only the end of a path, a short index could describe
//! very long paths.

/// In every index, the paths may have at least this many bytes in total. The deepest path with the longest names, and
/// the folders on this path, take half of this number of bytes.
const FREE: u64 = 64 << 20;

/// If the records are long, the total length of the paths may be up to this many times the total length of the records.
/// In measurements of a package registry and of a whole `/usr`, the paths were less than 2 times as long as the
/// records.
const RATIO: u64 = 16;

/// The number of bytes by which the paths of a sequence of records exceed [`RATIO`] times the length of the records. A
/// reader of a few parts begins counting at a later record, and its result is never higher. So it accepts every index
/// that a reader of all parts accepts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathDebt(u64);

impl PathDebt {
    /// Counts a record of `record` bytes that describes a path of `path` bytes.
    pub(crate) fn add(&mut self, path: usize, record: usize) {
        self.0 = (self.0 + path as u64).saturating_sub(RATIO * record as u64);
    }

    pub(crate) fn is_too_high(self) -> bool {
        self.0 > FREE
    }
}
