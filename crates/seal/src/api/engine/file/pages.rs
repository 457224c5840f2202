//! Writing of whole pages.
//!
//! Segments do not end where pages end, and systems write whole pages much faster than parts of pages: unaligned writes
//! of 1 MiB take 1.3 times as long. So the bytes after the last whole page are kept for the next write.

use std::io;

use crate::WriteAt;
use crate::api::engine::buffer::{Buffer, PAGE};

/// Data that wait until a write is large enough. Each byte has the same offset within its page in memory and in the
/// file.
pub(super) struct Pages {
    buffer: Buffer,
    /// The position in the file where the buffer begins, which is the beginning of a page.
    base: u64,
    /// The range of the buffer that is filled and not yet written.
    from: usize,
    to: usize,
}

/// Returns the length of a buffer for an output of `total` bytes, which comes in segments.
pub(super) fn room(output: &impl WriteAt, total: u64, segment: usize) -> usize {
    PAGE + total.min(output.at_once().max(1).next_multiple_of(segment) as u64) as usize
}

impl Pages {
    pub(super) fn new(room: usize) -> Self {
        Self { buffer: Buffer::new(room), base: 0, from: 0, to: 0 }
    }

    /// Moves to a position in the file.
    pub(super) fn begin(&mut self, position: u64) {
        self.from = (position % PAGE as u64) as usize;
        self.to = self.from;
        self.base = position - self.from as u64;
    }

    /// Returns the room for the next `length` bytes.
    pub(super) fn room(&mut self, length: usize) -> &mut [u8] {
        let begin = self.to;
        self.to += length;
        &mut self.buffer[begin..self.to]
    }

    /// Writes the buffer up to the last whole page, unless another `next` bytes fit into it. At the end of a batch,
    /// writes everything.
    pub(super) fn put(&mut self, output: &impl WriteAt, next: usize, all: bool) -> io::Result<()> {
        if !all && self.to + next <= self.buffer.len() {
            return Ok(());
        }
        let end = if all { self.to } else { self.to / PAGE * PAGE };
        if end > self.from {
            output.write_all_at(&self.buffer[self.from..end], self.base + self.from as u64)?;
            self.buffer.copy_within(end..self.to, 0);
            self.base += end as u64;
            (self.from, self.to) = (0, self.to - end);
        }
        Ok(())
    }
}
