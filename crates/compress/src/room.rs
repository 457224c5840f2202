//! Buffers that are used again, because new memory costs as much time as the work on it.

use crate::FRAME;
use deadpan_ct::Wiped;

/// Bytes at the beginning of a buffer. The rest of the buffer may hold old bytes, which are wiped with the buffer.
#[derive(Default)]
pub(crate) struct Filled {
    pub(crate) buffer: Wiped<Vec<u8>>,
    pub(crate) length: usize,
}

impl Filled {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }
}

/// Buffers that nobody uses at the moment.
#[derive(Default)]
pub(crate) struct Rooms(Vec<Wiped<Vec<u8>>>);

impl Rooms {
    /// Returns a buffer for `length` bytes. `most` is the length of the longest buffer that will be needed.
    pub(crate) fn take(&mut self, length: usize, most: usize) -> Wiped<Vec<u8>> {
        // Data of a single short frame need no long buffer.
        let room = if length > FRAME / 16 { most.max(length) } else { length };
        self.0.pop().filter(|buffer| buffer.len() >= length).unwrap_or_else(|| Wiped::new(vec![0; room]))
    }

    pub(crate) fn give_back(&mut self, buffer: Wiped<Vec<u8>>) {
        if buffer.len() >= FRAME {
            self.0.push(buffer);
        }
    }
}
