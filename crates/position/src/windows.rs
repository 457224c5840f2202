//! The trait `FileExt` for Windows: the functions of Unix's trait that Deadpan calls.

use std::fs::File;
use std::io;

use crate::fill;

/// Reading and writing at a position, as in `std::os::unix::fs`. The position of the file itself stays, unless two
/// threads use these functions at the same time.
pub trait FileExt {
    /// Reads some bytes at a position.
    ///
    /// # Errors
    /// The system's errors.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;
    /// Writes some bytes at a position.
    ///
    /// # Errors
    /// The system's errors.
    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<usize>;

    /// Fills the buffer from a position.
    ///
    /// # Errors
    /// [`io::ErrorKind::UnexpectedEof`] if the file ends before; otherwise the system's errors.
    fn read_exact_at(&self, buffer: &mut [u8], position: u64) -> io::Result<()> {
        let length = fill(buffer, position, |rest, position| self.read_at(rest, position))?;
        if length == buffer.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Writes all bytes at a position.
    ///
    /// # Errors
    /// The system's errors.
    fn write_all_at(&self, mut bytes: &[u8], mut position: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.write_at(bytes, position) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    bytes = &bytes[written..];
                    position += written as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl FileExt for File {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        in_place(self, || std::os::windows::fs::FileExt::seek_read(self, buffer, position))
    }

    fn write_at(&self, bytes: &[u8], position: u64) -> io::Result<usize> {
        in_place(self, || std::os::windows::fs::FileExt::seek_write(self, bytes, position))
    }
}

/// Restores the position of a file after reading or writing elsewhere. On Windows, the calls that take a position move
/// the position of the file too, and other code reads on from there.
fn in_place<T>(mut file: &File, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    use std::io::{Seek, SeekFrom};
    let before = file.stream_position();
    let done = act();
    if let Ok(before) = before {
        file.seek(SeekFrom::Start(before))?;
    }
    done
}
