//! What of an index has one form, for those who write it, read it, and compare it with an archive.

use crate::Kind;

/// The last bytes of a pack.
pub(crate) const SIGNATURE: &[u8; 8] = b"DPNPACK\x01";

/// The first byte of a record.
pub(crate) fn code(kind: Kind) -> u8 {
    match kind {
        Kind::File => 1,
        Kind::Folder => 2,
        Kind::SymbolicLink => 3,
        Kind::HardLink => 4,
        Kind::Sparse => 5,
    }
}

/// What the first byte of a record says.
pub(crate) fn kind(code: u8) -> Option<Kind> {
    [Kind::File, Kind::Folder, Kind::SymbolicLink, Kind::HardLink, Kind::Sparse].into_iter().find(|kind| self::code(*kind) == code)
}

/// The table's line for a part.
pub(crate) fn line(offset: u64, length: u32, count: u32, hash: &blake3::Hash, first: &[u8]) -> Vec<u8> {
    let numbers = [&offset.to_be_bytes()[..], &length.to_be_bytes(), &count.to_be_bytes()].concat();
    [&numbers, &hash.as_bytes()[..], &(first.len() as u16).to_be_bytes(), first].concat()
}

/// The trailer behind a table that begins at `offset`.
pub(crate) fn trailer(offset: u64, length: u64, entries: u64, parts: u32, hash: &blake3::Hash) -> Vec<u8> {
    let numbers = [offset, length, entries].map(u64::to_be_bytes).concat();
    [&numbers[..], &parts.to_be_bytes(), &[0; 4], &hash.as_bytes()[..24], SIGNATURE].concat()
}
