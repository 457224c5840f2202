//! Files that get their names together: all of them, or none.
//!
//! Signals wait while names are given. A file that is replaced keeps a temporary name until all new files have their
//! names, so that it can be restored. SIGKILL is the exception: it can leave a part of the new files, and old files
//! under temporary names.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, FlockOperation, Mode, OFlags, Stat, flock, linkat, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;

use super::{Attributes, Landing, Named, Partial, exists, folder_of, is_named, link_nameless, rename_new, sweep};
use crate::failure::{Exit, Failure};
use crate::shown::shown;
use crate::signals::{self, Held};

/// Gives each file the name beside it. All names are in the folder of the files. If one name cannot be given, or one
/// file cannot be written, no file has its new name, and files that would have been replaced are as before.
pub fn land(files: Vec<(Partial, PathBuf)>, attributes: Attributes, landing: Landing) -> Result<(), Failure> {
    land_with(files, attributes, landing, exchange)
}

/// Swaps two names in a folder.
type Exchange = fn(&File, &OsStr, &OsStr) -> Result<(), Errno>;

pub(super) fn land_with(
    files: Vec<(Partial, PathBuf)>,
    attributes: Attributes,
    landing: Landing,
    exchange: Exchange,
) -> Result<(), Failure> {
    let mut members = Vec::new();
    for (partial, target) in files {
        let swept = members.iter().any(|member: &Member| member.old.is_some());
        members.push(Member::prepare(partial, target, attributes, landing, swept)?);
    }
    signals::hold(|held| {
        for index in 0..members.len() {
            if let Err(error) = members[index].give(exchange) {
                let mut failure = members[index].failed(error);
                for member in members[..=index].iter_mut().rev() {
                    failure.notes.extend(member.take_back(held));
                }
                return Err(failure);
            }
        }
        Ok(())
    })?;
    let to_sync = landing.sync || members.iter().any(|member| member.old.is_some());
    // Dropping the members removes the files that were replaced.
    let first = members.into_iter().next().map(|member| member.partial).filter(|_| to_sync);
    first.map_or(Ok(()), |first| first.sync_folder())
}

/// A file of the set.
struct Member {
    partial: Partial,
    old: Option<Old>,
    state: State,
}

/// The file that a member replaces.
struct Old {
    about: Stat,
    /// A second temporary name, for file systems that cannot swap names.
    aside: Named,
    /// The locked file, so that no other run takes it for what a killed run left. `None` if this user cannot read it.
    _lock: Option<File>,
}

/// Where a member and the file that it replaces are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// The new file has no name, or a temporary one.
    Draft,
    /// The new file has its name, and replaced nothing.
    New,
    /// The new file has its name, and the old file has the temporary name of the new one.
    Swapped,
    /// The old file has the name `aside`. The new file may have its name.
    Aside,
}

impl Member {
    /// Does what can take long or fail: writes the file to the disk, and gives it a temporary name if it replaces
    /// another file.
    fn prepare(
        mut partial: Partial,
        target: PathBuf,
        attributes: Attributes,
        landing: Landing,
        swept: bool,
    ) -> Result<Self, Failure> {
        let set = partial.name.clone();
        partial.rename(&target);
        partial.set(attributes).map_err(|error| Failure::path("set time and mode of", &target, &error))?;
        let old = match statat(&partial.folder, &partial.name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => None,
            Err(error) => return Err(partial.failed(error)),
            Ok(_) if !landing.replace => return Err(exists(&target)),
            Ok(about) => match FileType::from_raw_mode(about.st_mode) {
                FileType::RegularFile | FileType::Symlink => {
                    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
                    let file = openat(&partial.folder, &partial.name, flags, Mode::empty()).map(File::from).ok();
                    let lock = file.filter(|file| flock(file, FlockOperation::NonBlockingLockExclusive).is_ok());
                    let aside = Named::new(&partial.folder, &set);
                    Some(Old { about, aside, _lock: lock })
                }
                FileType::Directory => return Err(is_a_folder(&target)),
                _ => return Err(is_no_file(&target)),
            },
        };
        if old.is_some() || landing.sync {
            partial.sync()?;
        }
        if old.is_some() && partial.named.is_none() {
            if !swept {
                sweep(&partial.folder, folder_of(&target), &set);
            }
            partial.named = Some(partial.name_draft(&set)?);
        }
        Ok(Self { partial, old, state: State::Draft })
    }

    /// Gives the file its name.
    fn give(&mut self, exchange: Exchange) -> Result<(), Errno> {
        let Partial { folder, file, name, named, .. } = &self.partial;
        self.state = match (&self.old, named) {
            (None, None) => link_nameless(file, folder, name).map(|()| State::New)?,
            (None, Some(named)) => rename_new(folder, &named.name, name).map(|()| State::New)?,
            // `prepare` gave all drafts that replace a file a temporary name.
            (Some(_), None) => return Err(Errno::IO),
            (Some(old), Some(named)) => match exchange(folder, &named.name, name) {
                Ok(()) if old.has(folder, &named.name) => State::Swapped,
                // Another program has replaced the file meanwhile.
                Ok(()) => return exchange(folder, &named.name, name).and(Err(Errno::BUSY)),
                // Another program has removed the file meanwhile.
                Err(Errno::NOENT) => rename_new(folder, &named.name, name).map(|()| State::New)?,
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    if !old.has(folder, name) {
                        return Err(Errno::BUSY);
                    }
                    // Without hard links, the old file gets another name.
                    linkat(folder, name, folder, &old.aside.name, AtFlags::empty())
                        .or_else(|_| rename_new(folder, name, &old.aside.name))?;
                    self.state = State::Aside;
                    renameat(folder, &named.name, folder, name).map(|()| State::Aside)?
                }
                Err(error) => return Err(error),
            },
        };
        Ok(())
    }

    /// Makes the name as it was. Returns a note if that fails.
    fn take_back(&mut self, held: &mut Held) -> Option<String> {
        let Partial { folder, file, name, named, target, .. } = &self.partial;
        let kept = match (self.state, &self.old) {
            (State::Draft, _) => return None,
            (State::Swapped, _) => named.as_ref(),
            (State::Aside, Some(old)) => Some(&old.aside),
            (State::New | State::Aside, _) => None,
        };
        let is_ours = is_named(folder, name, file);
        self.state = State::Draft;
        let Some(kept) = kept else {
            // The name may belong to another program's file by now.
            let removed = if is_ours { unlinkat(folder, name, AtFlags::empty()) } else { Ok(()) };
            return removed.err().map(|_| format!("{} could not be removed", shown(target)));
        };
        // Our own file is replaced, but not the file of another program.
        let restored = match is_ours || self.old.as_ref().is_some_and(|old| old.has(folder, name)) {
            true => renameat(folder, &kept.name, folder, name),
            false => rename_new(folder, &kept.name, name),
        };
        match restored {
            Ok(()) | Err(Errno::EXIST) => None,
            Err(_) => {
                held.forget(&kept.guard);
                Some(format!("{} could not be restored; it is {}", shown(target), shown(&kept.name)))
            }
        }
    }

    fn failed(&self, error: Errno) -> Failure {
        let target = &self.partial.target;
        match (error, &self.old) {
            (Errno::EXIST, None) | (Errno::BUSY, Some(_)) => Failure::new(
                Exit::System,
                format!("another program made {} meanwhile", shown(target)),
                "choose another name with -o, or try again",
            ),
            _ => self.partial.failed(error),
        }
    }
}

impl Old {
    /// Whether `name` is a name of this file.
    fn has(&self, folder: &File, name: &OsStr) -> bool {
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        found.is_ok_and(|found| (found.st_dev, found.st_ino) == (self.about.st_dev, self.about.st_ino))
    }
}

/// Returns the error that a folder has the name of a file.
pub fn is_a_folder(target: &Path) -> Failure {
    Failure::usage(format!("{} is a folder", shown(target)), "choose another name with -o")
}

/// Returns the error that something that is no file, such as a pipe, has the name of a file.
pub fn is_no_file(target: &Path) -> Failure {
    Failure::usage(format!("{} is not a file", shown(target)), "choose another name with -o")
}

#[cfg(target_os = "linux")]
fn exchange(folder: &File, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
    rustix::fs::renameat_with(folder, one, folder, other, rustix::fs::RenameFlags::EXCHANGE)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_folder: &File, _one: &OsStr, _other: &OsStr) -> Result<(), Errno> {
    Err(Errno::NOSYS)
}
