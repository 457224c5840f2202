//! Compares the contents of one file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use blake3::Hasher;

use crate::entry::{Entry, Kind};
use crate::error::{Action, Error, Flaw};
use crate::shown::shown;
use crate::tar::read_map;
use deadpan_disk::next_data;
use deadpan_disk::portable::FileExt;

/// How many bytes are read at once.
const PIECE: usize = 1 << 20;

/// Why the contents of a file cannot be compared.
pub(super) enum Trouble {
    /// The file on the disk cannot be read.
    File(io::Error),
    Archive(Error),
}

impl Trouble {
    pub(super) fn about(self, path: &[u8]) -> Error {
        match self {
            Self::File(error) => Error::Entry { action: Action::Read, path: shown(path), error },
            Self::Archive(error) => error,
        }
    }
}

/// Whether the file has the contents of the entry. `archive` reads the pack.
pub(super) fn is_same(
    file: &File,
    entry: &Entry,
    archive: &mut (impl Read + Seek),
    progress: &dyn Fn(u64),
) -> Result<bool, Trouble> {
    let wanted = entry.hash.ok_or_else(|| Trouble::Archive(Flaw::Damaged("the index has no hash".into()).into()))?;
    let mut content = Content { file, hasher: Hasher::new(), buffer: vec![0; PIECE], progress };
    if entry.kind != Kind::Sparse {
        return Ok(content.hash(0, entry.size)? && content.hasher.finalize() == wanted);
    }
    // The hash of a file with holes is over the map of the archive and the pieces with data. The file on the disk may
    // have other holes.
    let unread = |error| Trouble::Archive(Error::Read(error));
    archive.seek(SeekFrom::Start(entry.content)).map_err(unread)?;
    let (bytes, map) = read_map(archive, entry.stored, entry.size).map_err(Trouble::Archive)?;
    content.hasher.update(&bytes);
    let mut end = 0;
    for (offset, length) in map.pieces(0, entry.stored) {
        if !(content.is_hole(end, offset)? && content.hash(offset, offset + length)?) {
            return Ok(false);
        }
        end = offset + length;
    }
    Ok(content.is_hole(end, entry.size)? && content.hasher.finalize() == wanted)
}

struct Content<'a> {
    file: &'a File,
    hasher: Hasher,
    buffer: Vec<u8>,
    progress: &'a dyn Fn(u64),
}

impl Content<'_> {
    /// Reads a part of the file, and calls `each` for its bytes. Returns false if the file ends before, or if `each`
    /// returns false.
    fn read(
        &mut self,
        mut begin: u64,
        end: u64,
        mut each: impl FnMut(&mut Hasher, &[u8]) -> bool,
    ) -> Result<bool, Trouble> {
        while begin < end {
            let room = (end - begin).min(PIECE as u64) as usize;
            match self.file.read_at(&mut self.buffer[..room], begin) {
                Ok(0) => return Ok(false),
                Ok(read) => {
                    if !each(&mut self.hasher, &self.buffer[..read]) {
                        return Ok(false);
                    }
                    (self.progress)(read as u64);
                    begin += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Trouble::File(error)),
            }
        }
        Ok(true)
    }

    fn hash(&mut self, begin: u64, end: u64) -> Result<bool, Trouble> {
        self.read(begin, end, |hasher, bytes| {
            hasher.update(bytes);
            true
        })
    }

    /// Whether a part of the file has only zeros. The part need not be a hole on the disk.
    fn is_hole(&mut self, mut begin: u64, end: u64) -> Result<bool, Trouble> {
        while begin < end {
            // If the file system cannot report holes, the whole part is read.
            let (from, until) = match next_data(self.file, begin, end) {
                Ok(None) => return Ok(true),
                Ok(Some((from, _))) if from >= end => return Ok(true),
                Ok(Some((from, until))) => (from.max(begin), until.min(end)),
                Err(_) => (begin, end),
            };
            if !self.read(from, until, |_, bytes| bytes.iter().all(|byte| *byte == 0))? {
                return Ok(false);
            }
            begin = until;
        }
        Ok(true)
    }
}
