//! Messages as streams that are read or written in order, or read at any position.

use std::io::{Read, Seek, SeekFrom, Write};

use super::{Cipher, Message};
use crate::Error;
use crate::format::segment;

/// A reader that opens a message in order. All data that the reader returns are authentic. The reader reports the end
/// only after it has seen the last segment.
pub type Reader<M, R> = segment::SegmentReader<Cipher<M>, R>;

/// A reader that opens a message at any position. The reader opens the last segment first, so that the length is
/// authentic.
pub type SeekReader<M, R> = segment::SeekReader<Cipher<M>, R>;

/// A writer that seals a message segment by segment. Without a call of `Writer::finish`, the message has no last
/// segment, and readers refuse the message.
pub type Writer<M, W> = segment::SegmentWriter<Cipher<M>, W>;

impl<M: AsRef<Message>, R: Read> Reader<M, R> {
    /// Reads the segments of `message` from `input`. The header must already be read.
    pub fn new(message: M, input: R) -> Self {
        Self::over(Cipher::new(message), input)
    }
}

impl<M: AsRef<Message>, R: Read + Seek> SeekReader<M, R> {
    /// Reads the segments of `message`, which are between `begin` and the end of `input`.
    ///
    /// # Errors
    /// If the length cannot be right, or the last segment does not open.
    pub fn new(message: M, mut input: R, begin: u64) -> Result<Self, Error> {
        let end = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        Self::over(Cipher::new(message), input, begin, end)
    }
}

impl<M: AsRef<Message>, W: Write> Writer<M, W> {
    /// Writes the segments of `message` to `output`, which must already have the header of the message.
    pub fn new(message: M, output: W) -> Self {
        Self::over(Cipher::new(message), output)
    }
}
