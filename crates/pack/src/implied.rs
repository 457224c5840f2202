//! The limit for the number of folders that exist only in the paths of other entries. A limit is needed because few
//! bytes of paths can name many folders.

/// An archive may always have this many such folders, which is enough for four paths of the greatest depth.
const FREE: u64 = 4096;

/// More such folders are accepted if the archive has this many bytes for each of them. An empty file has 512 bytes, so
/// it allows eight folders.
const STORED: u64 = 64;

/// Returns how many folders may exist only in the paths of other entries, in the first `bytes` bytes of an archive.
#[must_use]
pub fn most_implied(bytes: u64) -> u64 {
    FREE.max(bytes / STORED)
}
