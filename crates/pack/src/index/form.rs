//! Constants and functions for the format of an index, used by the code that writes, reads and compares an index.

use crate::entry::Kind;
use crate::error::{Error, Flaw};

/// The last bytes of a pack.
pub(crate) const SIGNATURE: &[u8; 8] = b"DPNPACK\x01";

/// The length in bytes of the trailer, which ends with the signature.
pub(crate) const TRAILER: usize = 64;

/// The length in bytes of the head of a part. The head is stored before the records of the part: it contains the number
/// of entries, and the offset where the first entry begins.
pub(crate) const HEAD: usize = 12;

/// Returns the byte that stands for this kind of entry at the beginning of a record.
pub(crate) fn code(kind: Kind) -> u8 {
    match kind {
        Kind::File => 1,
        Kind::Folder => 2,
        Kind::SymbolicLink => 3,
        Kind::HardLink => 4,
        Kind::Sparse => 5,
    }
}

/// Returns the kind of entry for the first byte of a record.
pub(crate) fn kind(code: u8) -> Option<Kind> {
    [Kind::File, Kind::Folder, Kind::SymbolicLink, Kind::HardLink, Kind::Sparse]
        .into_iter()
        .find(|kind| self::code(*kind) == code)
}

pub(crate) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// Returns the table's row for a part.
pub(crate) fn line(offset: u64, length: u32, count: u32, hash: &blake3::Hash, first: &[u8]) -> Vec<u8> {
    let numbers = [&offset.to_be_bytes()[..], &length.to_be_bytes(), &count.to_be_bytes()].concat();
    [&numbers, &hash.as_bytes()[..], &(first.len() as u16).to_be_bytes(), first].concat()
}

/// The length of a tar record in bytes. GNU tar reads and writes archives in whole records.
const RECORD: u64 = 10_240;

/// Returns the number of zero bytes between a table that ends at `end` and the trailer. The zeros make the pack's
/// length a multiple of the length of a tar record. `tar r` destroys an archive whose length is not a multiple of a
/// block. `tar --delete` loses entries if the last tar record of an archive is incomplete.
pub(crate) fn zeros(end: u64) -> usize {
    let length = end + TRAILER as u64;
    (length.next_multiple_of(RECORD) - length) as usize
}

pub(crate) fn trailer(offset: u64, length: u64, entries: u64, parts: u32, hash: &blake3::Hash) -> Vec<u8> {
    let numbers = [offset, length, entries].map(u64::to_be_bytes).concat();
    [&numbers[..], &parts.to_be_bytes(), &[0; 4], &hash.as_bytes()[..24], SIGNATURE].concat()
}

/// `what` describes the contradiction.
pub(crate) fn damaged(what: &'static str) -> Error {
    Flaw::Index(what).into()
}
