//! Files that are being packed.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{SeekFrom, Stat, fgetxattr, flistxattr, fstat, seek};
use rustix::io::Errno;

use crate::block::BLOCK;
use crate::index::write::Slot;
use crate::tar::form::MOST_PIECES;
use crate::tree::Tree;

/// A file whose pieces several threads read.
pub(super) struct Source {
    pub(super) path: Vec<u8>,
    file: File,
    /// The file's version when its headers were written.
    was: Version,
    /// The length of the stored content, in bytes.
    pub(super) stored: u64,
    pub(super) slot: Slot,
    /// Hashes the content, if it has several pieces.
    tree: OnceLock<Tree>,
    /// Whether a piece of the file could not be read.
    damaged: AtomicBool,
    /// Whether the file was too short for a piece.
    cut: AtomicBool,
}

/// A file's size and time, which change with its contents.
#[derive(PartialEq)]
struct Version(i64, i64, i64);

impl Version {
    fn of(stat: &Stat) -> Self {
        Self(stat.st_size, stat.st_mtime, stat.st_mtime_nsec as i64)
    }
}

impl Source {
    pub(super) fn new(path: Vec<u8>, file: File, stat: &Stat, stored: u64, slot: Slot) -> Self {
        Self {
            path,
            file,
            was: Version::of(stat),
            stored,
            slot,
            tree: OnceLock::new(),
            damaged: AtomicBool::new(false),
            cut: AtomicBool::new(false),
        }
    }

    /// Reads `bytes` at `offset` of the file. Returns false if the file ends within them. Bytes that are missing or
    /// cannot be read become zeros, because the headers already state the length of the content.
    pub(super) fn read(&self, offset: u64, bytes: &mut [u8]) -> io::Result<bool> {
        let mut filled = 0;
        while filled < bytes.len() {
            match self.file.read_at(&mut bytes[filled..], offset + filled as u64) {
                Ok(0) => {
                    bytes[filled..].fill(0);
                    return Ok(false);
                }
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    bytes[filled..].fill(0);
                    return Err(error);
                }
            }
        }
        Ok(true)
    }

    /// Hashes a piece at `offset` of the stored content. Returns the content's hash after the last piece. `whole` tells
    /// that the piece is the whole content.
    pub(super) fn see(&self, offset: u64, bytes: &[u8], whole: bool) -> Option<[u8; 32]> {
        if whole {
            return Some(blake3::hash(bytes).into());
        }
        if bytes.is_empty() {
            return None;
        }
        self.tree.get_or_init(|| Tree::new(self.stored)).add(offset, bytes)
    }

    /// Records that a piece could not be read. Returns whether this was the first.
    pub(super) fn damage(&self) -> bool {
        !self.damaged.swap(true, Ordering::Relaxed)
    }

    /// Records that the file was too short for a piece. Returns whether this was the first.
    pub(super) fn cut(&self) -> bool {
        !self.cut.swap(true, Ordering::Relaxed)
    }

    /// Whether the file is shorter than its headers say.
    pub(super) fn is_short(&self) -> bool {
        fstat(&self.file).is_ok_and(|stat| stat.st_size < self.was.0)
    }

    /// Whether the file changed after its headers were written, apart from a missing part.
    pub(super) fn changed(&self) -> bool {
        !self.cut.load(Ordering::Relaxed) && fstat(&self.file).is_ok_and(|stat| Version::of(&stat) != self.was)
    }
}

/// The pieces of a file that hold data.
pub(super) struct Extents {
    /// The offset and length of each piece.
    pieces: VecDeque<(u64, u64)>,
    /// Whether the file has holes.
    sparse: bool,
}

impl Extents {
    /// Returns the whole file as one piece, with holes as zeros.
    pub(super) fn whole(size: u64) -> Self {
        Self { pieces: VecDeque::from_iter((size > 0).then_some((0, size))), sparse: false }
    }

    /// Returns the pieces with data, if the file uses less space on the disk than its size, or else the whole file.
    pub(super) fn of(file: &File, stat: &Stat) -> Self {
        let size = stat.st_size as u64;
        let whole = || Self::whole(size);
        if stat.st_blocks as u64 * BLOCK >= size {
            return whole();
        }
        let mut pieces = VecDeque::new();
        let mut position = 0;
        while position < size {
            let data = match seek(file, SeekFrom::Data(position)) {
                Ok(data) => data,
                // The rest of the file is a hole.
                Err(Errno::NXIO) => break,
                // The file system cannot report holes (as in /sys), or the disk fails. Unread bytes must not become
                // holes.
                Err(_) => return whole(),
            };
            let hole = seek(file, SeekFrom::Hole(data)).unwrap_or(size).min(size);
            if data >= hole {
                break;
            }
            if pieces.len() == MOST_PIECES {
                // Readers refuse more pieces.
                return whole();
            }
            pieces.push_back((data, hole - data));
            if pieces.len() == MOST_PIECES {
                // Readers refuse more pieces.
                return whole();
            }
            position = hole;
        }
        // A compressed file without holes uses less space, too.
        if pieces.front() == Some(&(0, size)) { whole() } else { Self { pieces, sparse: true } }
    }

    /// Returns the length of the stored content, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.pieces.iter().map(|(_, length)| length).sum()
    }

    /// Returns the map of a file with holes, in GNU's format 1.0: lines of numbers, padded to whole blocks. The map of
    /// any other file is empty.
    pub(super) fn map(&self, size: u64) -> Vec<u8> {
        if !self.sparse {
            return Vec::new();
        }
        // If the file ends with a hole, an empty piece at the end of the file records its size.
        let ends = self.pieces.back().map_or(0, |(offset, length)| offset + length) < size;
        let end = ends.then_some((size, 0));
        let mut text = format!("{}\n", self.pieces.len() + usize::from(ends));
        for (offset, length) in self.pieces.iter().copied().chain(end) {
            text.push_str(&format!("{offset}\n{length}\n"));
        }
        let mut map = text.into_bytes();
        map.resize(map.len().next_multiple_of(BLOCK as usize), 0);
        map
    }

    /// Takes the next piece, of at most `most` bytes.
    pub(super) fn take(&mut self, most: u64) -> Option<(u64, u64)> {
        let (offset, left) = self.pieces.front_mut()?;
        let length = most.min(*left);
        let piece = (*offset, length);
        *offset += length;
        *left -= length;
        if *left == 0 {
            self.pieces.pop_front();
        }
        Some(piece)
    }
}

/// The error for an extended attribute that does not exist.
#[cfg(target_vendor = "apple")]
const NO_XATTR: Errno = Errno::NOATTR;
#[cfg(not(target_vendor = "apple"))]
const NO_XATTR: Errno = Errno::NODATA;

/// An extended attribute: its name and value.
pub(super) type Xattr = (Vec<u8>, Vec<u8>);

/// Whether the file has an access control list. If so, the group's bits of its mode are the mask of that list.
pub(super) fn has_access_list(file: impl AsFd) -> bool {
    // The system refuses this buffer, because every list is longer.
    let mut start = [0; 1];
    cfg!(target_os = "linux") && fgetxattr(file, "system.posix_acl_access", &mut start) == Err(Errno::RANGE)
}

/// Reads a file's extended attributes, in the order of their names.
pub(super) fn xattrs_of(file: impl AsFd) -> io::Result<Vec<Xattr>> {
    let mut names = vec![0; 64 << 10];
    let length = match flistxattr(&file, names.as_mut_slice()) {
        Ok(length) => length,
        // The file system has no extended attributes.
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        // The system limits values to this size.
        let mut value = vec![0; 64 << 10];
        match fgetxattr(&file, name, value.as_mut_slice()) {
            Ok(length) => value.truncate(length),
            // Another program removed the attribute after the names were listed.
            Err(NO_XATTR) => continue,
            Err(error) => return Err(error.into()),
        }
        found.push((name.to_vec(), value));
    }
    found.sort();
    Ok(found)
}
