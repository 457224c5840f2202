//! Finds the ends of frames in stored bytes.

use crate::Flaw;
use crate::frame::{Block, Start, longest};
use crate::table::SKIPPABLE;

/// What the next stored bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A frame of `stored` bytes with `length` bytes of data.
    Frame { stored: usize, length: usize },
    /// The seek table.
    Table,
    /// Unknown, until there are at least this many bytes.
    More(usize),
}

/// How far the next frame is known. A frame that comes in pieces is not searched again from its beginning.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Split {
    start: Option<Start>,
    /// The end of the blocks that were found.
    end: usize,
}

impl Split {
    /// Finds the end of frame `number`, which begins where `bytes` begins.
    pub(crate) fn next(&mut self, number: u64, bytes: &[u8]) -> Result<Next, Flaw> {
        if self.start.is_none() {
            if bytes.len() >= 4 && bytes[..4] == SKIPPABLE {
                return Ok(Next::Table);
            }
            self.start = Start::read(number, bytes)?;
            self.end = self.start.map_or(0, |start| start.header);
        }
        let Some(Start { length, .. }) = self.start else { return Ok(Next::More(Start::LONGEST.min(bytes.len() + 1))) };
        loop {
            let Some(header) = bytes.get(self.end..).and_then(|rest| rest.first_chunk::<{ Block::HEADER }>()) else {
                return Ok(Next::More(self.end + Block::HEADER));
            };
            let block = Block::read(number, *header)?;
            let end = self.end + Block::HEADER + block.stored;
            if end > longest(length) {
                return Err(Flaw::Blocks(number));
            }
            if bytes.len() < end {
                return Ok(Next::More(end));
            }
            if block.is_last {
                *self = Self::default();
                return Ok(Next::Frame { stored: end, length });
            }
            self.end = end;
        }
    }
}
