//! Files that are being packed.

use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::block::BLOCK;
use crate::index::write::Slot;
use crate::tar::form::MOST_PIECES;
use crate::tree::Tree;
use deadpan_disk::{About, next_data};

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

    /// Reads `bytes` at `offset` of the file. Returns false if the file ends before the end of these bytes. Bytes that
    /// are missing or cannot be read become zeros, because the headers already state the length of the content.
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

    /// Hashes a piece at `offset` of the stored content. Returns the content's hash after the last piece. `whole`
    /// states whether the piece is the whole content.
    pub(super) fn see(&self, offset: u64, bytes: &[u8], whole: bool) -> Option<[u8; 32]> {
        if whole {
            return Some(blake3::hash(bytes).into());
        }
        if bytes.is_empty() {
            return None;
        }
        self.tree.get_or_init(|| Tree::new(self.stored)).add(offset, bytes)
    }

    /// Records that a piece could not be read. Returns whether this was the first such piece.
    pub(super) fn damage(&self) -> bool {
        !self.damaged.swap(true, Ordering::Relaxed)
    }

    /// Records that the file was too short for a piece. Returns whether this was the first such piece.
    pub(super) fn cut(&self) -> bool {
        !self.cut.swap(true, Ordering::Relaxed)
    }

    /// Whether the file is shorter than its headers say.
    pub(super) fn is_short(&self) -> bool {
        About::of_file(&self.file).is_ok_and(|about| about.length < self.was.0)
    }

    /// Whether the file changed after its headers were written, apart from a missing part.
    pub(super) fn changed(&self) -> bool {
        !self.cut.load(Ordering::Relaxed)
            && About::of_file(&self.file).is_ok_and(|about| Version::from_about(&about) != self.was)
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
                // The file system cannot report holes (as in /sys), or the disk fails. Unread bytes must not become
                // holes.
                Err(_) => return whole(),
            };
            if pieces.len() == MOST_PIECES {
                // Readers refuse a file with more pieces.
                return whole();
            }
            pieces.push_back((data, hole - data));
            if pieces.len() == MOST_PIECES {
                // Readers refuse a file with more pieces.
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
