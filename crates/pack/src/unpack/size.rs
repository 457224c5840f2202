//! The limit for the size of unpacked files.

use crate::entry::Entry;

/// The size of the unpacked files with their holes, and its limit.
#[derive(Debug, Default)]
pub(super) struct Size {
    /// The number of bytes that the files take in the archive; `holes` is the number of bytes in their holes.
    stored: u64,
    holes: u64,
    pub(super) limit: Option<u64>,
}

impl Size {
    /// Holes up to this total size are always accepted, because a new disk image has little data and large holes.
    const HOLES: u64 = 64 << 30;

    /// Larger holes are accepted up to this many times the number of stored bytes.
    const RATIO: u64 = 1000;

    /// Counts a file. Returns false if the file exceeds the limit.
    pub(super) fn add(&mut self, entry: &Entry) -> bool {
        let stored = self.stored.saturating_add(entry.stored);
        let holes = self.holes.saturating_add(entry.size.saturating_sub(entry.stored));
        let most = Self::HOLES.max(stored.saturating_mul(Self::RATIO));
        let fits = self.limit.map_or(holes <= most, |limit| stored.saturating_add(holes) <= limit);
        if fits {
            (self.stored, self.holes) = (stored, holes);
        }
        fits
    }
}
