//! Opens existing outputs that are not replaced: devices such as `NUL`. If a path leads to a named pipe, its server may
//! see who this user is, and cannot act as this user.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::path::Path;

use windows_sys::Win32::Storage::FileSystem::SECURITY_IDENTIFICATION;

use crate::about::{About, FileId};

/// Opens a device or a named pipe for writing. If the path now leads to a file on a disk, returns `None`.
///
/// # Errors
/// The system's errors.
pub fn open_special(path: &Path, _id: FileId) -> io::Result<Option<File>> {
    let file = OpenOptions::new().write(true).security_qos_flags(SECURITY_IDENTIFICATION).open(path)?;
    let about = About::of_file(&file)?;
    Ok((!about.is_file() && !about.is_folder()).then_some(file))
}

/// Opens a file to append to it.
///
/// # Errors
/// The system's errors.
pub fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).security_qos_flags(SECURITY_IDENTIFICATION).open(path)
}
