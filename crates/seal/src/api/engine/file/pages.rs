//! Writes whole pages.
//!
//! Segments do not end where pages end. Systems write whole pages much faster than parts of pages: unaligned writes of
//! 1 MiB take 1.3 times as long. To write whole pages, the writer keeps the bytes after the last whole page for the
//! next write.

use std::io;

use crate::WriteAt;
use crate::api::engine::buffer::{Buffer, PAGE};

/// Data that are not written yet, because the write would be too small. Each byte has the same offset within a page of
/// memory as within a page of the file.
pub(super) struct Pages {
    buffer: Buffer,
    /// The position in the file where the buffer begins. The position is the beginning of a page of the file.
    base: u64,
    /// `from` and `to` are the range of the buffer that is filled but not yet written.
    from: usize,
    to: usize,
}

/// Returns the length of a buffer for an output of `total` bytes that is written in segments.
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

    /// Returns the part of the buffer for the next `length` bytes.
    pub(super) fn room(&mut self, length: usize) -> &mut [u8] {
        let begin = self.to;
        self.to += length;
        &mut self.buffer[begin..self.to]
    }

    /// Writes the buffer up to its last whole page. If `next` more bytes fit into the buffer, writes nothing. If `all`
    /// is set (at the end of a batch), writes the whole buffer.
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
