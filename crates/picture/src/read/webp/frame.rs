//! A file whose beginning lies in memory, and whose last chunk lies in another file.

use std::io::{self, BufRead, Read, Seek, SeekFrom};

/// Reads a head, then a range of an input.
pub struct FrameReader<R> {
    head: Vec<u8>,
    input: R,
    /// The offset in the input of the first byte after the head.
    offset: u64,
    length: u64,
    /// The position in the whole.
    position: u64,
    /// The input stands where the position says.
    in_place: bool,
}

impl<R: BufRead + Seek> FrameReader<R> {
    pub fn new(head: Vec<u8>, input: R, offset: u64, length: u32) -> Self {
        Self { head, input, offset, length: length.into(), position: 0, in_place: false }
    }
}

impl<R: BufRead + Seek> BufRead for FrameReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let head = self.head.len() as u64;
        if self.position < head {
            return Ok(&self.head[self.position as usize..]);
        }
        let passed = self.position - head;
        if !self.in_place {
            self.input.seek(SeekFrom::Start(self.offset.saturating_add(passed)))?;
            self.in_place = true;
        }
        let left = self.length.saturating_sub(passed);
        let bytes = self.input.fill_buf()?;
        Ok(&bytes[..bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX))])
    }

    fn consume(&mut self, amount: usize) {
        if self.position >= self.head.len() as u64 {
            self.input.consume(amount);
        }
        self.position += amount as u64;
    }
}

impl<R: BufRead + Seek> Read for FrameReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.fill_buf()?.read(buffer)?;
        self.consume(read);
        Ok(read)
    }
}

impl<R: BufRead + Seek> Seek for FrameReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::Current(by) => self.position.checked_add_signed(by),
            SeekFrom::End(by) => (self.head.len() as u64 + self.length).checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        self.in_place = false;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::*;

    #[test]
    fn head_and_range_are_one_file() {
        let input = Cursor::new(b"....frame....");
        let mut reader = FrameReader::new(b"head ".to_vec(), BufReader::with_capacity(3, input), 4, 5);
        let mut all = String::new();
        reader.read_to_string(&mut all).unwrap();
        assert_eq!(all, "head frame");
        for at in 0..=12 {
            let mut rest = String::new();
            reader.seek(SeekFrom::Start(at)).unwrap();
            reader.read_to_string(&mut rest).unwrap();
            assert_eq!(rest, all[all.len().min(at as usize)..], "{at}");
        }
        assert_eq!(reader.seek(SeekFrom::End(-3)).unwrap(), 7);
        assert_eq!(reader.seek(SeekFrom::Current(-4)).unwrap(), 3);
        assert!(reader.seek(SeekFrom::Current(-4)).is_err());
    }
}
