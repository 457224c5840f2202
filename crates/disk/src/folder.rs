//! An open folder, and operations on single names in this folder.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::about::About;
use crate::cleanup;
use crate::error::{Error, Exchanged};
use crate::handle::Handle;
use crate::names;
use crate::system::{Errno, FolderHandle, ends_with_separator, single};

/// If the last change of a folder is longer ago than these seconds, the folder is not new. The time allows for a slow
/// machine.
const RECENT: u64 = 10;

/// An open folder.
///
/// The functions look up names in the open folder, even if the path by which the folder was found later leads to
/// another folder. A name is a single component. Each function whose description does not mention links follows no
/// link.
#[derive(Clone, Debug)]
pub struct Folder {
    pub(crate) handle: Arc<FolderHandle>,
    pub(crate) trail: Arc<Trail>,
}

/// The path by which a folder was found, for messages.
#[derive(Debug)]
pub(crate) struct Trail {
    above: Option<Arc<Trail>>,
    path: PathBuf,
}

impl Folder {
    pub(crate) fn found(handle: FolderHandle, above: Option<&Arc<Trail>>, path: &Path) -> Self {
        Self { handle: Arc::new(handle), trail: Arc::new(Trail { above: above.cloned(), path: path.into() }) }
    }

    /// Opens the folder in which a file of this path lies. Returns the folder and the file's name in the folder.
    ///
    /// # Errors
    /// [`Error::NoName`] if the path does not end with a name, [`Error::NoFolder`] if the folder does not exist.
    pub fn holding(path: &Path) -> Result<(Self, OsString), Error> {
        let name = name_of(path).ok_or(Error::NoName)?;
        let folder = Self::open_for_names(parent(path)).map_err(Error::of_folder)?;
        Ok((folder, name.to_owned()))
    }

    /// Sets another path that messages show for the folder.
    #[must_use]
    pub fn named(self, path: &Path) -> Self {
        Self { trail: Arc::new(Trail { above: None, path: path.into() }), ..self }
    }

    /// Returns the path by which the folder was found. Use this path only for messages, because another folder may have
    /// the path by now.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let mut parts = vec![&self.trail.path];
        let mut trail = &self.trail;
        while let Some(above) = &trail.above {
            parts.push(&above.path);
            trail = above;
        }
        parts.into_iter().rev().collect()
    }

    /// Returns the path of a name in the folder, for messages.
    #[must_use]
    pub fn path_of(&self, name: &OsStr) -> PathBuf {
        let path = self.path();
        if path == Path::new(".") { name.into() } else { path.join(name) }
    }

    /// Opens the folder at a path relative to this folder, one component after the other.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if a component is a link or a file, [`io::ErrorKind::InvalidInput`] if a
    /// component is `..`; otherwise the system's error.
    pub fn descend(&self, path: &Path) -> io::Result<Self> {
        components(path).try_fold(self.clone(), |folder, name| folder.enter(name?))
    }

    /// Removes a name, if the name belongs to this file and the file's contents are still the same. If another file has
    /// got the name meanwhile, that file keeps the name.
    ///
    /// # Errors
    /// [`Error::Changed`] if another file has the name, or if the file was written to; otherwise the system's error.
    pub fn remove_only(&self, name: &OsStr, about: &About) -> Result<(), Error> {
        let state = |about: &About| (about.id, about.length, about.modified);
        let aside = names::name(name);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Error::Changed,
            _ => Error::create(error),
        };
        // While the file has its temporary name, the lock keeps `sweep` from removing it.
        let file = if about.is_file() { self.file(name).ok() } else { None };
        let _locked = file.inspect(|(file, _)| drop(file.lock_now()));
        cleanup::hold(|_| {
            self.rename_new(name, &aside).map_err(failed)?;
            match self.look(&aside) {
                Ok(Some(found)) if state(&found) == state(about) => self.remove(&aside).map_err(Error::create),
                _ => self.rename_new(&aside, name).map_err(Error::create).and(Err(Error::Changed)),
            }
        })
    }

    /// Makes a folder and opens it.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken, [`Exchanged`] if another program has meanwhile replaced
    /// the new folder or made a name in it; otherwise the system's error.
    pub fn make_and_enter(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        self.make(name, mode)?;
        let made = self.enter(name)?;
        if made.is_empty_own()? { Ok(made) } else { Err(Exchanged.into()) }
    }

    /// Makes and opens a folder as [`make_and_enter`](Self::make_and_enter) does, but other threads may use the folder
    /// as soon as it exists.
    pub(crate) fn make_and_share(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        self.make_shared(name, mode)?;
        let made = self.enter(name)?;
        let (about, around) = (made.about()?, self.about()?);
        // The new name has just changed this folder. So both times come from the clock of the file system, and the
        // clock of this machine may be wrong. No program can set the time of such a change to the past.
        let age = around.changed.0.abs_diff(about.modified.0);
        let is_new = about.is_trusted() && age < RECENT || made.is_empty_own()?;
        if is_new { Ok(made) } else { Err(Exchanged.into()) }
    }

    /// Whether this folder is empty, and belongs to this user or to root.
    pub(crate) fn is_empty_own(&self) -> io::Result<bool> {
        Ok(self.about()?.is_trusted() && self.entries()?.next().is_none())
    }

    /// Renames `from` to `to`, and never replaces a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if something has the name `to`; otherwise the system's error.
    pub fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.move_new(from, self, to)
    }

    /// Moves `from` to the name `to` in another folder, and never replaces a file.
    pub(crate) fn move_new(&self, from: &OsStr, other: &Self, to: &OsStr) -> io::Result<()> {
        self.moved_new(from, other, to).map_err(|error| match error {
            Errno::NOTEMPTY => io::ErrorKind::AlreadyExists.into(),
            error => error.into(),
        })
    }

    pub(crate) fn renamed_new(&self, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
        self.moved_new(from, self, to)
    }

    /// Removes an empty folder in this folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::DirectoryNotEmpty`] if the folder is not empty, [`io::ErrorKind::NotADirectory`] if the name
    /// belongs to a file or a link; otherwise the system's error.
    pub fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        Ok(self.remove_folder(single(name)?)?)
    }
}

/// Returns the components of a relative path.
fn components(path: &Path) -> impl Iterator<Item = io::Result<&OsStr>> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(Ok(name)),
        Component::CurDir => None,
        _ => Some(Err(io::ErrorKind::InvalidInput.into())),
    })
}

/// Returns the last component of a path, if that component is a name. A path that ends with `/` or `/.` belongs to a
/// folder, so the result is `None`.
pub(crate) fn name_of(path: &Path) -> Option<&OsStr> {
    path.file_name().filter(|_| !ends_with_separator(path.as_os_str()))
}

/// Returns the path without slashes at its end. If a path ends with a slash and its last name belongs to a link, the
/// system would follow the link.
#[must_use]
pub fn trimmed(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Finds a folder, or else the nearest existing folder above it. Returns the found folder, and the rest of the path,
/// from the found folder to the wanted folder.
///
/// # Errors
/// The errors of the function `find`. [`io::ErrorKind::NotFound`] is returned only if no folder above exists either.
pub fn nearest<T>(path: &Path, mut find: impl FnMut(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    for above in path.ancestors() {
        match find(if above.as_os_str().is_empty() { Path::new(".") } else { above }) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return Ok((found?, path.strip_prefix(above).unwrap_or(path).to_owned())),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// Returns the path of the folder in which a file of this path lies.
#[must_use]
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
