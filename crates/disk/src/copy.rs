//! Copies data between two files by a system call. The two files share disk blocks if the file system supports this.

use std::fs::File;
use std::io;

use rustix::fs::copy_file_range;
use rustix::io::Errno;

/// Copies up to `length` bytes between two files, and returns the number of copied bytes. Returns `None` if the system
/// cannot copy between these files; then the caller must read and write the bytes itself.
///
/// # Errors
/// The system's errors.
pub fn copy_range(from: &File, at: u64, to: &File, into: u64, length: usize) -> io::Result<Option<usize>> {
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
