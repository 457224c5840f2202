//! The blocks that an archive consists of.

/// Bytes of a block. Headers are blocks, and contents are filled up to whole ones.
pub const BLOCK: u64 = 512;

/// Bytes that fill the last block of a content of `length` bytes.
pub(crate) fn filling(length: u64) -> u64 {
    length.next_multiple_of(BLOCK) - length
}
