//! The operations on files that differ between systems, by system calls of Unix.

pub(crate) mod about;
mod folder;
pub(crate) mod handle;
pub(crate) mod special;
pub(crate) mod user;

use std::borrow::Cow;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{DirEntry, OFlags, SeekFrom, copy_file_range, fcntl_getfl, fcntl_setfl, seek};
pub use rustix::io::Errno;

use crate::about::FileKind;
use crate::folder::Folder;

/// The handle of an open folder.
pub(crate) type FolderHandle = std::os::fd::OwnedFd;
/// The handle of an open file or folder, while the file or folder is borrowed.
pub(crate) type Borrowed<'a> = std::os::fd::BorrowedFd<'a>;
/// The names of a folder, while the folder is listed.
pub(crate) type Entries = rustix::fs::Dir;

pub(crate) fn borrowed(file: &File) -> Borrowed<'_> {
    file.as_fd()
}

/// A name in a folder that is listed.
pub(crate) trait Entry {
    fn name(&self) -> &OsStr;
    /// Returns the kind of the file, if the file system reports it.
    fn kind(&self) -> Option<FileKind>;
    /// Whether the name is `.` or `..`.
    fn is_dots(&self) -> bool;
}

impl Entry for DirEntry {
    fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.file_name().to_bytes())
    }

    fn kind(&self) -> Option<FileKind> {
        FileKind::from_type(self.file_type())
    }

    fn is_dots(&self) -> bool {
        is_dots(self.file_name())
    }
}

fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Refuses a name that is empty, `.` or `..`, or that contains `/`.
pub(crate) fn single(name: &OsStr) -> Result<&OsStr, Errno> {
    match name.as_bytes() {
        b"" | b"." | b".." => Err(Errno::INVAL),
        bytes if bytes.contains(&b'/') => Err(Errno::INVAL),
        _ => Ok(name),
    }
}

/// Whether a path ends with `/` or `/.`.
pub(crate) fn ends_with_separator(path: &OsStr) -> bool {
    let bytes = path.as_bytes();
    bytes.ends_with(b"/") || bytes.ends_with(b"/.")
}

/// Opens the folder in which the lookup of a path begins. Returns the folder and the rest of the path.
pub(crate) fn start(path: &Path) -> io::Result<(Folder, Cow<'_, Path>)> {
    // In messages, a relative path does not begin with `.`, although it is opened relative to the folder `.`.
    let (start, shown) = if path.is_absolute() { ("/", "/") } else { (".", "") };
    Ok((Folder::open_for_names(Path::new(start))?.named(Path::new(shown)), Cow::Borrowed(path)))
}

/// Makes reading from the file wait for data.
pub(crate) fn wait_for_data(file: &File) -> io::Result<()> {
    Ok(fcntl_setfl(file, fcntl_getfl(file)? - OFlags::NONBLOCK)?)
}

/// Finds the first part with data at or after `position`.
pub(crate) fn next_data(file: &File, position: u64, length: u64) -> io::Result<Option<(u64, u64)>> {
    let begin = match seek(file, SeekFrom::Data(position)) {
        Err(Errno::NXIO) => return Ok(None),
        begin => begin?,
    };
    let end = seek(file, SeekFrom::Hole(begin)).unwrap_or(length).min(length);
    Ok((begin < end).then_some((begin, end)))
}

/// Copies up to `length` bytes, or returns `None` if the system cannot copy between these files.
pub(crate) fn copy_range(from: &File, at: u64, to: &File, into: u64, length: usize) -> io::Result<Option<usize>> {
    loop {
        let (mut at, mut into) = (at, into);
        match copy_file_range(from, Some(&mut at), to, Some(&mut into), length) {
            Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM | Errno::BADF) => {
                return Ok(None);
            }
            copied => return Ok(Some(copied?)),
        }
    }
}
