//! Walks a folder in order: a folder precedes its contents, and names are in the order of their bytes.
//!
//! Each name is opened relative to its folder, and no symbolic link is followed. Therefore a program that changes the
//! tree during the walk cannot lead the walk out of the tree.

use std::fs::File;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::error::{Action, Error, Refusal};
use crate::names::alikes;
use crate::note::LONGEST as LONGEST_LIST;
use crate::path::{DEEPEST, LONGEST};
use crate::shown::beginning;
use crate::shown::shown;

/// A file, folder or symbolic link, without its path.
pub(crate) enum Node {
    Folder,
    File(File),
    SymbolicLink(Vec<u8>),
}

/// The reason why an entry is not packed.
#[derive(Debug)]
pub(crate) enum Missed {
    /// The entry was removed after its folder was read.
    Gone,
    /// The entry is a device, a FIFO or a socket.
    Special,
    /// The entry cannot be read.
    Unreadable(Error),
}

/// An entry to pack, or the reason why it is not packed.
pub(crate) type Step = Result<(Node, Stat), Missed>;

pub(crate) struct Walk {
    levels: Vec<Level>,
    /// The path of the current entry, relative to the root.
    path: Vec<u8>,
    /// The paths that the next call of [`Walk::alike`] returns.
    alike: Vec<Vec<u8>>,
}

/// A folder that was entered.
struct Level {
    folder: OwnedFd,
    names: FolderNames,
    /// The number of names that were visited.
    next: usize,
    /// The length of the folder's path.
    path: usize,
}

impl Walk {
    /// Begins with the contents of `root`.
    pub(crate) fn new(root: OwnedFd) -> Result<Self, Error> {
        let mut walk = Self { levels: Vec::new(), path: Vec::new(), alike: Vec::new() };
        walk.enter(root)?;
        Ok(walk)
    }

    /// Returns the path of the current entry, which [`Walk::next`] returned last.
    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    /// Returns the handle of the current entry, if that is a folder, or else of the folder that contains the entry.
    pub(crate) fn folder(&self) -> Option<&OwnedFd> {
        self.levels.last().map(|level| &level.folder)
    }

    /// Takes the paths whose names clash with an earlier name, in the folders that were entered since the last call.
    pub(crate) fn alike(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.alike)
    }

    fn enter(&mut self, folder: OwnedFd) -> Result<(), Error> {
        let names = FolderNames::read(&folder).map_err(|error| self.failed(Action::Read, error))?;
        let path =
            |name: &[u8]| if self.path.is_empty() { name.to_vec() } else { [&self.path, &b"/"[..], name].concat() };
        self.alike
            .extend(alikes((0..names.len()).map(|index| names.get(index).0)).into_iter().take(LONGEST_LIST).map(path));
        self.levels.push(Level { folder, names, next: 0, path: self.path.len() });
        Ok(())
    }

    fn failed(&self, action: Action, error: Errno) -> Error {
        let path = if self.path.is_empty() { "the folder".into() } else { shown(&self.path) };
        Error::Entry { action, path, error: error.into() }
    }

    /// Returns the next entry, or the reason why it is not packed, or `None` at the end.
    pub(crate) fn next(&mut self) -> Result<Option<Step>, Error> {
        let level = loop {
            let Some(level) = self.levels.last_mut() else { return Ok(None) };
            self.path.truncate(level.path);
            if level.next < level.names.len() {
                break level;
            }
            self.levels.pop();
        };
        let (name, kind) = level.names.get(level.next);
        level.next += 1;
        if !self.path.is_empty() {
            self.path.push(b'/');
        }
        self.path.extend_from_slice(name);
        let found = found(&level.folder, name, kind);
        let depth = self.levels.len();
        if depth > DEEPEST {
            return Err(Refusal::Deep { path: beginning(&self.path) }.into());
        }
        if self.path.len() > LONGEST {
            return Err(Refusal::Long { path: beginning(&self.path) }.into());
        }
        match found {
            Ok(Found::Folder(folder, stat)) => match self.enter(folder) {
                Ok(()) => Ok(Some(Ok((Node::Folder, stat)))),
                Err(error @ Error::Entry { .. }) => Ok(Some(Err(Missed::Unreadable(error)))),
                Err(error) => Err(error),
            },
            Ok(Found::File(file, stat)) => Ok(Some(Ok((Node::File(file), stat)))),
            Ok(Found::SymbolicLink(target, stat)) => Ok(Some(Ok((Node::SymbolicLink(target), stat)))),
            Ok(Found::Special) => Ok(Some(Err(Missed::Special))),
            Err(Errno::NOENT) => Ok(Some(Err(Missed::Gone))),
            Err(error @ (Errno::MFILE | Errno::NFILE)) => Err(self.failed(Action::Open, error)),
            Err(error) => Ok(Some(Err(Missed::Unreadable(self.failed(Action::Read, error))))),
        }
    }
}

enum Found {
    Folder(OwnedFd, Stat),
    File(File, Stat),
    SymbolicLink(Vec<u8>, Stat),
    Special,
}

/// Opens a name. If its kind changed after the folder was read, opens it as the new kind.
fn found(folder: &OwnedFd, name: &[u8], kind: FileType) -> Result<Found, Errno> {
    match opened(folder, name, kind) {
        // These errors mean that the kind of the name changed.
        Err(Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::INVAL | Errno::NXIO) => {
            opened(folder, name, FileType::Unknown)
        }
        result => result,
    }
}

/// Opens a name as `kind`, the kind that its folder recorded.
fn opened(folder: &OwnedFd, name: &[u8], kind: FileType) -> Result<Found, Errno> {
    let kind = match kind {
        FileType::RegularFile | FileType::Directory => kind,
        _ => FileType::from_raw_mode(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mode),
    };
    match kind {
        FileType::Directory => {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = openat(folder, name, flags, Mode::empty())?;
            let stat = fstat(&opened)?;
            Ok(Found::Folder(opened, stat))
        }
        FileType::RegularFile => {
            // NONBLOCK: opening must not block if a FIFO replaced the file.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
            let opened = openat(folder, name, flags, Mode::empty())?;
            let stat = fstat(&opened)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::RegularFile => Ok(Found::File(opened.into(), stat)),
                FileType::Directory => Err(Errno::ISDIR),
                _ => Ok(Found::Special),
            }
        }
        FileType::Symlink => {
            let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(Found::SymbolicLink(readlinkat(folder, name, Vec::new())?.into_bytes(), stat))
        }
        _ => Ok(Found::Special),
    }
}

/// The names in a folder, in order. One buffer holds all names, because there may be a million.
struct FolderNames {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

/// A name's offset in the buffer, its length, and the kind of the file.
struct Span {
    begin: u32,
    length: u16,
    kind: u16,
}

impl FolderNames {
    fn read(folder: &OwnedFd) -> Result<Self, Errno> {
        let (mut bytes, mut spans) = (Vec::new(), Vec::new());
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            // No file system has four gigabytes of names in one folder.
            let begin = u32::try_from(bytes.len()).map_err(|_| Errno::OVERFLOW)?;
            let length = u16::try_from(name.len()).map_err(|_| Errno::NAMETOOLONG)?;
            bytes.extend_from_slice(name);
            spans.push(Span { begin, length, kind: entry.file_type().as_raw_mode() as u16 });
        }
        let name = |span: &Span| &bytes[span.begin as usize..][..span.length as usize];
        spans.sort_unstable_by(|one, other| name(one).cmp(name(other)));
        Ok(Self { bytes, spans })
    }

    fn len(&self) -> usize {
        self.spans.len()
    }

    fn get(&self, index: usize) -> (&[u8], FileType) {
        let span = &self.spans[index];
        let kind = FileType::from_raw_mode(span.kind.into());
        (&self.bytes[span.begin as usize..][..span.length as usize], kind)
    }
}
