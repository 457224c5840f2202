//! The limit for the length of paths. A limit is needed because a record stores only the end of its path, so few bytes
//! of an index can describe long paths.

/// All paths together may always have this many bytes. The paths of the deepest folders with the longest names have
/// half as many bytes.
const FREE: u64 = 64 << 20;

/// More bytes of paths are accepted, up to this many times the bytes of their records. For a registry of packages and
/// for a whole `/usr`, the paths have less than 2 times the bytes of their records.
const RATIO: u64 = 16;

/// The number of bytes by which paths exceed [`RATIO`] times the bytes of their records, in a sequence of records. A
/// count that begins at a later record is never higher, so a reader of a few parts accepts what a reader of the whole
/// index accepts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathDebt(u64);

impl PathDebt {
    /// Counts a record of `record` bytes that describes a path of `path` bytes.
    pub(crate) fn add(&mut self, path: usize, record: usize) {
        self.0 = (self.0 + path as u64).saturating_sub(RATIO * record as u64);
    }

    /// Whether the paths are longer than readers accept.
    pub(crate) fn is_too_high(self) -> bool {
        self.0 > FREE
    }
}
