//! Reads a payload in order.

use std::fmt;
use std::io::{self, Read};

use super::{SegmentCipher, Shape};
use crate::Error;
use crate::format::fill::read_full;
use deadpan_ct::Wiped;

/// A reader that opens a payload in order. All data that the reader returns are authentic. The reader reports the end
/// only after it has seen the last segment.
pub struct SegmentReader<C, R> {
    cipher: C,
    input: R,
    data: Wiped<Vec<u8>>,
    taken: usize,
    /// Holds a sealed segment and the byte after the segment.
    sealed: Vec<u8>,
    ahead: bool,
    segment: u64,
    state: ReaderState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReaderState {
    More,
    Finished,
    /// The reader has returned the data of a segment that was sealed as the last one, but more bytes follow this
    /// segment.
    Trailing,
    Truncated,
    Failed,
}

impl<C, R> fmt::Debug for SegmentReader<C, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentReader").field("segment", &self.segment).finish_non_exhaustive()
    }
}

impl<C: SegmentCipher, R: Read> SegmentReader<C, R> {
    /// `input` begins with the first segment.
    pub(crate) fn over(cipher: C, input: R) -> Self {
        Self {
            cipher,
            input,
            data: Wiped::new(Vec::new()),
            taken: 0,
            sealed: Vec::new(),
            ahead: false,
            segment: 0,
            state: ReaderState::More,
        }
    }

    /// Returns the inner reader.
    pub(crate) fn input(&mut self) -> &mut R {
        &mut self.input
    }

    /// Returns the data of the next segment that is not empty. Returns an empty slice at the end.
    ///
    /// # Errors
    /// If the input was changed, is cut short, or cannot be read. After an error, the reader returns no more data.
    pub fn segment(&mut self) -> Result<&[u8], Error> {
        self.advance()?;
        let begin = self.taken;
        self.taken = self.data.len();
        Ok(&self.data[begin..])
    }

    fn advance(&mut self) -> Result<(), Error> {
        while self.taken == self.data.len() && self.state != ReaderState::Finished {
            match std::mem::replace(&mut self.state, ReaderState::Failed) {
                ReaderState::Failed | ReaderState::Truncated => return Err(Error::Truncated),
                ReaderState::Trailing => return Err(Error::Trailing),
                ReaderState::More | ReaderState::Finished => self.state = self.open_next()?,
            }
        }
        Ok(())
    }

    fn open_next(&mut self) -> Result<ReaderState, Error> {
        let Shape { sealed: full, overhead } = self.cipher.shape();
        self.data.clear();
        self.taken = 0;
        self.sealed.resize(full + 1, 0);
        let begin = usize::from(self.ahead);
        if self.ahead {
            self.sealed[0] = self.sealed[full];
        }
        let length = begin + read_full(&mut self.input, &mut self.sealed[begin..]).map_err(Error::Read)?;
        let last = length <= full;
        self.ahead = !last;
        let sealed = &self.sealed[..length.min(full)];
        let data = sealed.len().checked_sub(overhead).ok_or(Error::Truncated)?;
        self.data.resize(data, 0);
        let opened = self.cipher.open(self.segment, last, sealed, &mut self.data);
        let misplaced = match &opened {
            Err(Error::Trailing) => Some(ReaderState::Trailing),
            Err(Error::Truncated) => Some(ReaderState::Truncated),
            _ => None,
        };
        if let Some(state) = misplaced
            && self.cipher.open_misplaced(self.segment, last, sealed, &mut self.data)
        {
            return Ok(state);
        }
        if opened.is_err() {
            self.data.clear();
        }
        self.segment += 1;
        opened.map(|()| if last { ReaderState::Finished } else { ReaderState::More })
    }
}

impl<C: SegmentCipher, R: Read> Read for SegmentReader<C, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        self.advance().map_err(Error::into_io)?;
        let taken = buffer.len().min(self.data.len() - self.taken);
        buffer[..taken].copy_from_slice(&self.data[self.taken..self.taken + taken]);
        self.taken += taken;
        Ok(taken)
    }
}
