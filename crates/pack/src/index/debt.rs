//! The limit for the length of paths. Because each record stores only the end of a path, a short index could describe
//! very long paths.

/// The paths of an index may always have this many bytes in total. The paths of the deepest folders with the longest
/// names have half of this number of bytes.
const FREE: u64 = 64 << 20;

/// If the records are long, the paths may have up to this many times the bytes of the records. In measurements of a
/// package registry and of a whole `/usr`, the paths had less than 2 times the bytes of the records.
const RATIO: u64 = 16;

/// The number of bytes by which the paths of a sequence of records exceed [`RATIO`] times the length of the records. If
/// counting begins at a later record, the result is never higher, so a reader of a few parts accepts every index that a
/// reader of all parts accepts.
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
