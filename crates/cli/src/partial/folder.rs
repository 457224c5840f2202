//! An output folder that gets its name when it is complete.
//!
//! Until then the folder has a temporary name, `.NAME.XXXXXXXX.deadpan-part`, and only its owner has access to it. The
//! folder is removed on signals. If a run is killed, its folder stays, and the next run with the same output removes
//! it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, mkdirat, openat};
use rustix::io::Errno;

use super::{exists, folder_of, is_named, open_folder_of, rename_new, sweep, temporary};
use crate::failure::Failure;
use crate::shown::shown;
use crate::signals::{self, Guard};
use deadpan_pack::draft::clear;

/// The number of temporary names that are tried. A run that removes drafts can take a new folder for one of a killed
/// run, until the folder is locked.
const TRIES: usize = 64;

/// A folder that is not complete yet.
pub struct PartialFolder {
    target: PathBuf,
    name: OsString,
    parent: File,
    folder: File,
    temporary: OsString,
    guard: Guard,
}

impl PartialFolder {
    /// Makes a folder that gets the name `target` later.
    pub fn create(target: &Path) -> Result<Self, Failure> {
        let Some(name) = target.file_name() else {
            return Err(Failure::usage(format!("{} is not a name for a folder", shown(target)), "name it with -o"));
        };
        let failed = |error: Errno| Failure::path("create", target, &error.into());
        let above = folder_of(target);
        let parent = File::from(open_folder_of(target)?);
        sweep(&parent, above, name);
        for _ in 0..TRIES {
            let temporary = temporary(name);
            match mkdirat(&parent, &temporary, Mode::RWXU) {
                // Another run chose the same name.
                Err(Errno::EXIST) => continue,
                made => made.map_err(failed)?,
            }
            let path = above.join(&temporary);
            let guard = signals::guard(move || {
                let _ = clear(&path);
            });
            if let Some(folder) = lock(&parent, &temporary).map_err(failed)? {
                return Ok(Self { target: target.into(), name: name.into(), parent, folder, temporary, guard });
            }
        }
        Err(failed(Errno::BUSY))
    }

    pub fn folder(&self) -> &File {
        &self.folder
    }

    /// Gives the folder its name. With `sync`, its contents are on the disk before this function returns.
    pub fn land(self, sync: bool) -> Result<(), Failure> {
        if sync {
            self.sync().map_err(|error| Failure::path("write", &self.target, &error.into()))?;
        }
        match self.rename(&self.name) {
            Ok(()) if sync => {
                self.parent.sync_all().map_err(|error| Failure::path("write the folder of", &self.target, &error))
            }
            Ok(()) => Ok(()),
            Err(Errno::EXIST | Errno::NOTEMPTY) => Err(exists(&self.target)),
            Err(error) => Err(Failure::path("create", &self.target, &error.into())),
        }
    }

    /// Renames the folder to `NAME.incomplete` and returns that path.
    pub fn keep_incomplete(self) -> Result<PathBuf, Failure> {
        let mut first = self.name.clone();
        first.push(".incomplete");
        for number in 1..1000 {
            let mut name = first.clone();
            if number > 1 {
                name.push(format!("-{number}"));
            }
            match self.rename(&name) {
                Ok(()) => return Ok(self.target.with_file_name(name)),
                Err(Errno::EXIST | Errno::NOTEMPTY) => {}
                Err(error) => return Err(Failure::path("rename", &self.target, &error.into())),
            }
        }
        Err(exists(&self.target.with_file_name(first)))
    }

    fn rename(&self, name: &OsStr) -> Result<(), Errno> {
        self.guard.settle(|| rename_new(&self.parent, &self.temporary, name))
    }

    /// Writes everything in the folder to the disk.
    fn sync(&self) -> Result<(), Errno> {
        #[cfg(target_os = "linux")]
        return rustix::fs::syncfs(&self.folder);
        #[cfg(not(target_os = "linux"))]
        {
            rustix::fs::sync();
            Ok(())
        }
    }
}

/// Opens and locks the new folder `name`. The lock tells other runs that the folder is in use. Returns `None` if
/// another run removes the folder, or has removed it.
fn lock(parent: &File, name: &OsStr) -> Result<Option<File>, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = match openat(parent, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        folder => File::from(folder?),
    };
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::WOULDBLOCK) => Ok(None),
        // Where the file system has no locks, no run removes drafts.
        _ => Ok(is_named(parent, name, &folder).then_some(folder)),
    }
}
