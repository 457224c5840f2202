//! Reading the data of a sealed file in order.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use crate::Error;
use crate::floe::{Message, Reader};
use crate::padding::Stripper;
use deadpan_ct::Wiped;

/// A reader that opens in order. All data that it returns are authentic. If it reaches the end without an error, the
/// data are complete.
pub struct Opener<R> {
    reader: Reader<Arc<Message>, R>,
    /// The state of removing the padding, if the data are padded.
    stripping: Option<Stripping>,
}

#[derive(Default)]
struct Stripping {
    stripper: Stripper,
    /// The next output, in this order: a mark, zeros, and a piece.
    mark: bool,
    zeros: u64,
    piece: Wiped<Vec<u8>>,
    taken: usize,
    finished: bool,
}

impl<R> fmt::Debug for Opener<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener(..)")
    }
}

impl<R: Read> Opener<R> {
    pub(super) fn new(reader: Reader<Arc<Message>, R>, padded: bool) -> Self {
        Self { reader, stripping: padded.then(Stripping::default) }
    }
}

impl Stripping {
    fn is_empty(&self) -> bool {
        !self.mark && self.zeros == 0 && self.taken == self.piece.len()
    }

    fn fill<R: Read>(&mut self, reader: &mut Reader<Arc<Message>, R>) -> Result<(), Error> {
        while self.is_empty() && !self.finished {
            let piece = reader.segment()?;
            if piece.is_empty() {
                self.stripper.finish()?;
                self.finished = true;
            }
            let passed = self.stripper.pass(piece);
            self.mark = passed.before.is_some();
            self.zeros = passed.before.unwrap_or_default();
            if self.piece.capacity() < piece.len() {
                // The memory grows while it is empty: memory that grows leaves copies of its contents behind.
                self.piece = Wiped::new(Vec::with_capacity(piece.len()));
            }
            self.piece.clear();
            self.piece.extend_from_slice(&piece[..passed.length]);
            self.taken = 0;
        }
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> usize {
        if self.mark {
            self.mark = false;
            buffer[0] = 0x80;
            return 1;
        }
        if self.zeros > 0 {
            let zeros = usize::try_from(self.zeros).map_or(buffer.len(), |zeros| zeros.min(buffer.len()));
            buffer[..zeros].fill(0);
            self.zeros -= zeros as u64;
            return zeros;
        }
        let taken = buffer.len().min(self.piece.len() - self.taken);
        buffer[..taken].copy_from_slice(&self.piece[self.taken..self.taken + taken]);
        self.taken += taken;
        taken
    }
}

impl<R: Read> Read for Opener<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.stripping {
            _ if buffer.is_empty() => Ok(0),
            None => self.reader.read(buffer),
            Some(stripping) => {
                stripping.fill(&mut self.reader).map_err(Error::into_io)?;
                Ok(stripping.read(buffer))
            }
        }
    }
}
