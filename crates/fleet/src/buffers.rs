//! Buffers that are used again. New memory costs more time than filling a buffer, and freed memory may stay with the
//! process.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use parking_lot::Mutex;

/// The maximum length of a buffer that is kept for reuse, which is enough for a part of a result.
const KEPT: usize = 17 << 20;

#[derive(Default)]
pub(crate) struct Buffers(Mutex<Vec<Vec<u8>>>);

/// A buffer that goes back to the list when it is dropped.
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    home: Arc<Buffers>,
}

impl Buffers {
    /// Returns a buffer of this length. The buffer still holds the bytes of its last use.
    pub(crate) fn take(self: &Arc<Self>, length: usize) -> Buffer {
        let mut bytes = self.0.lock().pop().unwrap_or_default();
        bytes.resize(length, 0);
        Buffer { bytes, home: Arc::clone(self) }
    }
}

impl Buffer {
    /// Returns the vector in the buffer, for a caller that changes the vector's length.
    pub(crate) fn bytes(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.bytes);
        if bytes.capacity() <= KEPT {
            self.home.0.lock().push(bytes);
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
