//! Entries: the files, folders and links in an archive.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::block::BLOCK;

/// The kind of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// A file whose whole content is stored.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    SymbolicLink,
    /// A hard link: another name of an earlier file or symbolic link.
    HardLink,
    /// A file with holes. The archive contains only the pieces with data.
    Sparse,
}

/// A file's time, to the nanosecond. The time may lie before 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time {
    /// Seconds since 1970, rounded down.
    pub seconds: i64,
    /// Nanoseconds after `seconds`, below 1 000 000 000.
    pub nanoseconds: u32,
}

impl Time {
    /// The time as a [`SystemTime`], or `None` if that type cannot hold the time.
    #[must_use]
    pub fn system(self) -> Option<SystemTime> {
        let whole = Duration::from_secs(self.seconds.unsigned_abs());
        let start = if self.seconds < 0 { UNIX_EPOCH.checked_sub(whole) } else { UNIX_EPOCH.checked_add(whole) };
        start?.checked_add(Duration::from_nanos(self.nanoseconds.into()))
    }
}

/// An entry of an archive, with its position in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The path, with `/` between the components. In a pack, a path is relative to the root, and the path of the root
    /// is empty. In an archive of another program, the path is stored here exactly as in the archive.
    pub path: Vec<u8>,
    /// The kind of the entry.
    pub kind: Kind,
    /// The permission bits, 0 to 0o7777.
    pub mode: u32,
    /// The time of the last change.
    pub modified: Time,
    /// The file's size in bytes, holes included; 0 for folders and links.
    pub size: u64,
    /// Where the entry's first header begins, in bytes from the beginning of the archive.
    pub begin: u64,
    /// Where the content begins, in bytes from the beginning of the archive.
    pub content: u64,
    /// The length of the content in the archive, in bytes.
    pub stored: u64,
    /// The BLAKE3 hash of the content as the archive stores it; `None` if no index gives the hash.
    pub hash: Option<[u8; 32]>,
    /// The target of a link.
    pub target: Option<Vec<u8>>,
}

impl Entry {
    /// The offset where the content ends, rounded up to whole blocks. The header of the next entry begins at this
    /// offset or later.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.content.saturating_add(self.stored.next_multiple_of(BLOCK))
    }
}
