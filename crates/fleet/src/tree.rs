//! Folders on this machine, and files in these folders. Each folder is opened once.

use std::fmt;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::source::shown;
use deadpan_disk::{About, Exchanged, FileKind, Folder, Handle, Spot, Way, nearest};

/// A folder for many files. The folder is opened once, and everything in it is found through its handle, even if its
/// path changes in the meantime.
#[derive(Clone, Debug)]
pub struct Tree {
    path: PathBuf,
    folder: Arc<OnceLock<Folder>>,
    /// Whether a folder that another user may have planted is refused.
    own: bool,
    /// If the folder does not exist: the nearest existing folder above it, and the path from there.
    above: Arc<OnceLock<(Folder, PathBuf)>>,
    /// Set when another program has replaced a folder that this program made for results. After another program has
    /// replaced such a folder, this program makes no more folders.
    exchanged: Arc<OnceLock<()>>,
}

impl Tree {
    /// Returns a tree for the folder at a path. The folder need not exist yet.
    #[must_use]
    pub fn new(path: PathBuf) -> Self {
        Self { path, folder: Arc::default(), own: false, above: Arc::default(), exchanged: Arc::default() }
    }

    /// Returns a tree for results in the folder at a path. The folder need not exist yet. A folder that another user
    /// may have planted is refused.
    #[must_use]
    pub fn for_results(path: PathBuf) -> Self {
        Self { own: true, ..Self::new(path) }
    }

    /// Returns a tree for an open folder.
    #[must_use]
    pub fn from_folder(folder: Folder) -> Self {
        Self {
            path: folder.path(),
            folder: Arc::new(folder.into()),
            own: false,
            above: Arc::default(),
            exchanged: Arc::default(),
        }
    }

    /// Returns the path, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the folder.
    ///
    /// # Errors
    /// If the folder cannot be opened.
    pub fn open(&self) -> io::Result<&Folder> {
        self.once(|path| match self.above.get() {
            Some((above, rest)) => own(Way::from(above.clone()).descend(rest)?),
            None => self.find(path),
        })
    }

    /// Opens the folder, or the nearest existing folder above it. After this call, changes of the path have no effect.
    ///
    /// # Errors
    /// If the folder cannot be opened, or if another user may have planted it.
    pub fn hold(&self) -> io::Result<()> {
        if self.open().is_ok() || self.above.get().is_some() {
            return Ok(());
        }
        let found = nearest(&deadpan_disk::trimmed(&self.path), |path| self.find(path))?;
        let _ = self.above.set(found);
        Ok(())
    }

    /// If [`hold`](Self::hold) has found only a folder above this folder, returns the path from there.
    #[must_use]
    pub fn missing(&self) -> Option<&Path> {
        self.above.get().filter(|_| self.folder.get().is_none()).map(|(_, rest)| rest.as_path())
    }

    /// Opens the folder, and makes it if it is missing.
    ///
    /// # Errors
    /// If the folder can neither be opened nor made.
    pub fn open_or_make(&self) -> io::Result<&Folder> {
        if let Some(folder) = self.folder.get() {
            return Ok(folder);
        }
        self.hold()?;
        self.once(|path| match self.above.get() {
            Some((above, rest)) => own(self.make(above, rest)?),
            None => self.find(path),
        })
    }

    /// Makes missing folders, unless another program has replaced such a folder before.
    fn make(&self, above: &Folder, rest: &Path) -> io::Result<Way> {
        if self.exchanged.get().is_some() {
            return Err(Exchanged.into());
        }
        Way::from(above.clone()).descend_or_make(rest, 0o777, None).inspect_err(|error| {
            if error.get_ref().is_some_and(|inner| inner.is::<Exchanged>()) {
                let _ = self.exchanged.set(());
            }
        })
    }

    fn find(&self, path: &Path) -> io::Result<Folder> {
        if !self.own {
            return Folder::open(path);
        }
        own(Way::to(path)?)
    }

    fn once(&self, open: impl Fn(&Path) -> io::Result<Folder>) -> io::Result<&Folder> {
        match self.folder.get() {
            Some(folder) => Ok(folder),
            None => {
                let opened = open(&self.path)?;
                Ok(self.folder.get_or_init(|| opened))
            }
        }
    }
}

/// Returns the last folder of a path. Fails if another user may have planted a folder or link on the path.
fn own(way: Way) -> io::Result<Folder> {
    way.unplanted().map_err(|error| io::Error::new(io::ErrorKind::PermissionDenied, error))
}

/// A file below a folder. The name contains slashes.
#[derive(Clone, Debug)]
pub struct TreeFile {
    /// The folder.
    pub tree: Tree,
    /// The path below the folder.
    pub name: PathBuf,
}

impl TreeFile {
    /// Returns the whole path, for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.tree.path.join(&self.name)
    }

    /// Finds the file: opens one folder after the other, and follows no link.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if a part of the path is a link or a file; otherwise the system's error.
    pub fn spot(&self) -> io::Result<Spot> {
        self.within(self.tree.open()?.descend(self.folder())?)
    }

    /// Works like [`spot`](Self::spot), but makes missing folders. Refuses a folder that another user may have planted.
    ///
    /// # Errors
    /// The errors of [`spot`](Self::spot).
    pub fn spot_to_make(&self) -> io::Result<Spot> {
        let folder = self.tree.make(self.tree.open_or_make()?, self.folder())?;
        self.within(own(folder)?)
    }

    /// Makes an empty folder with these permissions, and the missing folders above it. Returns false if the folder is
    /// there already.
    ///
    /// # Errors
    /// The errors of [`spot_to_make`](Self::spot_to_make), and [`io::ErrorKind::AlreadyExists`] if a file has the name.
    pub fn make_folder(&self, mode: u32) -> io::Result<bool> {
        let Spot { folder, name } = self.spot_to_make()?;
        match folder.make_and_enter(&name, 0o700) {
            Ok(made) => made.set_mode(mode).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match folder.look(&name)? {
                Some(about) if about.is_folder() => Ok(false),
                _ => Err(error),
            },
            Err(error) => Err(error),
        }
    }

    /// Returns the attributes of the file or folder with this name, or `None` if the name does not exist.
    ///
    /// # Errors
    /// The errors of [`spot`](Self::spot).
    pub fn look(&self) -> io::Result<Option<About>> {
        match self.spot() {
            Ok(spot) => spot.folder.look(&spot.name),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the attributes of the file or folder with this name. If a link or a special file is on the way, returns
    /// its attributes. Returns `None` if the name does not exist, or if a file is on the way.
    ///
    /// # Errors
    /// The system's errors.
    pub fn reach(&self) -> io::Result<Option<About>> {
        let mut folder = self.tree.open()?.clone();
        let mut parts = self.name.components().peekable();
        while let Some(part) = parts.next() {
            let Component::Normal(part) = part else { return Ok(None) };
            let about = match folder.look(part)? {
                None => return Ok(None),
                Some(about) if parts.peek().is_none() => return Ok(Some(about)),
                Some(about) => about,
            };
            match about.kind {
                FileKind::Folder => folder = folder.enter(part)?,
                FileKind::File => return Ok(None),
                _ => return Ok(Some(about)),
            }
        }
        Ok(None)
    }

    fn folder(&self) -> &Path {
        self.name.parent().unwrap_or(Path::new(""))
    }

    fn within(&self, folder: Folder) -> io::Result<Spot> {
        let name = self.name.file_name().ok_or(io::ErrorKind::InvalidFilename)?.to_owned();
        Ok(Spot { folder, name })
    }
}

impl fmt::Display for TreeFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.path()))
    }
}
