//! The limit for implied folders: folders that have no entry and occur only in the paths of other entries. Without a
//! limit, a short archive could make a reader create a huge number of folders.

/// Every archive may have this many implied folders, which is enough for four paths of the maximum depth.
const FREE: u64 = 4096;

/// In a large archive, each group of this many bytes allows one implied folder. An empty file takes 512 bytes of an
/// archive, so it allows eight implied folders.
const STORED: u64 = 64;

/// Returns the maximum number of implied folders in the first `bytes` bytes of an archive.
#[must_use]
pub fn most_implied(bytes: u64) -> u64 {
    FREE.max(bytes / STORED)
}
