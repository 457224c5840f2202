//! Finds the parts of a file that contain data and not holes.

use std::fs::File;
use std::io;

use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

/// Finds the first part with data at or after `position`, and returns the offsets of its beginning and its end. Returns
/// `None` if no more data follow.
///
/// # Errors
/// If the file system cannot report holes, or the disk fails.
pub fn next_data(file: &File, position: u64, length: u64) -> io::Result<Option<(u64, u64)>> {
    let begin = match seek(file, SeekFrom::Data(position)) {
        Err(Errno::NXIO) => return Ok(None),
        begin => begin?,
    };
    let end = seek(file, SeekFrom::Hole(begin)).unwrap_or(length).min(length);
    Ok((begin < end).then_some((begin, end)))
}
