//! Finds the end of a payload in a stream if a trailer follows. The first bytes of a segment show the end: each segment
//! except the last one begins with `ff ff ff ff`, and the last segment begins with its length.

use std::io::{self, Read};

use crate::format::deadpan::floe::OVERHEAD;
use crate::format::fill::read_full;

const MARK: usize = 4;
const MORE: [u8; MARK] = [0xff; MARK];

/// A reader of the segments of a payload. The reader ends after the last segment, and leaves the trailer in the inner
/// reader. If no trailer follows, the reader returns all bytes.
///
/// The bytes that this reader returns are not authentic, including the first bytes of each segment. Opening the
/// segments shows whether these first bytes are right.
pub(crate) struct PayloadReader<R> {
    input: R,
    /// The length of a segment, or `None` if no trailer follows.
    segment: Option<usize>,
    mark: [u8; MARK],
    /// How many bytes of the mark (the first bytes of a segment) were read, and how many were returned.
    read: usize,
    returned: usize,
    /// The number of bytes after the mark (the first bytes of a segment) that were not returned yet.
    left: usize,
    last: bool,
}

impl<R: Read> PayloadReader<R> {
    /// Reads segments of this length. `segment` is `None` if no trailer follows.
    pub(crate) fn new(input: R, segment: Option<usize>) -> Self {
        Self { input, segment, mark: [0; MARK], read: 0, returned: 0, left: 0, last: false }
    }

    /// Returns the inner reader.
    pub(crate) fn inner(&mut self) -> &mut R {
        &mut self.input
    }

    /// Reads the mark of the next segment.
    fn advance(&mut self, segment: usize) -> io::Result<()> {
        self.read = read_full(&mut self.input, &mut self.mark)?;
        self.returned = 0;
        let said = u32::from_be_bytes(self.mark) as usize;
        self.last = self.read < MARK || (self.mark != MORE && (OVERHEAD..=segment).contains(&said));
        // If the first four bytes are not valid, the segment is treated as a full segment. Such a segment does not
        // open.
        let length = if self.last { said } else { segment };
        self.left = if self.read < MARK { 0 } else { length - MARK };
        Ok(())
    }
}

impl<R: Read> Read for PayloadReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(segment) = self.segment else { return self.input.read(buffer) };
        if self.returned == self.read && self.left == 0 && !self.last && !buffer.is_empty() {
            self.advance(segment)?;
        }
        if self.returned < self.read {
            let taken = buffer.len().min(self.read - self.returned);
            buffer[..taken].copy_from_slice(&self.mark[self.returned..self.returned + taken]);
            self.returned += taken;
            return Ok(taken);
        }
        let most = buffer.len().min(self.left);
        let read = if most == 0 { 0 } else { self.input.read(&mut buffer[..most])? };
        self.left -= read;
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns segments of 40 bytes that begin with these four-byte numbers.
    fn segments(marks: &[u32]) -> Vec<u8> {
        let length = |mark: u32| if (32..=40).contains(&mark) { mark as usize } else { 40 };
        marks.iter().flat_map(|mark| [&mark.to_be_bytes()[..], &vec![7; length(*mark) - 4]].concat()).collect()
    }

    #[test]
    fn the_payload_ends_with_the_segment_that_begins_with_its_length() {
        const ON: u32 = u32::MAX;
        for (marks, behind) in [
            (&[32][..], &b""[..]),
            (&[40], b"trailer"),
            (&[ON, 33], b"trailer"),
            (&[ON, ON, 40], b"\xff\xff\xff\xff"),
            (&[ON, 31, 33], b"t"),
            (&[ON, 41, 0, 39], b"t"),
        ] {
            let payload = segments(marks);
            for step in [1, 2, 3, 4, 5, 39, 40, 41, 1000] {
                let whole = [&payload, behind].concat();
                let mut reader = PayloadReader::new(&whole[..], Some(40));
                let mut found = Vec::new();
                loop {
                    let mut piece = vec![0; step];
                    match reader.read(&mut piece).expect("memory can be read") {
                        0 => break,
                        read => found.extend_from_slice(&piece[..read]),
                    }
                }
                assert!(found == payload && *reader.inner() == behind, "{marks:x?}, {step} at a time");
            }
        }
    }

    #[test]
    fn a_cut_is_an_end() {
        let whole = segments(&[u32::MAX, 36]);
        for length in 0..whole.len() {
            let mut found = Vec::new();
            let mut reader = PayloadReader::new(&whole[..length], Some(40));
            reader.read_to_end(&mut found).expect("memory can be read");
            assert_eq!(found, whole[..length], "cut to {length}");
        }
    }
}
