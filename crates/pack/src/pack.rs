//! Packing: a folder becomes a stream.

mod job;
mod links;
mod source;

pub use job::Job;

use crate::error::words;
use crate::index::write::Slot;
use crate::note::{Notes, What};
use crate::tar::write::{About, comment, headers, pad};
use crate::tar::{LONGEST_PAX, MARKER};
use crate::walk::{Missed, Node, Walk};
use crate::{BLOCK, Entry, Error, Kind, Time};
use job::{Piece, Shared};
use links::Links;
use rustix::fs::{Mode, OFlags, Stat, fstat, open};
use source::{Extents, Source, Xattr, xattrs_of};
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Arc;

/// Files whose reading may be left to others, for each stretch: they stay open so long.
const LEFT_OPEN: usize = 200;

/// Extended attributes of an entry, with room left in its pax header for paths.
const MOST_XATTRS: usize = LONGEST_PAX as usize - (256 << 10);

/// How a folder is packed.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Record the numbers of owners and groups.
    pub owner: bool,
    /// Record extended attributes.
    pub xattrs: bool,
    /// Record no times (all are 1970), no owners and no holes, so that the same contents give the same bytes.
    pub deterministic: bool,
    /// Leave out what cannot be read, instead of failing; put zeros where a file cannot be read further.
    pub keep_going: bool,
    /// A file that is left out, by device and number: the one that is being written, where it lies in the folder itself.
    pub except: Option<(u64, u64)>,
}

/// A folder that becomes a stream, a stretch at a time.
///
/// [`Packer::take`] says what a stretch holds and opens the files, in order; reading and hashing them is left to [`Job::complete`], on any thread.
pub struct Packer {
    walk: Walk,
    /// The root's name and a `/`.
    root: Vec<u8>,
    root_stat: Option<Stat>,
    options: Options,
    shared: Arc<Shared>,
    /// How much of the pack was given.
    position: u64,
    /// What comes next, and how much of it was given.
    ready: Vec<u8>,
    given: usize,
    /// The file whose content comes after that.
    content: Option<Content>,
    links: Links,
    ending: Ending,
    entries: u64,
    size: u64,
}

/// A file that is being given.
struct Content {
    source: Arc<Source>,
    extents: Extents,
    /// How much of the stored content was given.
    given: u64,
}

/// What is left when all entries are given.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Entries,
    Parts,
    Nothing,
}

impl std::fmt::Debug for Packer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Packer").field("position", &self.position).finish_non_exhaustive()
    }
}

impl Packer {
    /// Begins to pack `folder`, whose name in the pack is `name`.
    ///
    /// # Errors
    /// If it cannot be read, or the name is none.
    pub fn new(folder: &Path, name: &[u8], options: Options) -> Result<Self, Error> {
        if matches!(name, b"" | b"." | b"..") || name.iter().any(|byte| matches!(byte, b'/' | 0)) || name.len() > 255 {
            return Err(Error::Refused { what: "the folder needs a name".into(), hint: "give the path by which it has one" });
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let failed = |error: rustix::io::Errno| Error::Entry { verb: "read", path: folder.display().to_string(), error: error.into() };
        let root = open(folder, flags, Mode::empty()).map_err(failed)?;
        let stat = fstat(&root).map_err(failed)?;
        let mut ready = Vec::new();
        comment(&mut ready, &[MARKER]);
        Ok(Self {
            walk: Walk::new(root)?,
            root: [name, b"/"].concat(),
            root_stat: Some(stat),
            shared: Arc::new(Shared::new(options.keep_going)),
            options,
            position: 0,
            ready,
            given: 0,
            content: None,
            links: Links::default(),
            ending: Ending::Entries,
            entries: 0,
            size: 0,
        })
    }

    /// What there is to say, when all jobs are complete.
    #[must_use]
    pub fn notes(&self) -> Notes {
        self.shared.notes.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Entries so far.
    #[must_use]
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Bytes in files so far.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether everything was taken.
    #[must_use]
    pub fn ended(&self) -> bool {
        self.ending == Ending::Nothing && self.given == self.ready.len()
    }

    /// The next stretch: fills `buffer`, but for what the job is going to. Shorter than the buffer only at the end.
    ///
    /// # Errors
    /// If something cannot be read.
    pub fn take(&mut self, buffer: &mut [u8]) -> Result<(usize, Job), Error> {
        let mut job = Job::new(&self.shared);
        let mut filled = 0;
        while filled < buffer.len() {
            let room = buffer.len() - filled;
            if self.given < self.ready.len() {
                let length = room.min(self.ready.len() - self.given);
                buffer[filled..filled + length].copy_from_slice(&self.ready[self.given..self.given + length]);
                self.given += length;
                filled += length;
                self.position += length as u64;
                continue;
            }
            self.ready.clear();
            self.given = 0;
            if let Some(content) = &mut self.content {
                if let Some(piece) = content.piece(filled, room) {
                    filled += piece.range.len();
                    self.position += piece.range.len() as u64;
                    if job.pieces() < LEFT_OPEN {
                        job.add(piece);
                    } else {
                        job.at_once(piece, buffer)?;
                    }
                    continue;
                }
                pad(&mut self.ready, content.source.stored);
                self.content = None;
                continue;
            }
            if self.ending == Ending::Parts {
                // The index needs the hashes of this stretch too.
                job.now(&mut buffer[..filled])?;
            }
            if !self.next()? {
                break;
            }
        }
        Ok((filled, job))
    }

    /// Gets ready what comes next.
    fn next(&mut self) -> Result<bool, Error> {
        match self.ending {
            Ending::Entries => {
                let mut index = self.shared.index();
                if index.is_too_long() {
                    return Err(Error::Refused {
                        what: "there are too many files, or their paths are too long".into(),
                        hint: "pack its folders one by one",
                    });
                }
                if let Some(block) = index.block(self.position) {
                    self.ready = block;
                    return Ok(true);
                }
                drop(index);
                if let Some(stat) = self.root_stat.take() {
                    self.folder(Vec::new(), &stat)?;
                } else if !self.node()? {
                    self.ready.resize(2 * BLOCK as usize, 0);
                    self.ending = Ending::Parts;
                }
                Ok(true)
            }
            Ending::Parts => {
                // The files of other stretches are still being hashed.
                let mut index = self.shared.settled()?;
                match index.part(self.position) {
                    Some(part) => self.ready = part,
                    None => {
                        self.ready = index.end(self.position);
                        self.ending = Ending::Nothing;
                    }
                }
                Ok(true)
            }
            Ending::Nothing => Ok(false),
        }
    }

    /// The next of the tree, if there is one.
    fn node(&mut self) -> Result<bool, Error> {
        let next = self.walk.next()?;
        self.walk.alike().iter().for_each(|path| self.shared.note(path, What::Alike));
        let (node, stat) = match next {
            None => return Ok(false),
            Some(Ok(found)) => found,
            Some(Err(missed)) => {
                let what = match missed {
                    Missed::Gone => What::Gone,
                    Missed::Special => What::Special,
                    Missed::Unreadable(error) if self.options.keep_going => What::Unreadable(error.cause()),
                    Missed::Unreadable(error) => return Err(error),
                };
                self.shared.note(self.walk.path(), what);
                return Ok(true);
            }
        };
        let path = self.walk.path().to_vec();
        match node {
            Node::Folder => self.folder(path, &stat)?,
            Node::SymbolicLink(target) => self.plain(path, Kind::SymbolicLink, &stat, target),
            Node::File(_) if self.options.except == Some(identity(&stat)) => {}
            Node::File(file) => match self.other_name(&path, &stat) {
                Some(target) => self.plain(path, Kind::HardLink, &stat, target),
                None => self.file(path, file, &stat)?,
            },
        }
        Ok(true)
    }

    /// If the file was packed under another name, that name.
    fn other_name(&mut self, path: &[u8], stat: &Stat) -> Option<Vec<u8>> {
        if stat.st_nlink < 2 {
            return None;
        }
        let (device, inode) = identity(stat);
        self.links.first(device, inode, path)
    }

    fn folder(&mut self, path: Vec<u8>, stat: &Stat) -> Result<(), Error> {
        let xattrs = self.walk.folder().map(|folder| self.xattrs(&path, folder)).transpose()?.unwrap_or_default();
        self.add(self.entry(path, Kind::Folder, stat), stat, &xattrs);
        Ok(())
    }

    /// Extended attributes, where they are asked for. Those that do not fit the headers are left out, and it is said.
    fn xattrs(&self, path: &[u8], handle: impl AsFd) -> Result<Vec<Xattr>, Error> {
        if !self.options.xattrs {
            return Ok(Vec::new());
        }
        let why = match xattrs_of(handle) {
            Ok(found) if found.iter().map(|(name, value)| 3 * name.len() + value.len() + 32).sum::<usize>() <= MOST_XATTRS => {
                return Ok(found);
            }
            Ok(_) => "they are too large for an archive".to_owned(),
            Err(error) if self.options.keep_going => words(&error),
            Err(error) => return Err(Error::Entry { verb: "read the extended attributes of", path: crate::shown(path), error }),
        };
        self.shared.note(path, What::Bare(why));
        Ok(Vec::new())
    }

    /// A link.
    fn plain(&mut self, path: Vec<u8>, kind: Kind, stat: &Stat, target: Vec<u8>) {
        let entry = Entry { target: Some(target), ..self.entry(path, kind, stat) };
        self.add(entry, stat, &[]);
    }

    fn file(&mut self, path: Vec<u8>, file: std::fs::File, stat: &Stat) -> Result<(), Error> {
        let size = stat.st_size as u64;
        // File systems differ in where they leave holes in the same contents.
        let extents = if self.options.deterministic { Extents::whole(size) } else { Extents::of(&file, stat) };
        let xattrs = self.xattrs(&path, &file)?;
        let map = extents.map(size);
        let stored = map.len() as u64 + extents.length();
        let kind = if map.is_empty() { Kind::File } else { Kind::Sparse };
        let entry = Entry { size, stored, ..self.entry(path, kind, stat) };
        self.size += size;
        let path = entry.path.clone();
        let Some(slot) = self.add(entry, stat, &xattrs) else { return Ok(()) };
        let source = Arc::new(Source::new(path, file, stat, stored, slot));
        if stored == 0 {
            self.shared.index().set(slot, blake3::hash(&[]).as_bytes());
            return Ok(());
        }
        if let Some(hash) = source.see(0, &map, map.len() as u64 == stored) {
            self.shared.index().set(slot, &hash);
        }
        self.ready.extend_from_slice(&map);
        self.content = Some(Content { source, extents, given: map.len() as u64 });
        Ok(())
    }

    /// What is known of an entry before its headers are written.
    fn entry(&self, path: Vec<u8>, kind: Kind, stat: &Stat) -> Entry {
        let modified = if self.options.deterministic { Time::default() } else { time_of(stat) };
        let mode = mode_of(stat);
        Entry { path, kind, mode, modified, size: 0, begin: self.position, content: 0, stored: 0, hash: None, target: None }
    }

    /// Gets its headers ready, and adds it to the index.
    fn add(&mut self, mut entry: Entry, stat: &Stat, xattrs: &[(Vec<u8>, Vec<u8>)]) -> Option<Slot> {
        let mut path = [self.root.as_slice(), &entry.path].concat();
        let (kind, target) = match entry.kind {
            Kind::File | Kind::Sparse => (b'0', Vec::new()),
            Kind::Folder => (b'5', Vec::new()),
            Kind::SymbolicLink => (b'2', entry.target.clone().unwrap_or_default()),
            Kind::HardLink => (b'1', [self.root.as_slice(), entry.target.as_deref().unwrap_or_default()].concat()),
        };
        if entry.kind == Kind::Folder && !entry.path.is_empty() {
            path.push(b'/');
        }
        let owner = if self.options.owner && !self.options.deterministic { (stat.st_uid, stat.st_gid) } else { (0, 0) };
        headers(
            &mut self.ready,
            &About {
                path: &path,
                kind,
                mode: entry.mode,
                owner,
                stored: entry.stored,
                modified: entry.modified,
                target: &target,
                real_size: (entry.kind == Kind::Sparse).then_some(entry.size),
                xattrs,
            },
        );
        entry.content = entry.begin + self.ready.len() as u64;
        self.entries += 1;
        self.shared.index().add(&entry)
    }
}

impl Content {
    /// The next piece, as far as there is room in the buffer from `filled` on.
    fn piece(&mut self, filled: usize, room: usize) -> Option<Piece> {
        let (offset, length) = self.extents.take(room as u64)?;
        let piece = Piece { source: Arc::clone(&self.source), range: filled..filled + length as usize, offset, stored: self.given };
        self.given += length;
        Some(piece)
    }
}

#[allow(clippy::unnecessary_cast)] // It is narrower on other systems.
fn mode_of(stat: &Stat) -> u32 {
    stat.st_mode as u32 & 0o7777
}

/// A file's device, and its number there.
#[allow(clippy::unnecessary_cast)] // It has a sign on other systems.
fn identity(stat: &Stat) -> (u64, u64) {
    (stat.st_dev as u64, stat.st_ino)
}

fn time_of(stat: &Stat) -> Time {
    Time { seconds: stat.st_mtime, nanoseconds: stat.st_mtime_nsec as u32 }
}
