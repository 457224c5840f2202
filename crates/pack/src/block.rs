//! The blocks that an archive consists of.

/// The length of a block in bytes. A header is one block, and contents are padded to whole blocks.
pub const BLOCK: u64 = 512;

/// Returns the number of padding bytes in the last block of a content of `length` bytes.
pub(crate) fn filling(length: u64) -> u64 {
    length.next_multiple_of(BLOCK) - length
}
