//! Files that are being packed.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::block::BLOCK;
use crate::index::write::Slot;
use crate::tar::form::MOST_PIECES;
use crate::tree::Tree;
use deadpan_disk::portable::FileExt;
use deadpan_disk::{About, next_data};

/// A file that several threads read in pieces.
pub(super) struct Source {
    pub(super) path: Vec<u8>,
    file: File,
    /// The size and the time of the file when its headers were written.
    was: Version,
    /// The length of the stored content, in bytes.
    pub(super) stored: u64,
    pub(super) slot: Slot,
    /// Computes the hash of a content that has several pieces.
    tree: OnceLock<Tree>,
    damaged: AtomicBool,
    /// Whether the file was too short for a piece.
    cut: AtomicBool,
}

/// The size and the time of a file, which change with its contents.
#[derive(PartialEq)]
struct Version(u64, (i64, u32));

impl Version {
    fn from_about(about: &About) -> Self {
        Self(about.length, about.modified)
    }
}

impl Source {
    pub(super) fn new(path: Vec<u8>, file: File, about: &About, stored: u64, slot: Slot) -> Self {
        Self {
            path,
            file,
            was: Version::from_about(about),
            stored,
            slot,
            tree: OnceLock::new(),
            damaged: AtomicBool::new(false),
            cut: AtomicBool::new(false),
        }
    }

    /// Reads `bytes` at `offset` of the file. Returns false if the file ends before all of these bytes are read. If
    /// bytes are missing or cannot be read, zeros take their place, because the headers already state the length of the
    /// content.
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

    /// Hashes a piece at `offset` of the stored content. When all pieces were hashed, returns the hash of the content.
    /// `whole` means that the piece is the whole content.
    pub(super) fn see(&self, offset: u64, bytes: &[u8], whole: bool) -> Option<[u8; 32]> {
        if whole {
            return Some(blake3::hash(bytes).into());
        }
        if bytes.is_empty() {
            return None;
        }
        self.tree.get_or_init(|| Tree::new(self.stored)).add(offset, bytes)
    }

    /// Records that a piece could not be read. Returns true if no piece of the file was unreadable before.
    pub(super) fn damage(&self) -> bool {
        !self.damaged.swap(true, Ordering::Relaxed)
    }

    /// Records that the file was too short for a piece. Returns true if no piece of the file was too short before.
    pub(super) fn cut(&self) -> bool {
        !self.cut.swap(true, Ordering::Relaxed)
    }

    /// Whether the file is now shorter than stated in its headers.
    pub(super) fn is_short(&self) -> bool {
        About::of_file(&self.file).is_ok_and(|about| about.length < self.was.0)
    }

    /// Whether the file changed after its headers were written. If a read found the file too short, the result is
    /// false.
    pub(super) fn changed(&self) -> bool {
        !self.cut.load(Ordering::Relaxed)
            && About::of_file(&self.file).is_ok_and(|about| Version::from_about(&about) != self.was)
    }
}

/// The parts of a file that contain data and not holes.
pub(super) struct Extents {
    /// The offset in the file and the length of each piece with data.
    pieces: VecDeque<(u64, u64)>,
    /// Whether the file has holes.
    sparse: bool,
}

impl Extents {
    /// Returns the whole file as one piece, in which holes are read as zeros.
    pub(super) fn whole(size: u64) -> Self {
        Self { pieces: VecDeque::from_iter((size > 0).then_some((0, size))), sparse: false }
    }

    /// If the file takes less space on the disk than its size, returns the pieces with data; otherwise returns the
    /// whole file.
    pub(super) fn with_data(file: &File, about: &About) -> Self {
        let size = about.length;
        let whole = || Self::whole(size);
        if about.stored >= size {
            return whole();
        }
        let mut pieces = VecDeque::new();
        let mut position = 0;
        while position < size {
            let (data, hole) = match next_data(file, position, size) {
                Ok(Some(piece)) => piece,
                // The rest of the file is a hole.
                Ok(None) => break,
                // An error means that the file system cannot report holes (as in /sys), or that the disk fails. Unread
                // bytes must not become holes.
                Err(_) => return whole(),
            };
            if pieces.len() == MOST_PIECES {
                // Readers refuse a file with more than `MOST_PIECES` pieces.
                return whole();
            }
            pieces.push_back((data, hole - data));
            if pieces.len() == MOST_PIECES {
                // Readers refuse a file with more than `MOST_PIECES` pieces.
                return whole();
            }
            position = hole;
        }
        // A file without holes also uses less space than its size if the file system compresses it.
        if pieces.front() == Some(&(0, size)) { whole() } else { Self { pieces, sparse: true } }
    }

    /// Returns the length of the stored content, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.pieces.iter().map(|(_, length)| length).sum()
    }

    /// Returns the map of a file with holes in GNU's format 1.0: decimal numbers on separate lines, padded to whole
    /// blocks. The map of any other file is empty.
    pub(super) fn map(&self, size: u64) -> Vec<u8> {
        if !self.sparse {
            return Vec::new();
        }
        // If the file ends with a hole, an empty piece at the end of the map gives the size of the file.
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

    /// Removes and returns the next piece, with at most `most` bytes.
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
