//! The properties of a file that the system reports.

use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::system::{about, user};

/// The kind of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A named pipe.
    Fifo,
    /// A character device.
    Device,
    /// A socket.
    Socket,
    /// A block device, or a file of an unknown kind.
    Other,
}

/// The device number and the inode number of a file. Two names with the same id are names of the same file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileId {
    /// The number of the device.
    pub device: u64,
    /// The inode number of the file.
    pub number: u64,
    /// The upper half of the number, on Windows: some file systems have numbers of 128 bits.
    #[cfg(windows)]
    pub(crate) upper: u64,
}

impl FileId {
    /// Returns the id as two numbers, for tables of ids. Use the first number only together with the second one.
    #[must_use]
    pub fn key(&self) -> (u64, u64) {
        #[cfg(windows)]
        return (self.device ^ self.upper.rotate_left(32), self.number);
        #[cfg(not(windows))]
        (self.device, self.number)
    }
}

/// The properties of a file that the system reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About {
    /// The kind of the file.
    pub kind: FileKind,
    /// The device and the number.
    pub id: FileId,
    /// The length in bytes.
    pub length: u64,
    /// The space on the disk that the file takes, in bytes.
    pub stored: u64,
    /// The permissions, with setuid, setgid and sticky bits.
    pub mode: u32,
    /// The number of the owner.
    pub owner: u32,
    /// The number of the group.
    pub group: u32,
    /// The number of names of the file.
    pub links: u64,
    /// The time of the last change of the contents: seconds since 1970, and nanoseconds.
    pub modified: (i64, u32),
    /// The time of the last change of the contents, the attributes or the names.
    pub changed: (i64, u32),
    /// Whether the file is a device that no ordinary user can make. Pseudo-terminals are excluded, because every user
    /// can make them.
    pub is_system_device: bool,
}

impl About {
    /// Returns the description of an open file.
    ///
    /// # Errors
    /// If the system does not return the properties.
    pub fn of_file(file: &std::fs::File) -> std::io::Result<Self> {
        about::of_file(file)
    }

    /// Returns the properties of the file that a path leads to, after links are followed. The path may lead to another
    /// file later. Therefore use this function only for messages and early refusals, and check the opened file again.
    ///
    /// # Errors
    /// [`std::io::ErrorKind::NotFound`] if the path leads to nothing; otherwise the system's error.
    pub fn of_path(path: &Path) -> std::io::Result<Self> {
        about::of_path(path)
    }

    /// Returns the properties of the file or link with this path. Does not follow a link at the end of the path. In all
    /// other respects, works as [`of_path`](Self::of_path).
    ///
    /// # Errors
    /// The errors of [`of_path`](Self::of_path).
    pub fn of_name(path: &Path) -> std::io::Result<Self> {
        about::of_name(path)
    }

    /// Whether this is a regular file.
    #[must_use]
    pub fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    /// Whether this is a folder.
    #[must_use]
    pub fn is_folder(&self) -> bool {
        self.kind == FileKind::Folder
    }

    /// Whether this is a symbolic link.
    #[must_use]
    pub fn is_link(&self) -> bool {
        self.kind == FileKind::Link
    }

    /// Whether no other user can have made the file, because the caller or root owns it, or because it is a system
    /// device.
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        user::is_mine(self.owner) || self.owner == 0 || self.is_system_device
    }

    /// Whether other users can make names in this folder, but each name can be removed only by its owner, as in `/tmp`.
    #[must_use]
    pub fn is_open_to_others(&self) -> bool {
        self.mode & 0o1000 != 0 && self.mode & 0o022 != 0
    }

    /// Returns the time of the last change of the contents.
    #[must_use]
    pub fn modified_at(&self) -> SystemTime {
        time(self.modified)
    }

    /// Returns the time of the last change of the contents, the attributes or the names.
    #[must_use]
    pub fn changed_at(&self) -> SystemTime {
        time(self.changed)
    }
}

fn time((seconds, nanoseconds): (i64, u32)) -> SystemTime {
    let (whole, part) = (Duration::from_secs(seconds.unsigned_abs()), Duration::from_nanos(nanoseconds.into()));
    let begin = if seconds < 0 { SystemTime::UNIX_EPOCH - whole } else { SystemTime::UNIX_EPOCH + whole };
    begin + part
}
