//! A file that is being packed.

use crate::BLOCK;
use crate::index::write::Slot;
use crate::tar::MOST_PIECES;
use crate::tree::Tree;
use rustix::fs::{SeekFrom, Stat, fgetxattr, flistxattr, fstat, seek};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

/// A file, shared by the threads that read its pieces.
pub(super) struct Source {
    pub(super) path: Vec<u8>,
    file: File,
    /// As it was when its headers were written.
    was: Version,
    /// Bytes of content in the archive.
    pub(super) stored: u64,
    pub(super) slot: Slot,
    /// Needed when its content comes in several pieces.
    tree: OnceLock<Tree>,
    /// A piece of it could not be read.
    damaged: AtomicBool,
    /// A piece of it was not there.
    cut: AtomicBool,
}

/// What changes when a file does.
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

    /// Fills `bytes` from a place in the file. Whether all of them were there. Zeros are in the place of what was not, or could not be read, since
    /// the headers say how long the content is.
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

    /// Hashes a piece of the stored content. With the last of them, the hash of all.
    pub(super) fn see(&self, offset: u64, bytes: &[u8], whole: bool) -> Option<[u8; 32]> {
        if whole {
            return Some(blake3::hash(bytes).into());
        }
        if bytes.is_empty() {
            return None;
        }
        self.tree.get_or_init(|| Tree::new(self.stored)).add(offset, bytes)
    }

    /// Remembers that a piece of it could not be read. Whether that is news.
    pub(super) fn damage(&self) -> bool {
        !self.damaged.swap(true, Ordering::Relaxed)
    }

    /// Remembers that a piece of it was not there.
    pub(super) fn cut(&self) {
        self.cut.store(true, Ordering::Relaxed);
    }

    /// Whether it was changed since its headers were written, or is not what they say.
    pub(super) fn changed(&self) -> bool {
        self.cut.load(Ordering::Relaxed) || fstat(&self.file).is_ok_and(|stat| Version::of(&stat) != self.was)
    }
}

/// The pieces of a file that hold data: offset and length.
pub(super) struct Extents {
    pieces: VecDeque<(u64, u64)>,
    sparse: bool,
}

impl Extents {
    /// All of it, holes as zeros.
    pub(super) fn whole(size: u64) -> Self {
        Self { pieces: VecDeque::from_iter((size > 0).then_some((0, size))), sparse: false }
    }

    /// All of it, unless the file takes up less room than it is long.
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
                // Nothing but a hole up to the end.
                Err(Errno::NXIO) => break,
                // It does not know, as in /sys, or the disk fails: what is not read must not become zeros.
                Err(_) => return whole(),
            };
            let hole = seek(file, SeekFrom::Hole(data)).unwrap_or(size).min(size);
            if data >= hole {
                break;
            }
            if pieces.len() == MOST_PIECES {
                // No reader takes more.
                return whole();
            }
            pieces.push_back((data, hole - data));
            if pieces.len() == MOST_PIECES {
                // No reader takes more.
                return whole();
            }
            position = hole;
        }
        // File systems that compress take up less room as well.
        if pieces.front() == Some(&(0, size)) { whole() } else { Self { pieces, sparse: true } }
    }

    pub(super) fn length(&self) -> u64 {
        self.pieces.iter().map(|(_, length)| length).sum()
    }

    /// GNU's map of a file with holes, format 1.0: numbers in lines, in whole blocks. Nothing for others.
    pub(super) fn map(&self, size: u64) -> Vec<u8> {
        if !self.sparse {
            return Vec::new();
        }
        // An empty piece at the end says how long the file is, where it ends with a hole.
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

    /// The next piece of at most so many bytes.
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

/// There is no such extended attribute.
#[cfg(target_vendor = "apple")]
const NO_XATTR: Errno = Errno::NOATTR;
#[cfg(not(target_vendor = "apple"))]
const NO_XATTR: Errno = Errno::NODATA;

/// Name and value.
pub(super) type Xattr = (Vec<u8>, Vec<u8>);

/// Extended attributes, in the order of their names.
pub(super) fn xattrs_of(file: impl AsFd) -> io::Result<Vec<Xattr>> {
    let mut names = vec![0; 64 << 10];
    let length = match flistxattr(&file, names.as_mut_slice()) {
        Ok(length) => length,
        // The file system has none.
        Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut found = Vec::new();
    for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        // The system's own limit for a value.
        let mut value = vec![0; 64 << 10];
        match fgetxattr(&file, name, value.as_mut_slice()) {
            Ok(length) => value.truncate(length),
            // It was removed meanwhile.
            Err(NO_XATTR) => continue,
            Err(error) => return Err(error.into()),
        }
        found.push((name.to_vec(), value));
    }
    found.sort();
    Ok(found)
}
