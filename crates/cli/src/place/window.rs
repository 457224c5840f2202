//! Three writers: [`Window`] writes only a range of the data, [`Limited`] writes data up to a limit, and [`Comparison`]
//! compares the data with a file.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};

/// Writes the `length` bytes that begin at `offset` to the output, and drops all other bytes.
pub struct Window<W> {
    output: W,
    offset: u64,
    length: u64,
    /// Bytes written to the window so far.
    seen: u64,
}

impl<W: Write> Window<W> {
    pub fn new(output: W, offset: u64, length: u64) -> Self {
        Self { output, offset, length, seen: 0 }
    }
}

impl<W: Write> Write for Window<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.offset.saturating_add(self.length);
        let within =
            |position: u64| usize::try_from(position.saturating_sub(self.seen)).unwrap_or(usize::MAX).min(bytes.len());
        self.output.write_all(&bytes[within(self.offset)..within(end)])?;
        self.seen += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Writes data to the output. Fails before more than `most` bytes are written.
pub struct Limited<W> {
    output: W,
    most: u64,
    seen: u64,
}

/// The error if the data are longer than this limit.
#[derive(Clone, Copy, Debug)]
pub struct TooLong(pub u64);

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the data have more than {} bytes", self.0)
    }
}

impl std::error::Error for TooLong {}

impl<W: Write> Limited<W> {
    pub fn new(output: W, most: u64) -> Self {
        Self { output, most, seen: 0 }
    }
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.seen = self.seen.saturating_add(bytes.len() as u64);
        if self.seen > self.most {
            return Err(io::Error::other(TooLong(self.most)));
        }
        self.output.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

/// Compares the written bytes with the contents of a file.
pub struct Comparison<'a> {
    file: &'a File,
    buffer: Vec<u8>,
    same: bool,
}

impl<'a> Comparison<'a> {
    /// Starts to compare with `file`, whose position must be its start.
    pub fn new(file: &'a File) -> Self {
        Self { file, buffer: Vec::new(), same: true }
    }

    /// Whether the written data are equal to the whole file.
    pub fn holds(mut self) -> io::Result<bool> {
        Ok(self.same && self.file.read(&mut [0])? == 0)
    }
}

impl Write for Comparison<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.resize(bytes.len(), 0);
        match self.file.read_exact(&mut self.buffer) {
            Ok(()) => self.same &= self.buffer == bytes,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => self.same = false,
            Err(error) => return Err(error),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_the_same_however_the_input_is_cut() {
        let bytes: Vec<u8> = (0..100).collect();
        for step in [1, 3, 7, 100] {
            for (offset, length) in [(0, 0), (0, 100), (5, 1), (10, 90), (99, 1), (50, u64::MAX)] {
                let mut output = Vec::new();
                let mut window = Window::new(&mut output, offset, length);
                bytes.chunks(step).for_each(|chunk| window.write_all(chunk).unwrap());
                let end = offset.saturating_add(length).min(100) as usize;
                assert_eq!(output, bytes[offset as usize..end], "{offset} {length} {step}");
            }
        }
    }
}
