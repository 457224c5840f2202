//! Writes all bytes of a pack except the contents of files.
//!
//! [`Packer`](crate::Packer) and [`Excerpt`](crate::Excerpt) write a pack in the same order. Both types write the
//! marker, the entries with index blocks between them, the end of the archive, the remaining parts of the index, the
//! table and the trailer. The two types get the entries and the contents from different sources.

use crate::block::{BLOCK, filling};
use crate::index::write::IndexWriter;
use crate::tar::form::MARKER;
use crate::tar::write::{About, comment, headers};

/// Produces the bytes of a pack except the contents of files.
#[derive(Debug)]
pub(crate) struct Frame {
    /// The number of bytes of the pack that were already returned.
    position: u64,
    /// The bytes that were made last: the first `given` of these bytes were already returned, the other bytes are
    /// returned next.
    ready: Vec<u8>,
    given: usize,
    stage: Stage,
}

/// What is made next, after all bytes in `ready` were returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Entries, or the end of the archive.
    Entries,
    /// The index: parts, table and trailer.
    Index,
    /// Nothing.
    Nothing,
}

impl Frame {
    /// Begins with the marker.
    pub(crate) fn new() -> Self {
        let mut ready = Vec::new();
        comment(&mut ready, &[MARKER]);
        Self { position: 0, ready, given: 0, stage: Stage::Entries }
    }

    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    pub(crate) fn ended(&self) -> bool {
        self.stage == Stage::Nothing && self.ready.is_empty()
    }

    /// Copies as many ready bytes into `buffer` as fit. Returns the number of copied bytes, which is 0 if no byte is
    /// ready.
    pub(crate) fn give(&mut self, buffer: &mut [u8]) -> usize {
        let length = buffer.len().min(self.ready.len() - self.given);
        buffer[..length].copy_from_slice(&self.ready[self.given..][..length]);
        self.given += length;
        if self.given == self.ready.len() {
            self.ready.clear();
            self.given = 0;
        }
        self.position += length as u64;
        length
    }

    /// Returns the bytes that are ready and were not returned yet.
    pub(crate) fn ready(&self) -> &[u8] {
        &self.ready[self.given..]
    }

    /// Returns where the ready bytes end, as an offset in the pack.
    pub(crate) fn end(&self) -> u64 {
        self.position + self.ready().len() as u64
    }

    /// Counts bytes of content that the caller returned without this type.
    pub(crate) fn pass(&mut self, length: usize) {
        self.position += length as u64;
    }

    /// Adds an entry's headers.
    pub(crate) fn headers(&mut self, about: &About<'_>) {
        headers(&mut self.ready, about);
    }

    /// Adds bytes without a change.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.ready.extend_from_slice(bytes);
    }

    /// Appends `length` zeros, and returns these bytes to be overwritten.
    pub(crate) fn room(&mut self, length: usize) -> &mut [u8] {
        let old = self.ready.len();
        self.ready.resize(old + length, 0);
        &mut self.ready[old..]
    }

    /// Pads a content of `length` bytes with zeros to whole blocks.
    pub(crate) fn fill_block(&mut self, length: u64) {
        self.ready.resize(self.ready.len() + filling(length) as usize, 0);
    }

    /// If too many finished bytes of the index are not in the pack yet, prepares an index block with some of these
    /// bytes. Returns whether an index block was prepared.
    pub(crate) fn block(&mut self, index: &mut IndexWriter) -> bool {
        let Some(block) = index.block(self.position) else { return false };
        self.ready = block;
        true
    }

    pub(crate) fn end_archive(&mut self) {
        self.ready.resize(2 * BLOCK as usize, 0);
        self.stage = Stage::Index;
    }

    /// Prepares the next part of the index, or, after the last part, the table and the trailer.
    pub(crate) fn index(&mut self, index: &mut IndexWriter) {
        self.ready = index.part(self.position).unwrap_or_else(|| {
            self.stage = Stage::Nothing;
            index.end(self.position)
        });
    }
}
