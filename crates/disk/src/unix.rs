//! The operations on files that differ between systems, by system calls of Unix.

pub(crate) mod about;
mod folder;
pub(crate) mod handle;
#[cfg(target_os = "linux")]
pub(crate) mod mount;
pub(crate) mod special;
pub(crate) mod user;

use std::borrow::Cow;
use std::ffi::{CStr, OsStr};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{DirEntry, OFlags, fcntl_getfl, fcntl_setfl};
pub use rustix::io::Errno;

use crate::about::FileKind;
use crate::folder::Folder;

/// The handle of an open folder.
pub(crate) type FolderHandle = std::os::fd::OwnedFd;
/// The handle of an open file or folder, while the file or folder is borrowed.
pub(crate) type Borrowed<'a> = std::os::fd::BorrowedFd<'a>;
/// The names of a folder, while the folder is listed.
pub(crate) type Entries = rustix::fs::Dir;

/// The error of an operation that a file system does not support. On macOS, the names ENOTSUP and EOPNOTSUPP belong to
/// two numbers, and file systems return the first.
#[cfg(target_vendor = "apple")]
const UNSUPPORTED: Errno = Errno::NOTSUP;
#[cfg(not(target_vendor = "apple"))]
const UNSUPPORTED: Errno = Errno::OPNOTSUPP;

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

/// Writes a file or folder from the caches to the disk.
#[cfg(target_vendor = "apple")]
pub(crate) fn flush(handle: impl AsFd) -> Result<(), Errno> {
    // On macOS, `fsync` leaves the data in the cache of the drive. Network drives have no other call. For pipes, other
    // systems return `INVAL`.
    match rustix::fs::fcntl_fullfsync(&handle) {
        Err(Errno::NOTSUP | Errno::OPNOTSUPP | Errno::INVAL | Errno::NOTTY | Errno::BADF) => {
            rustix::fs::fsync(handle).map_err(|error| if error == UNSUPPORTED { Errno::INVAL } else { error })
        }
        flushed => flushed,
    }
}

#[cfg(not(target_vendor = "apple"))]
pub(crate) fn flush(handle: impl AsFd) -> Result<(), Errno> {
    rustix::fs::fsync(handle)
}

/// Writes a file from the caches to the disk. [`File::sync_all`] fails on network drives.
#[cfg(target_vendor = "apple")]
pub(crate) fn sync_file(file: &File) -> io::Result<()> {
    loop {
        match flush(file) {
            Err(Errno::INTR) => {}
            flushed => return Ok(flushed?),
        }
    }
}

/// Finds the first part with data at or after `position`.
#[cfg(not(target_vendor = "apple"))]
pub(crate) fn next_data(file: &File, position: u64, length: u64) -> io::Result<Option<(u64, u64)>> {
    use rustix::fs::{SeekFrom, seek};
    let begin = match seek(file, SeekFrom::Data(position)) {
        Err(Errno::NXIO) => return Ok(None),
        begin => begin?,
    };
    let end = seek(file, SeekFrom::Hole(begin)).unwrap_or(length).min(length);
    Ok((begin < end).then_some((begin, end)))
}

/// Finds no holes. On macOS, a search for data that begins inside of data finds the next data behind a hole, so that
/// data would be taken for a hole.
#[cfg(target_vendor = "apple")]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
pub(crate) fn next_data(_file: &File, position: u64, length: u64) -> io::Result<Option<(u64, u64)>> {
    Ok((position < length).then_some((position, length)))
}

/// Copies up to `length` bytes, or returns `None` if the system cannot copy between these files.
#[cfg(target_os = "linux")]
pub(crate) fn copy_range(from: &File, at: u64, to: &File, into: u64, length: usize) -> io::Result<Option<usize>> {
    loop {
        let (mut at, mut into) = (at, into);
        match rustix::fs::copy_file_range(from, Some(&mut at), to, Some(&mut into), length) {
            Err(Errno::INTR) => {}
            Err(Errno::XDEV | Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP | Errno::PERM | Errno::BADF) => {
                return Ok(None);
            }
            copied => return Ok(Some(copied?)),
        }
    }
}

/// Always returns `None`, because only Linux has this call.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Linux")]
pub(crate) fn copy_range(_from: &File, _at: u64, _to: &File, _into: u64, _length: usize) -> io::Result<Option<usize>> {
    Ok(None)
}
