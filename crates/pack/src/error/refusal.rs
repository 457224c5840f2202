//! Requests that cannot be fulfilled.

use thiserror::Error;

use crate::shown::shown;

/// The reason why a request of the caller is impossible. Paths in the message are escaped as by
/// [`shown`](crate::shown).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Refusal {
    // Packing.
    /// The folder's name in the pack is empty or not valid.
    #[error("the folder has no name that can be packed")]
    NoName,
    /// There is no input.
    #[error("there is nothing to pack")]
    Empty,
    /// A path is too deep to be packed.
    #[error("{path} is too deep: a path has at most 1024 components")]
    Deep {
        /// The path; if the path is long, only its beginning.
        path: String,
    },
    /// A path is too long to be packed.
    #[error("the path {path} is too long: a path has at most 65 535 bytes")]
    Long {
        /// The beginning of the path.
        path: String,
    },
    /// The index would be larger than readers accept.
    #[error("there are too many files, or their paths are too long")]
    TooMany,

    // Unpacking.
    /// No file on this system can have the name.
    #[error("{path} cannot be made on Windows: a name in it {flaw}")]
    Name {
        /// The entry's path.
        path: String,
        /// The flaw of the name.
        flaw: deadpan_disk::names::windows::Flaw,
    },

    // Selecting.
    /// A selected path or pattern matches nothing.
    #[error("nothing in the archive matches {wanted}")]
    NoMatch {
        /// The path or pattern.
        wanted: String,
    },
    /// A hard link is selected, but its target file is not, and the archive can be read only once, in order.
    #[error("{link} is a hard link to {file}, which is not selected")]
    LinkWithoutFile {
        /// The link's path.
        link: String,
        /// The path of the file that is the target of the hard link.
        file: String,
    },
    /// Several entries are selected, but the output takes only one file.
    #[error("{first} and {second} are both selected, and only one file can be extracted from a pipe")]
    Several {
        /// The path of the first entry.
        first: String,
        /// The path of the second entry.
        second: String,
    },
    /// The selected entry is not a file, and the output takes only a file.
    #[error("{path} is not a file, and only a file can be extracted from a pipe")]
    NoFile {
        /// The entry's path.
        path: String,
    },
    /// The entry to read is a folder or a symbolic link.
    #[error("{path} is not a file")]
    NotAFile {
        /// The entry's path.
        path: String,
    },
    /// The folders above a selected entry have more extended attributes than the unpacker keeps in memory.
    #[error("the folders down to {path} have extended attributes of more than {limit} bytes")]
    Attributes {
        /// The path of the last folder.
        path: String,
        /// The limit.
        limit: usize,
    },

    // Unpacking.
    /// The target folder already contains an entry with this path.
    #[error("{path} exists already")]
    Exists {
        /// The path.
        path: String,
    },
    /// In the target folder, a folder exists where a file or link should be created.
    #[error("{path} exists already, and is a folder")]
    IsFolder {
        /// The path.
        path: String,
    },
    /// The path belongs to the archive that is being unpacked, and this archive is not replaced.
    #[error("{path} is the archive that is being unpacked, and is not replaced")]
    IsArchive {
        /// The path.
        path: String,
    },
    /// With this file, the total size of all unpacked files would exceed the limit.
    #[error("{path} is too large: with its holes it has {size} {}, and {}", bytes(*size), too_large(*limit))]
    TooLarge {
        /// The file's path.
        path: String,
        /// The file's length.
        size: u64,
        /// The limit that the caller set for all files, if any.
        limit: Option<u64>,
    },
}

impl Refusal {
    /// Returns the refusal for a selected path or pattern that matches nothing.
    #[must_use]
    pub fn no_match(wanted: &[u8]) -> Self {
        Self::NoMatch { wanted: shown(wanted) }
    }
}

fn too_large(limit: Option<u64>) -> String {
    match limit {
        Some(limit) => format!("all files together may have at most {limit} {}", bytes(limit)),
        None => "all holes together may have at most 64 GiB, or 1000 times the stored bytes if that is more".into(),
    }
}

fn bytes(number: u64) -> &'static str {
    if number == 1 { "byte" } else { "bytes" }
}
