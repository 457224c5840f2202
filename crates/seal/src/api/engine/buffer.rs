//! Buffers that begin at a page boundary, so that copies from and to files are aligned. Buffers are wiped when they are
//! dropped.

use std::ops::{Deref, DerefMut};

use deadpan_ct::Wiped;

/// The number of bytes in a page. Systems copy whole pages fastest.
pub(super) const PAGE: usize = 4096;

pub(super) struct Buffer {
    memory: Wiped<Vec<u8>>,
    begin: usize,
    length: usize,
}

impl Buffer {
    pub(super) fn new(length: usize) -> Self {
        #[cfg(test)]
        count::made();
        let memory = Wiped::new(vec![0; length + PAGE]);
        // The offset is less than a page. If the offset cannot be computed, the buffer is unaligned. An unaligned
        // buffer is only slower.
        let begin = memory.as_ptr().align_offset(PAGE);
        Self { begin: if begin < PAGE { begin } else { 0 }, memory, length }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.begin..self.begin + self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        let (begin, length) = (self.begin, self.length);
        &mut self.memory[begin..begin + length]
    }
}

#[cfg(test)]
impl Drop for Buffer {
    fn drop(&mut self) {
        count::gone();
    }
}

/// Counts buffers, so that tests can check that memory does not grow with the data.
#[cfg(test)]
pub(crate) mod count {
    use std::sync::atomic::{AtomicUsize, Ordering};

    static NOW: AtomicUsize = AtomicUsize::new(0);
    static MADE: AtomicUsize = AtomicUsize::new(0);

    pub(super) fn made() {
        NOW.fetch_add(1, Ordering::Relaxed);
        MADE.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn gone() {
        NOW.fetch_sub(1, Ordering::Relaxed);
    }

    /// Returns the number of buffers that exist now, and the number of buffers that were ever made.
    pub(crate) fn read() -> (usize, usize) {
        (NOW.load(Ordering::Relaxed), MADE.load(Ordering::Relaxed))
    }
}
