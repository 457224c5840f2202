//! A folder that has its name only when it is complete.
//!
//! Until then it is called `.NAME.XXXXXXXX.deadpan-part`, is for the owner's eyes only, is taken away on signals, and what a killed run left is swept by the
//! next one.

use super::clear::clear;
use super::{Landing, exists, folder_of, prefix, rename_new, sweep, temporary};
use crate::failure::Failure;
use crate::shown::shown;
use crate::signals::{self, Guard};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, mkdirat, open, openat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A folder that is still being filled.
pub struct PartialFolder {
    target: PathBuf,
    name: OsString,
    parent: File,
    folder: File,
    temporary: OsString,
    guard: Guard,
}

impl PartialFolder {
    /// Begins the folder `target`.
    pub fn create(target: &Path) -> Result<Self, Failure> {
        let Some(name) = target.file_name() else {
            return Err(Failure::usage(format!("{} is no name for a folder", shown(target)), "name it with -o"));
        };
        let failed = |error: Errno| Failure::path("create", target, &error.into());
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let above = folder_of(target);
        let parent = File::from(open(above, flags, Mode::empty()).map_err(failed)?);
        sweep(&parent, above, name);
        let temporary = temporary(name);
        mkdirat(&parent, &temporary, Mode::RWXU).map_err(failed)?;
        let path = above.join(&temporary);
        let guard = signals::guard(move || {
            clear(&path);
        });
        let folder = File::from(openat(&parent, &temporary, flags | OFlags::NOFOLLOW, Mode::empty()).map_err(failed)?);
        // Whoever sweeps sees that somebody is at it.
        let _ = flock(&folder, FlockOperation::NonBlockingLockExclusive);
        Ok(Self { target: target.into(), name: name.into(), parent, folder, temporary, guard })
    }

    pub fn folder(&self) -> &File {
        &self.folder
    }

    /// Gives the folder its name.
    pub fn land(self, landing: Landing) -> Result<(), Failure> {
        if landing.sync {
            self.sync().map_err(|error| Failure::path("write", &self.target, &error.into()))?;
        }
        match self.rename(&self.name) {
            Ok(()) if landing.sync => self.parent.sync_all().map_err(|error| Failure::path("write the folder of", &self.target, &error)),
            Ok(()) => Ok(()),
            Err(Errno::EXIST | Errno::NOTEMPTY) => Err(exists(&self.target)),
            Err(error) => Err(Failure::path("create", &self.target, &error.into())),
        }
    }

    /// Keeps what is in it under a name that says that not all of it is there: which name.
    pub fn keep_incomplete(self) -> Result<PathBuf, Failure> {
        for number in 1..1000 {
            let mut name = self.name.clone();
            name.push(if number == 1 { ".incomplete".to_owned() } else { format!(".incomplete-{number}") });
            match self.rename(&name) {
                Ok(()) => return Ok(self.target.with_file_name(name)),
                Err(Errno::EXIST | Errno::NOTEMPTY) => {}
                Err(error) => return Err(Failure::path("rename", &self.target, &error.into())),
            }
        }
        Err(exists(&self.target.with_file_name(prefix(&self.name))))
    }

    fn rename(&self, name: &OsStr) -> Result<(), Errno> {
        self.guard.settle(|| rename_new(&self.parent, &self.temporary, name))
    }

    /// Everything in it to the disk.
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
