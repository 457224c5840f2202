//! The frame of a pack as it is written: all its bytes except contents of files.
//!
//! [`Packer`](crate::Packer) and [`Excerpt`](crate::Excerpt) write a pack in the same steps: the marker; entries, with
//! index blocks between them; the end of the archive; the remaining parts of the index, the table and the trailer. The
//! two types differ in the source of the entries and the contents.

use crate::block::{BLOCK, filling};
use crate::index::write::IndexWriter;
use crate::tar::form::MARKER;
use crate::tar::write::{About, comment, headers};

/// A frame, and the number of bytes of the pack that were returned.
#[derive(Debug)]
pub(crate) struct Frame {
    /// Number of bytes of the pack that were returned.
    position: u64,
    /// The next bytes, and the number of these bytes that were returned.
    ready: Vec<u8>,
    given: usize,
    stage: Stage,
}

/// The part of the pack that follows after all ready bytes were returned.
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

    /// Whether the whole pack was returned.
    pub(crate) fn ended(&self) -> bool {
        self.stage == Stage::Nothing && self.ready.is_empty()
    }

    /// Copies ready bytes into `buffer`, as far as there is room. Returns the number of copied bytes, which is 0 if no
    /// byte is ready.
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

    /// Number of bytes that are ready and not returned yet.
    pub(crate) fn ready(&self) -> &[u8] {
        &self.ready[self.given..]
    }

    /// The offset in the pack of the byte after the ready bytes.
    pub(crate) fn end(&self) -> u64 {
        self.position + self.ready().len() as u64
    }

    /// Counts bytes of content, which the caller writes itself.
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

    /// Adds `length` zeros, and returns them to be overwritten.
    pub(crate) fn room(&mut self, length: usize) -> &mut [u8] {
        let old = self.ready.len();
        self.ready.resize(old + length, 0);
        &mut self.ready[old..]
    }

    /// Fills the last block of a content of `length` bytes.
    pub(crate) fn fill_block(&mut self, length: u64) {
        self.ready.resize(self.ready.len() + filling(length) as usize, 0);
    }

    /// Makes an index block ready if too many bytes of the index wait to be written. Returns whether it made an index
    /// block ready.
    pub(crate) fn block(&mut self, index: &mut IndexWriter) -> bool {
        let Some(block) = index.block(self.position) else { return false };
        self.ready = block;
        true
    }

    /// Ends the archive: two blocks of zeros.
    pub(crate) fn end_archive(&mut self) {
        self.ready.resize(2 * BLOCK as usize, 0);
        self.stage = Stage::Index;
    }

    /// Makes the next part of the index ready, or, after the last part, the table and the trailer.
    pub(crate) fn index(&mut self, index: &mut IndexWriter) {
        self.ready = index.part(self.position).unwrap_or_else(|| {
            self.stage = Stage::Nothing;
            index.end(self.position)
        });
    }
}
