//! The index behind the archive.

pub(crate) mod varint;
pub(crate) mod write;

/// What the marker at the beginning says.
pub(crate) const MARKER: &[u8] = b"deadpan pack 1";
/// What stands before a part of the index within the archive.
pub(crate) const BLOCK_PREFIX: &[u8] = b"deadpan index ";
/// The last bytes of a pack.
pub(crate) const SIGNATURE: &[u8; 8] = b"DPNPACK\x01";
