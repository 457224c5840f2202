//! The reports of an unpacker: progress, failures and the result.

use crate::error::Error;

/// An entry that was not unpacked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The path of the entry.
    pub path: Vec<u8>,
    /// The reason.
    pub error: Error,
}

/// The progress of unpacking.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Progress {
    /// The number of entries that are complete.
    pub complete: u64,
    /// Whether `complete` also counts the target folder, as the entry of the root.
    pub root: bool,
    /// The path of the last entry before the first unfinished entry. This last entry and all entries before it are
    /// complete or have failed.
    pub until: Option<Vec<u8>>,
    /// Whether all entries up to the path `until` were compared with the index of a pack.
    pub compared: bool,
    /// The number of entries that failed.
    pub failed: u64,
    /// The first thousand failures, without the failure that ended the work.
    pub failures: Vec<Failure>,
}

/// The result of unpacking.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Outcome {
    /// The number of entries in the archive.
    pub entries: u64,
    /// The number of bytes of the entries' contents, as stored in the archive.
    pub bytes: u64,
    /// Whether the archive was a pack whose entries agree with its index.
    pub pack: bool,
    /// The name of a pack's root.
    pub root: Option<Vec<u8>>,
    /// The number of entries that failed.
    pub failed: u64,
    /// The first thousand failures.
    pub failures: Vec<Failure>,
    /// Whether the archive was damaged, so that entries may be missing without a failure of their own.
    pub damaged: bool,
    /// Remarks on unusual facts that are not failures.
    pub remarks: Vec<String>,
}
