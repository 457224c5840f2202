//! A folder, walked in order: each folder before what is in it, names in the order of their bytes.
//!
//! Everything is opened relative to its folder, and no symbolic link is followed: whoever changes the tree meanwhile leads us nowhere else.

use crate::names::alikes;
use crate::note::LONGEST as LONGEST_LIST;
use crate::path::{DEEPEST, LONGEST};
use crate::{Error, shown};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::OwnedFd;

/// What was found, but for its path.
pub(crate) enum Node {
    Folder,
    File(File),
    SymbolicLink(Vec<u8>),
}

/// What is not packed, and goes on without.
#[derive(Debug)]
pub(crate) enum Missed {
    /// It was there when its folder was read.
    Gone,
    /// A device, a FIFO, a socket.
    Special,
    /// It cannot be read.
    Unreadable(Error),
}

/// What is packed, or what is missed in its place.
pub(crate) type Step = Result<(Node, Stat), Missed>;

pub(crate) struct Walk {
    levels: Vec<Level>,
    /// Of what was found last, below the root.
    path: Vec<u8>,
    /// Paths whose names are like earlier ones in the folder that was entered last.
    alike: Vec<Vec<u8>>,
}

/// A folder whose names are being gone through.
struct Level {
    folder: OwnedFd,
    names: Names,
    next: usize,
    /// Bytes of its path.
    path: usize,
}

impl Walk {
    /// Begins with what is in `root`.
    pub(crate) fn new(root: OwnedFd) -> Result<Self, Error> {
        let mut walk = Self { levels: Vec::new(), path: Vec::new(), alike: Vec::new() };
        walk.enter(root)?;
        Ok(walk)
    }

    /// The path of what was found last.
    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    /// The folder that was found last, if it was one.
    pub(crate) fn folder(&self) -> Option<&OwnedFd> {
        self.levels.last().map(|level| &level.folder)
    }

    /// What is alike in folders that were entered since this was asked.
    pub(crate) fn alike(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.alike)
    }

    fn enter(&mut self, folder: OwnedFd) -> Result<(), Error> {
        let names = Names::read(&folder).map_err(|error| self.failed("read", error))?;
        let path = |name: &[u8]| if self.path.is_empty() { name.to_vec() } else { [&self.path, &b"/"[..], name].concat() };
        self.alike.extend(alikes((0..names.len()).map(|index| names.get(index).0)).into_iter().take(LONGEST_LIST).map(path));
        self.levels.push(Level { folder, names, next: 0, path: self.path.len() });
        Ok(())
    }

    fn failed(&self, verb: &'static str, error: Errno) -> Error {
        let path = if self.path.is_empty() { "the folder".into() } else { shown(&self.path) };
        Error::Entry { verb, path, error: error.into() }
    }

    fn refused(&self, why: &str) -> Error {
        // Its beginning tells as much as all of it, which would fill the screen.
        let path = shown(&self.path[..self.path.len().min(200)]);
        Error::Refused {
            what: format!("{path}{} {why}", if self.path.len() > 200 { "…" } else { "" }), hint: "leave it out, or rename it"
        }
    }

    /// The next node, or what is missed in its place; nothing at the end. The contents of a folder come next.
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
            return Err(self.refused("is too deep: 1024 folders in one another are the limit"));
        }
        if self.path.len() > LONGEST {
            return Err(self.refused("is too long a path: 65 535 bytes are the limit"));
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
            Err(error @ (Errno::MFILE | Errno::NFILE)) => Err(self.failed("open", error)),
            Err(error) => Ok(Some(Err(Missed::Unreadable(self.failed("read", error))))),
        }
    }
}

enum Found {
    Folder(OwnedFd, Stat),
    File(File, Stat),
    SymbolicLink(Vec<u8>, Stat),
    Special,
}

/// Opens what a name stands for. What it is may have changed since its folder was read, and counts as it is now.
fn found(folder: &OwnedFd, name: &[u8], kind: FileType) -> Result<Found, Errno> {
    match opened(folder, name, kind) {
        // What else systems say of something of another kind.
        Err(Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::INVAL | Errno::NXIO) => opened(folder, name, FileType::Unknown),
        result => result,
    }
}

/// Opens what a name stands for, if it is what its folder said.
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
            // A FIFO that took the file's place must not keep us waiting.
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

/// The names in a folder, in order. A folder may hold a million of them.
struct Names {
    bytes: Vec<u8>,
    places: Vec<Place>,
}

/// Where a name begins, how long it is, what it stands for.
struct Place {
    begin: u32,
    length: u16,
    kind: u16,
}

impl Names {
    fn read(folder: &OwnedFd) -> Result<Self, Errno> {
        let (mut bytes, mut places) = (Vec::new(), Vec::new());
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            // Four gigabytes of names in one folder: no file system has that.
            let begin = u32::try_from(bytes.len()).map_err(|_| Errno::OVERFLOW)?;
            let length = u16::try_from(name.len()).map_err(|_| Errno::NAMETOOLONG)?;
            bytes.extend_from_slice(name);
            places.push(Place { begin, length, kind: entry.file_type().as_raw_mode() as u16 });
        }
        let name = |place: &Place| &bytes[place.begin as usize..][..place.length as usize];
        places.sort_unstable_by(|one, other| name(one).cmp(name(other)));
        Ok(Self { bytes, places })
    }

    fn len(&self) -> usize {
        self.places.len()
    }

    fn get(&self, index: usize) -> (&[u8], FileType) {
        let place = &self.places[index];
        let kind = FileType::from_raw_mode(place.kind.into());
        (&self.bytes[place.begin as usize..][..place.length as usize], kind)
    }
}
