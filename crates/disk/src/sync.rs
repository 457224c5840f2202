//! Writes files from the caches of the system and of the drive to the disk.

use std::fs::File;
use std::io;

/// Writes the contents and the properties of a file to the disk. On macOS, this function differs from
/// [`File::sync_all`]: it also works on network drives.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] if the file is a pipe; otherwise the system's error.
pub fn sync_file(file: &File) -> io::Result<()> {
    #[cfg(target_vendor = "apple")]
    {
        crate::system::sync_file(file)
    }
    #[cfg(not(target_vendor = "apple"))]
    {
        file.sync_all()
    }
}

/// Writes the contents of a file to the disk, and of its properties those that reading needs. On macOS, this function
/// works like [`sync_file`].
///
/// # Errors
/// The errors of [`sync_file`].
pub fn sync_data(file: &File) -> io::Result<()> {
    if cfg!(target_vendor = "apple") { sync_file(file) } else { file.sync_data() }
}
