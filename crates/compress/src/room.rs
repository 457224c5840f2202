//! Buffers that are used again, because new memory costs as much time as the work on it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::FRAME;
use deadpan_ct::Wiped;

/// Bytes at the beginning of a buffer. The rest of the buffer may hold old bytes, which are wiped with the buffer. When
/// it is dropped, a long buffer goes back to its rooms.
#[derive(Default)]
pub(crate) struct Filled {
    buffer: Wiped<Vec<u8>>,
    length: usize,
    rooms: Rooms,
}

impl Filled {
    /// Takes over bytes that belong to no rooms.
    pub(crate) fn new(bytes: Vec<u8>) -> Self {
        Self { length: bytes.len(), buffer: Wiped::new(bytes), rooms: Rooms::default() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer[..self.length]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.buffer[..self.length]
    }

    /// Makes the bytes fewer, or as many as the buffer has room for.
    pub(crate) fn resize(&mut self, length: usize) {
        self.length = length.min(self.buffer.len());
    }

    /// Returns the number of bytes for which the buffer has room.
    pub(crate) fn room(&self) -> usize {
        self.buffer.len()
    }
}

impl Drop for Filled {
    fn drop(&mut self) {
        if self.buffer.len() >= FRAME {
            self.rooms.lock().push(std::mem::take(&mut self.buffer));
        }
    }
}

/// Buffers that nobody uses at the moment.
#[derive(Clone, Default)]
pub(crate) struct Rooms(Arc<Mutex<Vec<Wiped<Vec<u8>>>>>);

impl Rooms {
    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Wiped<Vec<u8>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a buffer with `length` bytes. `most` is the length of the longest buffer that will be needed.
    pub(crate) fn take(&self, length: usize, most: usize) -> Filled {
        // Data of a single short frame need no long buffer.
        let room = if length > FRAME / 16 { most.max(length) } else { length };
        let old = self.lock().pop().filter(|buffer| buffer.len() >= length);
        let buffer = old.unwrap_or_else(|| Wiped::new(vec![0; room]));
        Filled { buffer, length, rooms: self.clone() }
    }
}
