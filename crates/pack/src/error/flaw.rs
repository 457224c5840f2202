//! Faults of archives.

use std::fmt;

use thiserror::Error;

/// A fault in an archive. Paths in the message are escaped as by [`shown`](crate::shown).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The archive is damaged, or the input is not an archive.
    #[error("{0}")]
    Damaged(String),
    /// A pack has no index at its end.
    #[error("the pack has no index at its end")]
    NoIndex,
    /// The index of a pack contradicts itself.
    #[error("the index of the archive is damaged: {0}")]
    Index(&'static str),
    /// A newer version of this crate wrote the pack.
    #[error("the folder was packed by a newer deadpan")]
    Newer,
    /// An entry of a pack does not have a path inside the root of the pack.
    #[error("{path} is not in the root folder of the pack")]
    OutsideRoot {
        /// The entry's path.
        path: String,
    },
    /// An entry differs from the pack's index: the archive was changed after it was made.
    #[error("{path} is not what the index says: {change}")]
    Changed {
        /// The entry's path.
        path: String,
        /// The difference.
        change: Change,
    },
    /// A path leads out of the target folder, or is ambiguous.
    #[error("{path} in the archive {reason}")]
    Path {
        /// The path; if the path is long, only its beginning.
        path: String,
        /// The reason, as a clause that follows the path in the message.
        reason: &'static str,
    },
    /// An entry is not a file, folder or link.
    #[error("{path} is {special}")]
    Special {
        /// The entry's path.
        path: String,
        /// The kind of the entry.
        special: Special,
    },
    /// An entry has no name.
    #[error("an entry has no name")]
    NoName,
    /// A symbolic link has no valid target.
    #[error("the link {path} has no valid target")]
    NoTarget {
        /// The link's path.
        path: String,
    },
    /// The target of a hard link is not an earlier file or link of the archive.
    #[error("{path} is a hard link, and its target is not an earlier file or link of the archive")]
    HardLink {
        /// The link's path.
        path: String,
    },
    /// The folder that contains the entry is missing, or could not be made.
    #[error("the folder of {path} failed or is missing")]
    NoFolder {
        /// The entry's path.
        path: String,
    },
    /// Too many folders have no entry of their own and occur only in the paths of other entries: see
    /// [`most_implied`](crate::most_implied).
    #[error(
        "the folders of {path} have no entries, and the archive names too many of these: more than 4096, and more than \
         one for each 64 of its bytes"
    )]
    ImpliedFolders {
        /// The path of the entry; if the path is long, only its beginning.
        path: String,
    },
    /// A component of an entry's path exists, but is not a folder.
    #[error("{path} is in the way: it is not a folder")]
    InTheWay {
        /// The entry's path.
        path: String,
    },
    /// The number of an entry's owner or group is larger than any system allows.
    #[error("{path} belongs to an owner or a group that no system has")]
    Owner {
        /// The entry's path.
        path: String,
    },
}

/// The difference between an entry and the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Change {
    /// The entry's headers differ from the index: path, kind, size, mode, time or position.
    Headers,
    /// The entry's content differs.
    Content,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Headers => "its headers were changed, or it was moved",
            Self::Content => "its contents were changed",
        })
    }
}

/// Entries that are never unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Special {
    /// A block or character device.
    Device,
    /// A FIFO.
    Fifo,
    /// The continuation of a file that began in another volume.
    Continued,
    /// A type that this crate does not know.
    Unknown,
}

impl fmt::Display for Special {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Device => "a device",
            Self::Fifo => "a FIFO",
            Self::Continued => "the rest of a file from another volume",
            Self::Unknown => "of a type that is not known",
        })
    }
}
