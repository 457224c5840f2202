//! Reads pictures at given positions.

use std::fs::File;
use std::io;

use deadpan_position::{FileExt, fill};

/// Reads at a position until `buffer` is full or the file ends. Returns how many bytes were read.
pub(crate) fn read_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    fill(buffer, position, |rest, position| file.read_at(rest, position))
}

/// Fills `buffer` from a position. Fails if the file ends before `buffer` is full.
pub(crate) fn read_exact_at(file: &File, buffer: &mut [u8], position: u64) -> io::Result<()> {
    if read_at(file, buffer, position)? == buffer.len() {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the picture became shorter while it was read"))
    }
}
