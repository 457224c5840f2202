#![doc = include_str!("../README.md")]

use std::io;

#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use std::os::unix::fs::FileExt;

#[cfg(windows)]
pub use windows::FileExt;

/// Reads at a position until `buffer` is full or the data end. `read_at` reads some bytes at a position. Returns the
/// number of bytes that were read.
///
/// # Errors
/// Those of `read_at`, except interruptions, after which reading goes on.
pub fn fill(
    buffer: &mut [u8],
    position: u64,
    mut read_at: impl FnMut(&mut [u8], u64) -> io::Result<usize>,
) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match read_at(&mut buffer[length..], position.saturating_add(length as u64)) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Seek, Write};

    use super::*;

    /// Also on Windows, where the system's calls move the position of the file.
    #[test]
    fn the_position_of_the_file_stays() {
        let mut file: File = tempfile::tempfile().unwrap();
        file.write_all(b"straight face").unwrap();
        file.seek(io::SeekFrom::Start(2)).unwrap();
        file.write_all_at(b"FACE!", 9).unwrap();
        let mut word = [0; 5];
        file.read_exact_at(&mut word, 9).unwrap();
        assert_eq!(&word, b"FACE!");
        let end = file.read_exact_at(&mut word, 10).unwrap_err();
        assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        let mut rest = String::new();
        file.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "raight FACE!");
    }

    #[test]
    fn reading_goes_on_after_short_reads_and_interruptions() {
        let data = b"straight face";
        let mut calls = 0;
        let mut some = |buffer: &mut [u8], position: u64| {
            calls += 1;
            if calls % 3 == 0 {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let rest = &data[(position as usize).min(data.len())..];
            let length = rest.len().min(buffer.len()).min(3);
            buffer[..length].copy_from_slice(&rest[..length]);
            Ok(length)
        };
        let mut buffer = [0; 8];
        assert_eq!(fill(&mut buffer, 1, &mut some).unwrap(), 8);
        assert_eq!(&buffer, b"traight ");
        assert_eq!(fill(&mut buffer, 9, &mut some).unwrap(), 4);
        assert_eq!(&buffer[..4], b"face");
        let broken = fill(&mut buffer, 0, |_, _| Err(io::ErrorKind::PermissionDenied.into()));
        assert_eq!(broken.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }
}
