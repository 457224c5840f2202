//! Gives several files their names together: either all of the files get their names, or none of them does.
//!
//! The process does not end while the files get their names. A file that is replaced keeps a temporary name until all
//! new files have their names, so that the old file can be restored. Only SIGKILL can leave some of the new files with
//! their names, and old files with temporary names.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;

use crate::about::{About, FileKind};
use crate::cleanup::{self, Held};
use crate::draft::{Attributes, Draft, Landing, Named, Replace};
use crate::error::{Error, Step};
use crate::folder::Folder;
use crate::handle::{Handle, Locked};
use crate::sweep::sweep;
use crate::system::Errno;

/// The reason why the files of a set did not get their names.
#[derive(Debug)]
pub struct SetError {
    /// The name of the file that failed.
    pub name: OsString,
    /// The reason of the failure.
    pub error: Error,
    /// Names that could not be restored.
    pub left: Vec<Left>,
}

/// A name that could not be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The name.
    pub name: OsString,
    /// The name that the old file has now. `None` if there was no old file, and the new file could not be removed.
    pub old: Option<OsString>,
}

/// Gives each file the name with which it is paired in `files`. The files and their names must be in the same folder.
/// If a file cannot be written or cannot get its name, no file of the set gets its name, and no existing file is
/// replaced.
///
/// # Errors
/// The first failure, and the names that could not be restored.
pub fn land_set(files: Vec<(Draft, OsString)>, attributes: Attributes, landing: Landing) -> Result<(), SetError> {
    land_with(files, attributes, landing, Folder::exchange)
}

/// Swaps two names in a folder.
type Exchange = fn(&Folder, &OsStr, &OsStr) -> Result<(), Errno>;

pub(crate) fn land_with(
    files: Vec<(Draft, OsString)>,
    attributes: Attributes,
    landing: Landing,
    exchange: Exchange,
) -> Result<(), SetError> {
    let mut members = Vec::new();
    for (draft, name) in files {
        let swept = members.iter().any(|member: &Member| member.old.is_some());
        let prepared = Member::prepare(draft, name.clone(), attributes, landing, swept);
        members.push(prepared.map_err(|error| SetError { name, error, left: Vec::new() })?);
    }
    cleanup::hold(|held| {
        for index in 0..members.len() {
            if let Err(error) = members[index].give(exchange) {
                let (name, error) = (members[index].draft.name.clone(), members[index].failed(error));
                let left = members[..=index].iter_mut().rev().filter_map(|member| member.take_back(held)).collect();
                return Err(SetError { name, error, left });
            }
        }
        Ok(())
    })?;
    let to_sync = landing.sync || members.iter().any(|member| member.old.is_some());
    // When `members` is dropped, the files with temporary names are removed: these are now the replaced files.
    match members.into_iter().next().map(|member| member.draft).filter(|_| to_sync) {
        None => Ok(()),
        Some(Draft { folder, name, .. }) => folder.sync().map_err(|error| SetError {
            name,
            error: Error::System(Step::WriteFolder, error),
            left: Vec::new(),
        }),
    }
}

/// A file of the set.
#[derive(Debug)]
struct Member {
    draft: Draft,
    old: Option<Old>,
    state: State,
}

/// The file that a member replaces.
#[derive(Debug)]
struct Old {
    about: About,
    /// On file systems that cannot swap names, the old file gets this temporary name.
    aside: Named,
    /// The old file, which is locked so that no other run removes it as the draft of a killed run. `None` if this user
    /// cannot read it.
    _lock: Option<File>,
}

/// Which of the two names the new file and the old file have at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The new file has no name, or a temporary name.
    Draft,
    /// The new file has its name, and replaced no file.
    New,
    /// The new file has its name, and the old file has the temporary name of the new file.
    Swapped,
    /// The old file has the name `aside`. The new file may have its name.
    Aside,
}

impl Member {
    /// Does the steps that can take long or fail: writes the file to the disk, and gives the file a temporary name if
    /// it replaces another file.
    fn prepare(
        mut draft: Draft,
        name: OsString,
        attributes: Attributes,
        landing: Landing,
        swept: bool,
    ) -> Result<Self, Error> {
        let set = std::mem::replace(&mut draft.name, name);
        draft.dress(attributes)?;
        let old = match draft.folder.look(&draft.name).map_err(Error::create)? {
            None => None,
            Some(_) if landing.replace == Replace::Nothing => return Err(Error::Exists),
            Some(about) => match about.kind {
                FileKind::File | FileKind::Link => {
                    let file = draft.folder.file(&draft.name).ok().map(|(file, _)| file);
                    let lock = file.filter(|file| matches!(file.lock_now(), Ok(Locked::Yes)));
                    let ((), aside) = Named::make(&draft.folder, &set, |_| Ok(())).map_err(Error::create)?;
                    Some(Old { about, aside, _lock: lock })
                }
                FileKind::Folder => return Err(Error::IsFolder),
                _ => return Err(Error::NotAFile),
            },
        };
        if old.is_some() || landing.sync {
            draft.sync()?;
        }
        if old.is_some() && draft.named.is_none() {
            if !swept {
                sweep(&draft.folder, &set);
            }
            draft.named = Some(draft.name_draft(&set)?);
        }
        Ok(Self { draft, old, state: State::Draft })
    }

    /// Gives the file its name.
    fn give(&mut self, exchange: Exchange) -> Result<(), Errno> {
        let Draft { folder, file, name, named, .. } = &self.draft;
        self.state = match (&self.old, named) {
            (None, None) => folder.link_nameless(file, name).map(|()| State::New)?,
            (None, Some(named)) => folder.renamed_new(&named.name, name).map(|()| State::New)?,
            // This cannot happen: `prepare` gives each draft that replaces a file a temporary name.
            (Some(_), None) => return Err(Errno::IO),
            (Some(old), Some(named)) => match exchange(folder, &named.name, name) {
                Ok(()) if old.has(folder, &named.name) => State::Swapped,
                // Another program has replaced the file in the meantime.
                Ok(()) => return exchange(folder, &named.name, name).and(Err(Errno::BUSY)),
                // Another program has removed the old file in the meantime.
                Err(Errno::NOENT) => folder.renamed_new(&named.name, name).map(|()| State::New)?,
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    if !old.has(folder, name) {
                        return Err(Errno::BUSY);
                    }
                    // If the file system has no hard links, the old file receives the temporary name by renaming.
                    let kept = folder.hard_link(folder, name, &old.aside.name);
                    kept.or_else(|_| folder.rename_new(name, &old.aside.name)).map_err(errno)?;
                    self.state = State::Aside;
                    folder.rename(&named.name, name).map(|()| State::Aside).map_err(errno)?
                }
                Err(error) => return Err(error),
            },
        };
        Ok(())
    }

    /// Restores the name. If restoring fails, returns the name that still needs to be restored.
    fn take_back(&mut self, held: &mut Held) -> Option<Left> {
        let Draft { folder, file, name, named, .. } = &self.draft;
        let kept = match (self.state, &self.old) {
            (State::Draft, _) => return None,
            (State::Swapped, _) => named.as_ref(),
            (State::Aside, Some(old)) => Some(&old.aside),
            (State::New | State::Aside, _) => None,
        };
        let is_ours = folder.has(name, file);
        self.state = State::Draft;
        let Some(kept) = kept else {
            // By now, the name may belong to a file of another program. This file stays.
            let removed = if is_ours { folder.remove(name) } else { Ok(()) };
            return removed.err().map(|_| Left { name: name.clone(), old: None });
        };
        // The old file may replace the new file of this program, but not a file of another program.
        let replaced = is_ours || self.old.as_ref().is_some_and(|old| old.has(folder, name));
        let restored = if replaced { folder.rename(&kept.name, name) } else { folder.rename_new(&kept.name, name) };
        match restored {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                held.forget(&kept.guard);
                Some(Left { name: name.clone(), old: Some(kept.name.clone()) })
            }
            _ => None,
        }
    }

    fn failed(&self, error: Errno) -> Error {
        match (error, &self.old) {
            (Errno::EXIST, None) | (Errno::BUSY, Some(_)) => Error::Changed,
            _ => Error::create(error),
        }
    }
}

impl Old {
    fn has(&self, folder: &Folder, name: &OsStr) -> bool {
        folder.look(name).is_ok_and(|found| found.is_some_and(|found| found.id == self.about.id))
    }
}

fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
