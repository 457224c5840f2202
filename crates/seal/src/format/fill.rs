//! Reads until a buffer is full, and counts the bytes that are read.

use std::io::{self, Read};

/// Reads until `buffer` is full or the input ends, with as many reads as necessary. Returns the number of bytes that
/// were read.
pub(crate) fn read_full(input: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match input.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

pub(crate) struct Counted<R> {
    pub(crate) input: R,
    pub(crate) read: u64,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        self.read += read as u64;
        Ok(read)
    }
}
