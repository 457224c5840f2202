//! The archive: blocks of 512 bytes, as `tar` has them.

mod header;
mod number;
mod parse;
pub(crate) mod path;
mod pax;
mod sparse;
pub(crate) mod write;

pub(crate) use parse::{Event, Member, Parser};
pub(crate) use sparse::Map;

/// A block's length, for slices.
pub(crate) const BLOCK: usize = crate::BLOCK as usize;

/// The comment that a pack begins with.
pub(crate) const MARKER: &[u8] = b"deadpan pack 1";

/// What the comment of an index block begins with; the part follows.
pub(crate) const INDEX_BLOCK: &[u8] = b"deadpan index ";

/// The longest pax header that is read.
pub(crate) const LONGEST_PAX: u64 = 1 << 20;

/// The most pieces a file with holes may have: their map is held in memory.
pub(crate) const MOST_PIECES: usize = 1 << 20;

/// Whether a block is a header: its sum is right.
pub(crate) fn is_header(block: &[u8; BLOCK]) -> bool {
    header::Header::new(block, 0).is_ok()
}
