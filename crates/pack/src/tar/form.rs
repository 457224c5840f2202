//! Constants for reading and writing archives.

/// A block's length, for slices.
pub(crate) const BLOCK: usize = crate::block::BLOCK as usize;

/// The comment at the beginning of every pack.
pub(crate) const MARKER: &[u8] = b"deadpan pack 1";

/// The header with the marker is a global header with only this record.
pub(crate) const MARKER_RECORD: &[u8] = b"26 comment=deadpan pack 1\n";

/// The comment of an index block begins with these bytes; a part of the index follows them.
pub(crate) const INDEX_BLOCK: &[u8] = b"deadpan index ";

/// The maximum length of a pax header that is read.
pub(crate) const LONGEST_PAX: u64 = 1 << 20;

/// The maximum number of pieces of a file with holes. There is a limit because the map is held in memory.
pub(crate) const MOST_PIECES: usize = 1 << 20;
