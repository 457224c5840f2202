//! What is sealed beside the data: what it was.

use std::time::SystemTime;

/// What the data are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Bytes without a file, such as a pipe's.
    #[default]
    Bytes,
    /// A file's contents.
    File,
    /// A folder, as a tar stream.
    Folder,
}

/// Name, time and mode of what was sealed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metadata {
    /// What the data are.
    pub kind: Kind,
    /// The last component of its path, as the system spells it: never with a separator, never `.` or `..`.
    pub name: Option<Vec<u8>>,
    /// When it was last changed.
    pub modified: Option<SystemTime>,
    /// Its permission bits, 0 to 0o7777.
    pub mode: Option<u32>,
}
