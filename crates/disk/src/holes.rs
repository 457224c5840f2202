//! Holes in files: finds the parts with data, and writes zeros as holes.

use std::fs::File;
use std::io;

use crate::portable::FileExt;
use crate::system;

/// The unit in which zeros become holes, in bytes: the block of most file systems.
const BLOCK: u64 = 4096;

/// Finds the first part with data at or after `position`, and returns the offsets of its beginning and its end. Returns
/// `None` if no more data follow.
///
/// # Errors
/// If the file system cannot report holes, or the disk fails.
pub fn next_data(file: &File, position: u64, length: u64) -> io::Result<Option<(u64, u64)>> {
    system::next_data(file, position, length)
}

/// Writes bytes at a position of a file that has no data there and behind yet, but writes no block of zeros. When all
/// data are written, the caller sets the length of the file with [`File::set_len`].
///
/// # Errors
/// The system's errors.
pub fn write_sparse(file: &File, mut position: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        let is_hole = is_zero(first(bytes, position));
        let mut length = 0;
        while length < bytes.len() {
            let block = first(&bytes[length..], position + length as u64);
            if is_zero(block) != is_hole {
                break;
            }
            length += block.len();
        }
        let (piece, rest) = bytes.split_at(length);
        if !is_hole {
            file.write_all_at(piece, position)?;
        }
        (position, bytes) = (position + length as u64, rest);
    }
    Ok(())
}

/// Returns the bytes up to the end of the block in which the position lies.
fn first(bytes: &[u8], position: u64) -> &[u8] {
    let left = (BLOCK - position % BLOCK) as usize;
    &bytes[..left.min(bytes.len())]
}

fn is_zero(block: &[u8]) -> bool {
    const ZEROS: [u8; BLOCK as usize] = [0; BLOCK as usize];
    block == &ZEROS[..block.len()]
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn zeros_become_holes_however_the_data_are_divided() {
        let place = tempfile::tempdir().expect("a folder");
        let block = BLOCK as usize;
        let mut data = vec![0; 40 * block + 7];
        for index in [0, 5 * block - 1, 5 * block, 20 * block + 1, 40 * block + 3] {
            data[index] = 1;
        }
        for length in [data.len(), 1, block - 1, block, block + 1, 10 * block + 5, 3] {
            let path = place.path().join(length.to_string());
            let file = File::create(&path).expect("made");
            let mut position = 0;
            for piece in data.chunks(length) {
                write_sparse(&file, position, piece).expect("written");
                position += piece.len() as u64;
            }
            file.set_len(position).expect("set");
            assert!(fs::read(&path).expect("read") == data, "{length}");
            let about = crate::About::of_file(&file).expect("known");
            assert!(about.stored <= 5 * BLOCK, "{length}: {}", about.stored);
        }
    }
}
