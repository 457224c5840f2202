//! The properties of a file, from the structure `stat`.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{FileType, Stat, fstat, lstat, stat};

use crate::about::{About, FileId, FileKind};

pub(crate) fn of_file(file: &File) -> io::Result<About> {
    Ok(About::from_stat(&fstat(file)?))
}

pub(crate) fn of_path(path: &Path) -> io::Result<About> {
    Ok(About::from_stat(&stat(path)?))
}

pub(crate) fn of_name(path: &Path) -> io::Result<About> {
    Ok(About::from_stat(&lstat(path)?))
}

impl FileKind {
    pub(crate) fn from_type(kind: FileType) -> Option<Self> {
        Some(match kind {
            FileType::RegularFile => Self::File,
            FileType::Directory => Self::Folder,
            FileType::Symlink => Self::Link,
            FileType::Fifo => Self::Fifo,
            FileType::CharacterDevice => Self::Device,
            FileType::Socket => Self::Socket,
            FileType::Unknown => return None,
            _ => Self::Other,
        })
    }
}

impl About {
    #[allow(clippy::unnecessary_cast)] // The widths and signs differ between systems.
    pub(crate) fn from_stat(stat: &Stat) -> Self {
        let kind = FileKind::from_type(FileType::from_raw_mode(stat.st_mode)).unwrap_or(FileKind::Other);
        Self {
            kind,
            id: FileId { device: stat.st_dev as u64, number: stat.st_ino },
            length: stat.st_size as u64,
            stored: stat.st_blocks as u64 * 512,
            mode: stat.st_mode as u32 & 0o7777,
            owner: stat.st_uid,
            group: stat.st_gid,
            links: stat.st_nlink as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
            is_system_device: kind == FileKind::Device && is_of_system(stat),
        }
    }
}

/// Whether this device is not a pseudo-terminal. Every user can have a pseudo-terminal. In a user namespace, system
/// devices seem to belong to the user `nobody`.
#[cfg(target_os = "linux")]
fn is_of_system(stat: &Stat) -> bool {
    // The major numbers of pseudo-terminals.
    !(136..144).contains(&rustix::fs::major(stat.st_rdev))
}

#[cfg(not(target_os = "linux"))]
fn is_of_system(_stat: &Stat) -> bool {
    false
}
