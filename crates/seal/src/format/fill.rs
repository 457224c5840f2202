//! Reads until a buffer is full, and counts the bytes that are read.

use std::io::{self, Read};

pub(crate) use deadpan_compress::read_full;

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
