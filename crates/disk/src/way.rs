//! Follows the path to a folder, one component after the other, and finds links and folders that other users may have
//! planted there.
//!
//! A link that another user makes can lead to any folder that the caller can use. In a sticky folder that others can
//! write to, such as `/tmp`, another user can also make a folder with the name of an output. In other folders, another
//! user's folder is accepted, because it can be the shared folder of a project.

use std::ffi::OsStr;
use std::io;
use std::path::{Component, Path, PathBuf, is_separator};

use crate::about::About;
use crate::error::Error;
use crate::folder::{Folder, parent};
use crate::handle::Handle;
use crate::input::Spot;
use crate::portable::OsStrExt;
use crate::system::{self, Errno};

/// The maximum number of symbolic links that the system follows in one path.
const LINKS: usize = 40;

/// A link or folder that another user may have planted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planted {
    /// The path, for messages.
    pub path: PathBuf,
    /// The number of the user.
    pub owner: u32,
    /// Whether the suspicious entry is a symbolic link. If the entry is not a link, it is a folder that another user
    /// may have planted inside a folder to which all users may write.
    pub is_link: bool,
}

/// An open folder, and the suspicious links and folders on the path to it.
#[derive(Clone, Debug)]
pub struct Way {
    folder: Folder,
    /// The first link of another user.
    link: Option<Planted>,
    /// The first folder on the path that another user may have planted.
    planted: Option<Planted>,
    links: usize,
}

impl From<Folder> for Way {
    fn from(folder: Folder) -> Self {
        Self { folder, link: None, planted: None, links: 0 }
    }
}

impl Way {
    /// Opens the folder at `path`, and follows links on the way as the system does. The user need not have the right to
    /// list the names in this folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if the path does not lead to a folder; otherwise the system's error.
    pub fn to(path: &Path) -> io::Result<Self> {
        if path.as_os_str().is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (start, rest) = system::start(path)?;
        Self::from(start).onward(&rest, path)
    }

    /// Opens the folder at `path`, relative to this folder. `shown` is the whole path, for messages.
    ///
    /// # Errors
    /// The errors of [`to`](Self::to).
    pub fn onward(mut self, path: &Path, shown: &Path) -> io::Result<Self> {
        self.along(path)?;
        Ok(Self { folder: self.folder.named(shown), ..self })
    }

    /// Enters the folders of a relative path, and makes the missing folders. If `owner` is given, the new folders
    /// belong to this owner. Follows no link, and makes no folder inside a folder that another user may have planted.
    ///
    /// # Errors
    /// The errors of [`Folder::descend`] and [`Folder::make_and_enter`], and [`Error::Planted`].
    pub fn descend_or_make(mut self, path: &Path, mode: u32, owner: Option<&About>) -> io::Result<Self> {
        for component in path.components() {
            let name = match component {
                Component::Normal(name) => name,
                Component::CurDir => continue,
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            };
            let entered = match self.folder.enter(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => self.make(name, mode, owner),
                entered => entered,
            };
            self.go_into(entered?)?;
        }
        Ok(self)
    }

    fn make(&self, name: &OsStr, mode: u32, owner: Option<&About>) -> io::Result<Folder> {
        let folder = self.clone().unplanted().map_err(Error::into_io)?;
        let made = match owner {
            // The owner is changed only if the folder is still empty, which `make_and_enter` checks.
            Some(_) => folder.make_and_enter(name, mode),
            None => folder.make_and_share(name, mode),
        };
        match (made, owner) {
            // Another thread has made the same folder in the meantime.
            (Err(error), _) if error.kind() == io::ErrorKind::AlreadyExists => folder.enter(name),
            (Ok(made), Some(owner)) => made.set_owner(Some(owner.owner), owner.group).map(|()| made),
            (made, _) => made,
        }
    }

    /// Enters the folders of a relative path. Follows no link.
    ///
    /// # Errors
    /// The errors of [`Folder::descend`].
    pub fn descend(mut self, path: &Path) -> io::Result<Self> {
        for component in path.components() {
            match component {
                Component::Normal(name) => self.go_into(self.folder.enter(name)?)?,
                Component::CurDir => {}
                _ => return Err(io::ErrorKind::InvalidInput.into()),
            }
        }
        Ok(self)
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the first link on the path that another user may have planted, or else the first such folder.
    #[must_use]
    pub fn planted(&self) -> Option<&Planted> {
        self.link.as_ref().or(self.planted.as_ref())
    }

    /// Returns the first link on the path that belongs to another user.
    #[must_use]
    pub fn link(&self) -> Option<&Planted> {
        self.link.as_ref()
    }

    /// Returns the folder that was reached. If another user may have planted a link or folder on the path, returns an
    /// error instead.
    ///
    /// # Errors
    /// [`Error::Planted`].
    pub fn unplanted(self) -> Result<Folder, Error> {
        match self.planted() {
            Some(planted) => Err(Error::Planted(planted.clone())),
            None => Ok(self.folder),
        }
    }

    /// Opens the folder at `path`, relative to this folder.
    fn along(&mut self, path: &Path) -> io::Result<()> {
        for component in path.components() {
            match component {
                Component::Normal(name) => self.step(name)?,
                Component::RootDir | Component::ParentDir | Component::Prefix(_) => {
                    self.folder = self.folder.follow(Path::new(component.as_os_str()))?;
                }
                Component::CurDir => {}
            }
        }
        Ok(())
    }

    /// Continues to the folder with this name, or to the folder to which a link of this name leads.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if the name leads to no folder; otherwise the system's error.
    pub fn step(&mut self, name: &OsStr) -> io::Result<()> {
        match self.folder.enter_for_names(name) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
            entered => return self.go_into(entered?),
        }
        match self.read_link(name)? {
            Some(_) if self.folder.is_of_processes() => self.folder = self.folder.enter_followed(name)?,
            Some(target) => self.along(&target)?,
            None => return Err(io::ErrorKind::NotADirectory.into()),
        }
        Ok(())
    }

    /// Continues to a folder in this folder, and records whether another user may have planted it.
    fn go_into(&mut self, entered: Folder) -> io::Result<()> {
        if self.planted.is_none() {
            self.planted = entered.planted_in(&self.folder)?;
        }
        self.folder = entered;
        Ok(())
    }

    /// Returns the target of the link `name`, and records the link if it belongs to another user. Returns `None` if the
    /// name is not a link.
    fn read_link(&mut self, name: &OsStr) -> io::Result<Option<PathBuf>> {
        let found = self.folder.look(name)?.ok_or(io::ErrorKind::NotFound)?;
        if !found.is_link() {
            return Ok(None);
        }
        if !found.is_trusted() {
            let planted = || Planted { path: self.folder.path_of(name), owner: found.owner, is_link: true };
            self.link.get_or_insert_with(planted);
        }
        self.links += 1;
        if self.links > LINKS {
            return Err(Errno::LOOP.into());
        }
        self.folder.read_link(name).map(|target| Some(target.into()))
    }

    /// Follows the link `name` and all further links, and returns the folder and the name to which the last link leads.
    /// Returns `None` if the text of a link is not the path of the link's target, as in `/dev/fd`.
    ///
    /// # Errors
    /// The system's errors.
    pub fn end(&mut self, name: &OsStr) -> io::Result<Option<Spot>> {
        let mut name = name.to_owned();
        while let Some(target) = self.read_link(&name)? {
            self.along(parent(&target))?;
            // If a link leads to a folder, the text of the link may end with `/`, `.` or `..`.
            match target.file_name().filter(|_| !ends_with_dots(&target)) {
                Some(last) => name = last.to_owned(),
                None => return Ok(None),
            }
        }
        Ok(Some(Spot { folder: self.folder.clone(), name }))
    }
}

impl Folder {
    /// If all users may make names in the folder `around`, and this folder in it belongs to another user, returns a
    /// warning that this user may have planted it.
    ///
    /// # Errors
    /// The system's errors.
    pub fn planted_in(&self, around: &Self) -> io::Result<Option<Planted>> {
        let about = self.about()?;
        let is_planted = !about.is_trusted() && around.about()?.is_open_to_others();
        Ok(is_planted.then(|| Planted { path: self.path(), owner: about.owner, is_link: false }))
    }

    /// Opens a folder in this folder, and follows a link. Fails if another user may have planted a link or folder on
    /// the way.
    ///
    /// # Errors
    /// [`Error::Planted`] if another user may have planted a link or folder, [`Error::NoFolder`] if the folder does not
    /// exist; otherwise the system's error, with the `Step` that failed.
    pub fn enter_unplanted(&self, name: &OsStr) -> Result<Self, Error> {
        let mut way = Way::from(self.clone());
        way.step(name).map_err(Error::of_folder)?;
        way.unplanted()
    }
}

fn ends_with_dots(path: &Path) -> bool {
    let bytes = path.as_os_str().as_bytes();
    let last = bytes.rsplit(|byte| is_separator(char::from(*byte))).find(|part| !part.is_empty());
    last.is_none_or(|last| matches!(last, b"." | b".."))
}
