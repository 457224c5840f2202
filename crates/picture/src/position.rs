//! Reads and writes files at given positions, on every system.

use std::fs::File;
use std::io;

/// Reads at a position until `buffer` is full or the file ends. Returns how many bytes were read.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match once(file, &mut buffer[length..], position + length as u64) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Fills `buffer` from a position. Fails if the file ends before `buffer` is full.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<()> {
    if read_at(file, buffer, position)? == buffer.len() {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the picture became shorter while it was read"))
    }
}

#[cfg(unix)]
fn once(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, position)
}

/// Restores the position of a file after reading or writing elsewhere. On Windows, the calls that take a position move
/// the position of the file too, and other code reads on from there.
#[cfg(windows)]
fn in_place<T>(mut file: &File, act: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    use std::io::{Seek, SeekFrom};
    let before = file.stream_position();
    let done = act();
    if let Ok(before) = before {
        file.seek(SeekFrom::Start(before))?;
    }
    done
}

#[cfg(windows)]
fn once(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    in_place(file, || std::os::windows::fs::FileExt::seek_read(file, buffer, position))
}

#[cfg(unix)]
pub(crate) fn write_all_at(file: &File, bytes: &[u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, position)
}

#[cfg(windows)]
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut position: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match in_place(file, || std::os::windows::fs::FileExt::seek_write(file, bytes, position)) {
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
