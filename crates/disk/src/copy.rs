//! Copies data between two files by a system call. The two files share disk blocks if the file system supports this.

use std::fs::File;
use std::io;

use crate::system;

/// Copies up to `length` bytes between two files, and returns the number of copied bytes. Returns `None` if the system
/// cannot copy between these files; then the caller must read and write the bytes itself.
///
/// # Errors
/// The system's errors.
pub fn copy_range(from: &File, at: u64, to: &File, into: u64, length: usize) -> io::Result<Option<usize>> {
    system::copy_range(from, at, to, into, length)
}
