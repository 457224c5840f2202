//! A folder that gets its name when it is complete.
//!
//! Until the folder is complete, it is stored inside another folder, which is called the draft. The draft is a folder
//! with a temporary name, and only its owner has access to it. The draft is removed when the process ends early. If a
//! run is killed, its draft stays, and the next run with the same output removes it. The folder in the draft has the
//! same temporary name as the draft. If another user may change names in the target's folder, that user can rename any
//! folder there. But that user cannot make another folder look like a draft, because only the owner can list and enter
//! a draft. When a draft is removed, its contents are found through the open handle of the draft, because another
//! folder may have the draft's name by then.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use crate::cleanup::{self, Guard};
use crate::clear::clear;
use crate::erase::erase;
use crate::error::{Error, Exchanged, Step};
use crate::folder::{Folder, trimmed};
use crate::handle::{Handle, Locked};
use crate::names;
use crate::sweep::{Remove, sweep_by};
#[cfg(unix)]
use crate::system::handle;
use crate::system::{Errno, user};

/// The maximum number of temporary names that are tried. Another run can mistake a new folder that is not locked yet
/// for a draft of a killed run, and remove it. Then this run tries again.
const TRIES: usize = 64;

/// A folder that is not complete yet.
#[derive(Debug)]
pub struct DraftFolder {
    name: OsString,
    parent: Folder,
    /// The draft.
    around: Folder,
    folder: Folder,
    /// The name of the draft, which is also the name of the folder in the draft.
    temporary: OsString,
    guard: Guard,
}

impl DraftFolder {
    /// Makes a folder that gets this name later.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn create(target: &Path) -> Result<Self, Error> {
        let trimmed = trimmed(target);
        let (parent, name) = Folder::holding(&trimmed)?;
        Self::create_in(&parent, &name)
    }

    /// Makes a folder that gets this name in an open folder later.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn create_in(parent: &Folder, name: &OsStr) -> Result<Self, Error> {
        Self::create_by(parent, name, clear)
    }

    /// Makes a folder for secrets in an open folder. Before the folder is removed, the files in it are overwritten.
    /// The same holds for folders that killed runs left.
    ///
    /// # Errors
    /// If the folder cannot be made.
    pub fn create_erased_in(parent: &Folder, name: &OsStr) -> Result<Self, Error> {
        Self::create_by(parent, name, erase)
    }

    /// Removes the folders of [`DraftFolder::create_erased_in`] that killed runs of this user left in `parent`.
    pub fn sweep_erased(parent: &Folder, name: &OsStr) {
        sweep_by(parent, name, erase);
    }

    /// Makes a folder that the function `remove_all` removes, unless the folder gets its name.
    fn create_by(parent: &Folder, name: &OsStr, remove_all: Remove) -> Result<Self, Error> {
        sweep_by(parent, name, remove_all);
        for _ in 0..TRIES {
            let temporary = names::name(name);
            let (at, own, draft) = (parent.clone(), temporary.clone(), Arc::new(OnceLock::<Folder>::new()));
            let opened = Arc::clone(&draft);
            let remove = move || {
                let _ = opened.get().is_some_and(|draft| remove_all(draft, &own));
                opened.get().inspect(|draft| draft.let_go());
                // Another folder may have the draft's name by now. So this removal by name removes only an empty
                // folder.
                let _ = at.remove_folder(&own);
            };
            let ((), guard) = match cleanup::make(|| parent.make_private(&temporary), remove) {
                // Another run chose the same name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(Error::create)?,
            };
            if let Some(around) = lock(parent, &temporary).map_err(Error::create)? {
                if !(around.is_draft().map_err(Error::create)? && around.is_empty_own().map_err(Error::create)?) {
                    return Err(Error::create(Exchanged));
                }
                let around = draft.get_or_init(|| around).clone();
                let folder = around.make_and_enter(&temporary, 0o700).map_err(Error::create)?;
                // What is unpacked takes its access control lists from this folder.
                parent.share(&folder).map_err(Error::create)?;
                return Ok(Self { name: name.into(), parent: parent.clone(), around, folder, temporary, guard });
            }
        }
        Err(Error::create(Errno::BUSY))
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// While the returned value exists, programs that are started also get the lock of the folder. If this process is
    /// killed, other runs remove the folder only after these programs have ended.
    ///
    /// # Errors
    /// The system's errors.
    #[cfg(unix)]
    pub fn share_lock(&self) -> io::Result<impl Drop + use<>> {
        handle::inherited(&self.around)
    }

    /// Gives the folder its name. If `sync` is set, the contents of the folder are written to the disk first.
    ///
    /// # Errors
    /// [`Error::Exists`] if the name is taken; otherwise the system's error, with the `Step` that failed.
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
    /// [`Error::Exists`] if all names of this form are taken; otherwise the system's error, with the `Step` that
    /// failed.
    pub fn keep_incomplete(self) -> Result<OsString, Error> {
        for name in names::incomplete(&self.name) {
            match self.rename(&name) {
                Ok(()) => return Ok(name),
                Err(Error::Exists) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::Exists)
    }

    fn rename(&self, name: &OsStr) -> Result<(), Error> {
        // A folder that its owner may not write to cannot be moved into another folder.
        let mode = self.folder.about().map_err(Error::dress)?.mode;
        let is_fixed = mode & 0o200 == 0;
        if is_fixed {
            self.folder.set_mode(mode | 0o200).map_err(Error::dress)?;
        }
        let moved = self.guard.settle(|| self.around.move_new(&self.temporary, &self.parent, name));
        if is_fixed {
            self.folder.set_mode(mode).map_err(Error::dress)?;
        }
        moved.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists,
            _ => Error::create(error),
        })?;
        self.around.let_go();
        let _ = self.parent.remove_folder(&self.temporary);
        Ok(())
    }
}

impl Folder {
    /// Whether the folder belongs to this user and nobody else may use it: this is true for every draft.
    pub(crate) fn is_draft(&self) -> io::Result<bool> {
        Ok(user::is_draft(&self.about()?))
    }
}

/// Opens and locks the new folder `name`. The folder is locked: other runs see from the lock that the folder is in use.
/// Returns `None` if another run is removing the folder or has removed it.
fn lock(parent: &Folder, name: &OsStr) -> io::Result<Option<Folder>> {
    let folder = match parent.enter(name) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        folder => folder?,
    };
    match folder.lock_now() {
        Ok(Locked::ByOthers) => Ok(None),
        // If the file system has no locks, no run removes drafts, so the folder is safe without a lock.
        _ => Ok(parent.has(name, &folder).then_some(folder)),
    }
}
