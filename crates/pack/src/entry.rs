//! What a pack holds: its entries.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A file, all of whose bytes are there.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    SymbolicLink,
    /// Another name of an earlier file.
    HardLink,
    /// A file with holes, of which only the pieces with data are there.
    Sparse,
}

/// A time as file systems have it: before 1970 too, and to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Seconds since 1970, rounded down.
    pub seconds: i64,
    /// Nanoseconds after that, below 1 000 000 000.
    pub nanoseconds: u32,
}

impl Time {
    /// As the standard library has it, where it can.
    #[must_use]
    pub fn system(self) -> Option<SystemTime> {
        let whole = Duration::from_secs(self.seconds.unsigned_abs());
        let start = if self.seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
        start?.checked_add(Duration::from_nanos(self.nanoseconds.into()))
    }
}

/// One entry, and where it lies in the pack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its path with `/` between the components, whatever their bytes are. In a pack it begins under the root, whose own path is empty; in an archive
    /// of another maker it is what stands there.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    /// Its permission bits, 0 to 0o7777.
    pub mode: u32,
    /// When it was last changed.
    pub modified: Time,
    /// Bytes of the file, holes included; 0 for all that is no file.
    pub size: u64,
    /// Where its first header begins.
    pub begin: u64,
    /// Where its content begins.
    pub content: u64,
    /// Bytes of its content in the archive.
    pub stored: u64,
    /// BLAKE3 of the content as it stands in the archive, where that is known.
    pub hash: Option<[u8; 32]>,
    /// A link's target.
    pub target: Option<Vec<u8>>,
}

impl Entry {
    /// Where the next header may begin: after the content, in whole blocks.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.content.saturating_add(self.stored.next_multiple_of(crate::BLOCK))
    }
}
