//! Walks folders in order: a folder precedes its contents, and names are in the order of their bytes.
//!
//! Each name is opened relative to its folder, and no symbolic link is followed. If another program changes the tree
//! during the walk, the walk still does not leave the tree.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::about::{About, FileKind};
use crate::folder::Folder;
use crate::input::Spot;
use crate::portable::OsStrExt;
use crate::system::{Entry, Errno};

/// A file, folder or symbolic link.
#[derive(Debug)]
pub enum Node {
    /// A folder. Contains an error if the walk could not enter the folder.
    Folder(Result<(), io::Error>),
    /// An open file.
    File(File),
    /// A symbolic link, with its target.
    Link(OsString),
    /// A device, a FIFO or a socket.
    Special,
}

/// One step of a walk.
#[derive(Debug)]
pub enum WalkStep {
    /// An entry.
    Node(Node, About),
    /// The name was removed after its folder was read.
    Gone,
    /// The entry cannot be opened.
    Unreadable(io::Error),
}

/// A file, link or folder with which a walk begins.
#[derive(Debug)]
pub enum Start {
    /// An open file, or an open folder with everything in it. The path is for messages.
    Open(File, About, PathBuf),
    /// A name in a folder, with what is listed below the name. No link is followed.
    Listed(Folder, OsString, Listing),
}

impl Start {
    /// Returns the properties of the file or folder.
    ///
    /// # Errors
    /// The system's errors, or [`io::ErrorKind::NotFound`] if nothing has the name.
    pub fn about(&self) -> io::Result<About> {
        match self {
            Self::Open(_, about, _) => Ok(*about),
            Self::Listed(folder, name, _) => folder.look(name)?.ok_or_else(|| Errno::NOENT.into()),
        }
    }
}

/// What a walk takes of a file or folder.
#[derive(Debug, Default)]
pub enum Listing {
    /// The file, or the folder with everything in it.
    #[default]
    Whole,
    /// The folder, and of its contents only these names.
    Parts(BTreeMap<OsString, Self>),
}

impl Listing {
    /// Adds a path below this file or folder. Nothing changes if the whole folder is listed already.
    pub fn add<'a>(&mut self, path: impl IntoIterator<Item = &'a OsStr>) {
        let mut listing = self;
        for name in path {
            let Self::Parts(parts) = listing else { return };
            listing = parts.entry(name.to_owned()).or_insert_with(|| Self::Parts(BTreeMap::new()));
        }
        *listing = Self::Whole;
    }
}

/// A walk through a folder and all folders in it, or through several files and folders.
#[derive(Debug)]
pub struct Walk {
    levels: Vec<WalkLevel>,
    path: Vec<u8>,
    /// The offset of the name in the path.
    name: usize,
}

/// A folder that was entered.
#[derive(Debug)]
struct WalkLevel {
    /// The folder; `None` for the first level of a walk through several files and folders.
    folder: Option<Folder>,
    names: Names,
    /// What is taken below each name, if the names come from a list.
    listed: Listed,
    /// The number of names that the walk has passed.
    next: usize,
    /// The length of the folder's path.
    path: usize,
}

/// The names of a level that come from a list, and not from the folder.
#[derive(Debug)]
enum Listed {
    Nothing,
    Starts(BTreeMap<OsString, Start>),
    Parts(BTreeMap<OsString, Listing>),
}

impl Walk {
    /// Begins with the contents of `root`.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn new(root: Folder) -> io::Result<Self> {
        let mut walk = Self { levels: Vec::new(), path: Vec::new(), name: 0 };
        walk.enter(root, Listing::Whole)?;
        Ok(walk)
    }

    /// Begins with files and folders at several places, as if they were in one folder under these names.
    ///
    /// # Errors
    /// If the names are too long together.
    pub fn gather(starts: BTreeMap<OsString, Start>) -> io::Result<Self> {
        let kind = |start: &Start| match start {
            Start::Open(_, about, _) => Some(about.kind),
            Start::Listed(..) => None,
        };
        let names = Names::listed(starts.iter().map(|(name, start)| (name.as_os_str(), kind(start))))?;
        let listed = Listed::Starts(starts);
        Ok(Self {
            levels: vec![WalkLevel { folder: None, names, listed, next: 0, path: 0 }],
            path: Vec::new(),
            name: 0,
        })
    }

    fn enter(&mut self, folder: Folder, listing: Listing) -> io::Result<()> {
        let (names, listed) = match listing {
            Listing::Whole => (Names::read(&folder)?, Listed::Nothing),
            Listing::Parts(parts) => {
                (Names::listed(parts.keys().map(|name| (name.as_os_str(), None)))?, Listed::Parts(parts))
            }
        };
        self.levels.push(WalkLevel { folder: Some(folder), names, listed, next: 0, path: self.path.len() });
        Ok(())
    }

    /// Returns the name of the current entry, which the last call of [`Walk::advance`] selected.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        OsStr::from_bytes(&self.path[self.name..])
    }

    /// Returns the path of the current entry, relative to the root.
    #[must_use]
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// If the current entry is a folder that the walk has entered, returns this folder. Otherwise returns the folder
    /// that contains the entry. The entries that a walk through several files and folders begins with are in no folder.
    #[must_use]
    pub fn folder(&self) -> Option<&Folder> {
        self.levels.last().and_then(|level| level.folder.as_ref())
    }

    /// Returns the kind of the current entry, as the system reported it when the folder was read. Call this before
    /// [`Walk::open`].
    #[must_use]
    pub fn kind(&self) -> Option<FileKind> {
        let level = self.levels.last()?;
        level.names.get(level.next.checked_sub(1)?).1
    }

    /// If the walk begins with the current entry, returns what it begins with. Call this before [`Walk::open`].
    #[must_use]
    pub fn start(&self) -> Option<&Start> {
        match &self.levels.last()?.listed {
            Listed::Starts(starts) => starts.get(self.name()),
            _ => None,
        }
    }

    /// Whether the names of the folder that was entered last come from a list, and not from the folder.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        self.levels.last().is_some_and(|level| !matches!(level.listed, Listed::Nothing))
    }

    /// Whether the folder that was entered last has this name.
    #[must_use]
    pub fn has(&self, name: &OsStr) -> bool {
        self.levels.last().is_some_and(|level| level.names.find(name))
    }

    /// Returns the folder and the name of the current entry. Call this before [`Walk::open`], which may enter the
    /// entry.
    #[must_use]
    pub fn spot(&self) -> Option<Spot> {
        Some(Spot { folder: self.folder()?.clone(), name: self.name().to_owned() })
    }

    /// Returns the number of folders that were entered and not left. In the root, the number is 1.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.levels.len()
    }

    /// Returns the names in the folder that was entered last, in order.
    pub fn names(&self) -> impl Iterator<Item = &OsStr> + Clone {
        let names = self.levels.last().map(|level| &level.names);
        names.into_iter().flat_map(|names| (0..names.len()).map(|index| names.get(index).0))
    }

    /// Skips the rest of the names in the folder that was entered last. Until the next step, the walk stays in the
    /// folder.
    pub fn skip(&mut self) {
        if let Some(level) = self.levels.last_mut() {
            level.next = level.names.len();
        }
    }

    /// Leaves the folder that was entered last, and skips the rest of its names.
    pub fn leave(&mut self) {
        self.levels.pop();
    }

    /// Goes to the next name. Returns false at the end. The entry is not opened yet, so that the caller can refuse the
    /// name first. [`Walk::open`] opens the entry.
    pub fn advance(&mut self) -> bool {
        while let Some(level) = self.levels.last_mut() {
            self.path.truncate(level.path);
            if level.next < level.names.len() {
                if !self.path.is_empty() {
                    self.path.push(b'/');
                }
                self.name = self.path.len();
                self.path.extend_from_slice(level.names.get(level.next).0.as_bytes());
                level.next += 1;
                return true;
            }
            self.levels.pop();
        }
        false
    }

    /// Opens the current name. If the entry is a folder, its contents come next.
    ///
    /// # Errors
    /// Returns an error only if the process has too many open files. All other failures are reported in the returned
    /// `WalkStep`.
    pub fn open(&mut self) -> io::Result<WalkStep> {
        let Some(level) = self.levels.last_mut() else { return Ok(WalkStep::Gone) };
        let (name, kind) = level.names.get(level.next.saturating_sub(1));
        let is_listed = !matches!(level.listed, Listed::Nothing);
        let (opened, listing) = match (&mut level.listed, &level.folder) {
            (Listed::Starts(starts), _) => match starts.remove(name) {
                Some(Start::Open(file, about, path)) => (opened_before(file, about, &path), Listing::Whole),
                Some(Start::Listed(folder, name, listing)) => (found(&folder, &name, None), listing),
                None => return Ok(WalkStep::Gone),
            },
            (Listed::Parts(parts), Some(folder)) => {
                (found(folder, name, kind), parts.remove(name).unwrap_or(Listing::Whole))
            }
            (_, Some(folder)) => (found(folder, name, kind), Listing::Whole),
            (_, None) => return Ok(WalkStep::Gone),
        };
        let unreadable = |error: io::Error| match Errno::from_io_error(&error) {
            Some(Errno::NOENT) if !is_listed => Ok(WalkStep::Gone),
            _ if is_of_the_process(&error) => Err(error),
            _ => Ok(WalkStep::Unreadable(error)),
        };
        match opened {
            Ok(Opened::Folder(folder, about)) => match self.enter(folder, listing) {
                Err(error) if is_of_the_process(&error) => Err(error),
                entered => Ok(WalkStep::Node(Node::Folder(entered), about)),
            },
            // Files in a file or behind a link are listed.
            Ok(Opened::Other(..)) if matches!(listing, Listing::Parts(_)) => unreadable(Errno::NOTDIR.into()),
            Ok(Opened::Other(node, about)) => Ok(WalkStep::Node(node, about)),
            Err(error) => unreadable(error),
        }
    }

    /// Returns the properties of the current name without opening a file. If the entry is a folder that can be read,
    /// its contents come next.
    ///
    /// # Errors
    /// The system's errors.
    pub fn look(&mut self) -> io::Result<About> {
        self.look_and_enter(Folder::enter)
    }

    /// Works like [`look`](Self::look), but does not enter a folder at which a file system is mounted, if the system
    /// can tell.
    ///
    /// # Errors
    /// [`io::ErrorKind::CrossesDevices`] if a file system is mounted at the folder; otherwise the system's errors.
    pub fn look_unmounted(&mut self) -> io::Result<About> {
        self.look_and_enter(Folder::enter_unmounted)
    }

    fn look_and_enter(&mut self, enter: impl Fn(&Folder, &OsStr) -> io::Result<Folder>) -> io::Result<About> {
        let gone = || io::Error::from(Errno::NOENT);
        let folder = self.folder().cloned().ok_or_else(gone)?;
        let about = folder.look(self.name())?.ok_or_else(gone)?;
        if about.is_folder() {
            self.enter(enter(&folder, self.name())?, Listing::Whole)?;
        }
        Ok(about)
    }
}

/// Whether the process has too many open files. This error is caused by the process, and not by the entry.
fn is_of_the_process(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::MFILE | Errno::NFILE))
}

enum Opened {
    Folder(Folder, About),
    Other(Node, About),
}

/// Returns a file or folder that the caller has opened.
fn opened_before(file: File, about: About, path: &Path) -> io::Result<Opened> {
    Ok(match about.kind {
        FileKind::Folder => Opened::Folder(Folder::from_file(file, path)?, about),
        FileKind::File => Opened::Other(Node::File(file), about),
        _ => Opened::Other(Node::Special, about),
    })
}

/// Opens a name. If the file has become another kind of file since the folder was read, opens it as the new kind.
fn found(folder: &Folder, name: &OsStr, kind: Option<FileKind>) -> io::Result<Opened> {
    match opened(folder, name, kind) {
        // If the system returns one of these errors, the file now has another kind.
        Err(error)
            if matches!(
                Errno::from_io_error(&error),
                Some(Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::INVAL | Errno::NXIO)
            ) =>
        {
            opened(folder, name, None)
        }
        result => result,
    }
}

/// Opens a name as `kind`, which was recorded when the folder was read.
fn opened(folder: &Folder, name: &OsStr, kind: Option<FileKind>) -> io::Result<Opened> {
    let look = || folder.look(name)?.ok_or_else(|| io::Error::from(Errno::NOENT));
    let kind = match kind {
        Some(kind @ (FileKind::File | FileKind::Folder)) => kind,
        _ => look()?.kind,
    };
    match kind {
        FileKind::Folder => {
            let folder = folder.enter(name)?;
            let about = folder.about()?;
            Ok(Opened::Folder(folder, about))
        }
        FileKind::File => {
            let (file, about) = folder.file(name)?;
            match about.kind {
                FileKind::File => Ok(Opened::Other(Node::File(file), about)),
                FileKind::Folder => Err(Errno::ISDIR.into()),
                _ => Ok(Opened::Other(Node::Special, about)),
            }
        }
        FileKind::Link => {
            let about = look()?;
            Ok(Opened::Other(Node::Link(folder.read_link(name)?), about))
        }
        _ => Ok(Opened::Other(Node::Special, look()?)),
    }
}

/// The names in a folder, in order. One buffer holds all names, because there may be a million names.
#[derive(Debug)]
struct Names {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

/// A name's offset in the buffer, its length, and the kind of the file.
#[derive(Debug)]
struct Span {
    begin: u32,
    length: u16,
    kind: Option<FileKind>,
}

impl Names {
    fn read(folder: &Folder) -> io::Result<Self> {
        let mut names = Self { bytes: Vec::new(), spans: Vec::new() };
        for entry in folder.read()? {
            let entry = entry?;
            if !entry.is_dots() {
                names.add(entry.name().as_bytes(), entry.kind())?;
            }
        }
        let Self { bytes, spans } = &mut names;
        let name = |span: &Span| &bytes[span.begin as usize..][..span.length as usize];
        // In a release, whose standard library is small, the stable sort is the one with fewer comparisons.
        spans.sort_by(|one, other| name(one).cmp(name(other)));
        Ok(names)
    }

    /// Takes names from a list, which is in order.
    fn listed<'a>(list: impl Iterator<Item = (&'a OsStr, Option<FileKind>)>) -> io::Result<Self> {
        let mut names = Self { bytes: Vec::new(), spans: Vec::new() };
        for (name, kind) in list {
            names.add(name.as_bytes(), kind)?;
        }
        Ok(names)
    }

    fn add(&mut self, name: &[u8], kind: Option<FileKind>) -> io::Result<()> {
        // An offset fits into 32 bits: no folder of any file system has names of four gigabytes in total.
        let begin = u32::try_from(self.bytes.len()).map_err(|_| Errno::OVERFLOW)?;
        let length = u16::try_from(name.len()).map_err(|_| Errno::NAMETOOLONG)?;
        self.bytes.extend_from_slice(name);
        self.spans.push(Span { begin, length, kind });
        Ok(())
    }

    fn find(&self, name: &OsStr) -> bool {
        let of = |span: &Span| &self.bytes[span.begin as usize..][..span.length as usize];
        self.spans.binary_search_by(|span| of(span).cmp(name.as_bytes())).is_ok()
    }

    fn len(&self) -> usize {
        self.spans.len()
    }

    fn get(&self, index: usize) -> (&OsStr, Option<FileKind>) {
        let span = &self.spans[index];
        (OsStr::from_bytes(&self.bytes[span.begin as usize..][..span.length as usize]), span.kind)
    }
}
