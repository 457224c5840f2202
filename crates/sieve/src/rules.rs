//! What is left out of a walk, and what there is to say about it.

use std::fmt;
use std::io;
use std::sync::Arc;

use crate::patterns::Patterns;

/// What is left out of a walk. By default, nothing is left out.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// Leave out what these patterns exclude. Paths are relative to the root of the walk.
    pub exclude: Arc<Patterns>,
    /// Leave out what git would ignore: by the files `.gitignore` of the walk and, up to the root of the repository, of
    /// the folders above, and by `.git/info/exclude`. Leave out `.git`, too.
    pub git: bool,
    /// Of folders that a file `CACHEDIR.TAG` marks as a cache, take only the folder and this file.
    pub caches: bool,
    /// Leave out files with more bytes.
    pub larger: Option<u64>,
    /// Leave out other file systems; of a folder at which one is mounted, take the empty folder.
    pub one_file_system: bool,
    /// Leave out the folders `/proc`, `/sys` and `/dev`, wherever they are mounted, unless the walk begins with them.
    pub system: bool,
}

/// A remark about an entry.
#[derive(Debug)]
pub struct Remark {
    /// The path in the walk. For a file above the walk, the path on the disk.
    pub path: Vec<u8>,
    /// The remark.
    pub what: Heed,
}

/// A remark, without the path of its entry.
#[derive(Debug)]
pub enum Heed {
    /// A list of patterns that cannot be read.
    Unread(io::Error),
    /// A list of patterns that is not used, because it is a link, a folder, or something else that is no file.
    NoFile,
    /// A folder of the system, which is left out.
    System,
    /// A folder at which another file system is mounted: it is taken without its contents. A file on another file
    /// system is left out.
    Mounted,
}

/// A file with patterns is too long. This error lies in an [`io::Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongList;

impl fmt::Display for LongList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is longer than 1 MiB")
    }
}

impl std::error::Error for LongList {}

impl Heed {
    /// Returns the remark as text. `path` is the path of its entry, escaped for people.
    #[must_use]
    pub fn text(&self, path: &str) -> String {
        match self {
            Self::Unread(error) => format!("did not use the patterns in {path}: {error}"),
            Self::NoFile => format!("did not use the patterns in {path}: it is not a regular file"),
            Self::System => format!("left out {path}: the system makes its contents; name it as an input to take it"),
            Self::Mounted => format!("left out what is in {path}: it is on another file system"),
        }
    }
}
