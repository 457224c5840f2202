//! A folder that gets its name when it is complete.
//!
//! Until then it has a temporary name, and only its owner has access to it. The folder is removed when the process ends
//! early. If a run is killed, its folder stays, and the next run with the same output removes it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;

use rustix::io::Errno;

use crate::cleanup::{self, Guard};
use crate::clear::clear;
use crate::error::{Error, Step};
use crate::folder::{Folder, trimmed};
use crate::handle::{Handle, Locked};
use crate::names;
use crate::sweep::sweep;

/// The number of temporary names that are tried. A run that removes drafts can take a new folder for one of a killed
/// run, until the folder is locked.
const TRIES: usize = 64;

/// A folder that is not complete yet.
#[derive(Debug)]
pub struct DraftFolder {
    name: OsString,
    parent: Folder,
    folder: Folder,
    temporary: OsString,
    guard: Guard,
}

impl DraftFolder {
    /// Makes a folder that gets this name later.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn create(target: &Path) -> Result<Self, Error> {
        // A path may end with a slash here.
        let trimmed = trimmed(target);
        let (parent, name) = Folder::of(&trimmed)?;
        Self::create_in(&parent, &name)
    }

    /// Makes a folder that gets this name in an open folder later.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn create_in(parent: &Folder, name: &OsStr) -> Result<Self, Error> {
        sweep(parent, name);
        for _ in 0..TRIES {
            let temporary = names::name(name);
            let (at, own) = (parent.clone(), temporary.clone());
            let remove = move || {
                let _ = clear(&at, &own);
            };
            let ((), guard) = match cleanup::make(|| parent.make(&temporary, 0o700), remove) {
                // Another run chose the same name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(Error::create)?,
            };
            if let Some(folder) = lock(parent, &temporary).map_err(Error::create)? {
                return Ok(Self { name: name.into(), parent: parent.clone(), folder, temporary, guard });
            }
        }
        Err(Error::create(Errno::BUSY))
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Gives the folder its name. With `sync`, its contents are on the disk before this function returns.
    ///
    /// # Errors
    /// [`Error::Exists`] if something has the name; otherwise what the system refused.
    pub fn land(self, sync: bool) -> Result<(), Error> {
        if sync {
            self.folder.sync_all().map_err(Error::write)?;
        }
        self.rename(&self.name)?;
        if sync { self.parent.sync().map_err(|error| Error::System(Step::WriteFolder, error)) } else { Ok(()) }
    }

    /// Renames the folder to `NAME.incomplete` and returns that name.
    ///
    /// # Errors
    /// [`Error::Exists`] if all such names are taken; otherwise what the system refused.
    pub fn keep_incomplete(self) -> Result<OsString, Error> {
        let mut first = self.name.clone();
        first.push(".incomplete");
        for number in 1..1000 {
            let mut name = first.clone();
            if number > 1 {
                name.push(format!("-{number}"));
            }
            match self.rename(&name) {
                Ok(()) => return Ok(name),
                Err(Error::Exists) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Exists)
    }

    fn rename(&self, name: &OsStr) -> Result<(), Error> {
        self.guard.settle(|| self.parent.rename_new(&self.temporary, name)).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists,
            _ => Error::create(error),
        })
    }
}

/// Opens and locks the new folder `name`. The lock tells other runs that the folder is in use. Returns `None` if
/// another run removes the folder, or has removed it.
fn lock(parent: &Folder, name: &OsStr) -> io::Result<Option<Folder>> {
    let folder = match parent.enter(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        folder => folder?,
    };
    match folder.lock_now() {
        Ok(Locked::ByOthers) => Ok(None),
        // Where the file system has no locks, no run removes drafts.
        _ => Ok(parent.has(name, &folder).then_some(folder)),
    }
}
