//! Folders into which entries are unpacked.
//!
//! A folder gets its mode and time when it is full: when its last reference is dropped, which happens before the last
//! reference to its parent is dropped. A folder is opened when it is needed, relative to its parent and by a single
//! name, so that no symbolic link is followed.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_OMIT, Uid, fchmod, fchown, fstat, futimens, mkdirat,
    openat,
};
use rustix::io::Errno;

use super::draft_names::DraftNames;
use super::ledger::Ledger;
use super::trouble::Trouble;
use crate::entry::Time;
use crate::error::{Action, Flaw, words};
use crate::shown::shown;

/// When a folder is opened again, this many folders above it stay open, since they are likely to be needed next.
const REOPENED: usize = 32;

/// If at least this many folders are open, a folder is closed when the next entry is in another folder.
const MANY: usize = 128;

/// A folder.
#[derive(Debug)]
pub(super) struct Folder {
    parent: Option<Arc<Folder>>,
    name: Vec<u8>,
    handle: Mutex<Option<Arc<OwnedFd>>>,
    at_last: Mutex<Option<AtLast>>,
    ledger: Arc<Ledger>,
}

/// The properties that a folder gets when it is full.
#[derive(Debug)]
struct AtLast {
    /// The number of the entry that describes the folder.
    number: Option<u64>,
    dress: Dress,
    /// The folder existed before this run: if the run fails, the folder gets nothing from the archive.
    existed: bool,
    /// Mode and time that the folder had when it was entered.
    found: Option<Dress>,
}

impl AtLast {
    /// Returns the properties that the folder gets, depending on whether the run failed.
    fn dress(self, failed: bool) -> Option<Dress> {
        if failed && self.existed { self.found } else { Some(self.dress) }
    }
}

/// The owner, mode, time and attributes of a file or folder.
#[derive(Clone, Debug, Default)]
pub(super) struct Dress {
    pub(super) mode: u32,
    pub(super) modified: Time,
    pub(super) owner: Option<(u32, u32)>,
    pub(super) attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Dress {
    /// Sets these properties on an open file or folder. `path` is for messages. The owner is set first, since only the
    /// owner may change the file. The time is set last, since the other changes modify it.
    pub(super) fn put_on(&self, handle: &OwnedFd, path: impl Fn() -> Vec<u8>, ledger: &Ledger) -> Result<(), Trouble> {
        if let Some((uid, gid)) = self.owner {
            let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
            fchown(handle, Some(uid), Some(gid)).map_err(Trouble::system(Action::SetOwner))?;
        }
        for (name, value) in &self.attributes {
            match rustix::fs::fsetxattr(handle, &name[..], value, rustix::fs::XattrFlags::empty()) {
                Ok(()) => {}
                Err(Errno::OPNOTSUPP) => {
                    ledger.remark("extended attributes are not restored: this file system has none".into())
                }
                // The system has a limit, and file systems have smaller ones. Some of these report a full disk instead.
                // If the disk is full, writing the next content fails.
                Err(Errno::TOOBIG | Errno::RANGE | Errno::NOSPC | Errno::DQUOT) => {
                    let (name, path) = (shown(name), shown(&path()));
                    ledger.remark(format!(
                        "the extended attribute {name} of {path} is not restored: this file system has no room for it"
                    ));
                }
                // Root in a container may lack the permission to set attributes that grant rights.
                Err(error) if !name.starts_with(b"user.") => {
                    let (name, path, why) = (shown(name), shown(&path()), words(&error.into()));
                    ledger.remark(format!("the extended attribute {name} of {path} is not restored: {why}"));
                }
                Err(error) => return Err(Trouble::System(Action::SetAttributes, error.into())),
            }
        }
        fchmod(handle, Mode::from_raw_mode(self.mode as _)).map_err(Trouble::system(Action::SetMode))?;
        futimens(handle, &times(self.modified)).map_err(Trouble::system(Action::SetTime))
    }
}

/// Returns timestamps that set the time of the last change, and keep the time of the last access.
pub(super) fn times(modified: Time) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
        last_modification: Timespec { tv_sec: modified.seconds as _, tv_nsec: modified.nanoseconds as _ },
    }
}

impl Folder {
    /// Makes the record of the target folder. `handle` is `None` if there is no target.
    pub(super) fn target(handle: Option<OwnedFd>, ledger: Arc<Ledger>) -> Arc<Self> {
        Self::with(None, Vec::new(), handle, ledger)
    }

    fn with(parent: Option<Arc<Self>>, name: Vec<u8>, handle: Option<OwnedFd>, ledger: Arc<Ledger>) -> Arc<Self> {
        let folder = Self { parent, name, handle: Mutex::default(), at_last: Mutex::default(), ledger };
        if let Some(handle) = handle {
            folder.keep(&mut folder.slot(), Arc::new(handle));
        }
        Arc::new(folder)
    }

    /// Makes a folder. Returns `None` if the name exists.
    pub(super) fn make(parent: &Arc<Self>, name: &[u8], mode: u32) -> Result<Option<Arc<Self>>, Trouble> {
        match mkdirat(&*parent.handle()?, name, Mode::from_raw_mode(mode as _)) {
            Ok(()) => Ok(Some(Self::with(Some(Arc::clone(parent)), name.to_vec(), None, Arc::clone(&parent.ledger)))),
            Err(Errno::EXIST) => Ok(None),
            Err(error) => Err(Trouble::System(Action::Create, error.into())),
        }
    }

    /// Opens an existing folder to unpack into it. If this run made the folder (`ours`), a mode that forbids access is
    /// changed for that time. Mode and time are restored afterwards.
    pub(super) fn enter(parent: &Arc<Self>, name: &[u8], ours: bool) -> Result<Arc<Self>, Trouble> {
        let above = parent.handle()?;
        let mut locked = None;
        let handle = match open(&above, name) {
            Err(Errno::ACCESS) if ours => {
                locked = Some(unlock(&above, name).map_err(Trouble::system(Action::Open))?);
                open(&above, name)
            }
            result => result,
        };
        let handle = handle.map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => Trouble::Archive(|path| Flaw::InTheWay { path }),
            error => Trouble::System(Action::Open, error.into()),
        })?;
        let found = ours.then(|| stat(&handle)).transpose()?;
        if let Some(found) = &found {
            let mode = mode_of(found);
            if mode & 0o700 != 0o700 {
                fchmod(&handle, Mode::from_raw_mode((mode | 0o700) as _)).map_err(Trouble::system(Action::SetMode))?;
            }
        }
        let folder = Self::with(Some(Arc::clone(parent)), name.to_vec(), Some(handle), Arc::clone(&parent.ledger));
        if let Some(found) = found {
            let modified = Time { seconds: found.st_mtime as _, nanoseconds: found.st_mtime_nsec as _ };
            let dress = Dress { mode: locked.unwrap_or(mode_of(&found)), modified, ..Dress::default() };
            let at_last = AtLast { number: None, found: Some(dress.clone()), dress, existed: true };
            *folder.at_last.lock().unwrap_or_else(PoisonError::into_inner) = Some(at_last);
        }
        Ok(folder)
    }

    /// Records the properties that the folder gets when it is full. `existed` tells whether it existed before this run.
    pub(super) fn at_last(&self, number: u64, dress: Dress, existed: bool) {
        let mut at_last = self.at_last.lock().unwrap_or_else(PoisonError::into_inner);
        let found = at_last.take().and_then(|before| before.found);
        *at_last = Some(AtLast { number: Some(number), dress, existed, found });
    }

    /// Sets the folder's mode and time. Nothing may be made in the folder after this.
    pub(super) fn fill(&self) {
        let at_last = self.at_last.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(at_last) = at_last else { return };
        let number = at_last.number.unwrap_or(u64::MAX);
        let Some(dress) = at_last.dress(self.ledger.stopped()) else { return };
        let filled = self.handle().and_then(|handle| {
            // A new folder can inherit the setgid bit from its parent, and an existing folder can have it already.
            let special = if dress.owner.is_none() { mode_of(&stat(&handle)?) & 0o7000 } else { 0 };
            Dress { mode: dress.mode | special, ..dress }.put_on(&handle, || self.path(), &self.ledger)
        });
        if let Err(trouble) = filled {
            self.ledger.fail_late(number, &self.path(), trouble);
        }
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// The temporary names of files that are not complete.
    pub(super) fn names(&self) -> &DraftNames {
        &self.ledger.names
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<Arc<OwnedFd>>> {
        self.handle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, slot: &mut Option<Arc<OwnedFd>>, handle: Arc<OwnedFd>) {
        if slot.replace(handle).is_none() {
            self.ledger.folders.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the open folder, and opens it if necessary.
    pub(super) fn handle(&self) -> Result<Arc<OwnedFd>, Trouble> {
        // This folder and those above it that are not open.
        let mut closed = Vec::new();
        let mut folder = self;
        let mut handle = loop {
            if let Some(handle) = &*folder.slot() {
                break Arc::clone(handle);
            }
            closed.push(folder);
            folder = folder.parent.as_deref().ok_or(Trouble::System(Action::Open, Errno::BADF.into()))?;
        };
        for (above, folder) in closed.into_iter().enumerate().rev() {
            let mut slot = folder.slot();
            handle = match &*slot {
                // Another thread opened the folder in the meantime.
                Some(handle) => Arc::clone(handle),
                None => Arc::new(open(&handle, &folder.name).map_err(Trouble::system(Action::Open))?),
            };
            if above < REOPENED {
                folder.keep(&mut slot, Arc::clone(&handle));
            }
        }
        Ok(handle)
    }

    /// Closes the folder for now.
    pub(super) fn close(&self) {
        if self.parent.is_some() && self.slot().take().is_some() {
            self.ledger.folders.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Closes the folder for now, if many folders are open.
    pub(super) fn leave(&self) {
        if self.ledger.folders.load(Ordering::Relaxed) > MANY {
            self.close();
        }
    }

    pub(super) fn path(&self) -> Vec<u8> {
        let mut names = vec![&self.name[..]];
        let mut folder = self;
        while let Some(parent) = &folder.parent {
            folder = parent;
            names.push(&folder.name);
        }
        names.pop();
        names.reverse();
        names.join(&b'/')
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.fill();
        if self.slot().take().is_some() {
            self.ledger.folders.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn open(parent: &OwnedFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    openat(parent, name, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

fn stat(folder: &OwnedFd) -> Result<Stat, Trouble> {
    fstat(folder).map_err(Trouble::system(Action::Read))
}

#[allow(clippy::unnecessary_cast)] // It is narrower on other systems.
fn mode_of(found: &Stat) -> u32 {
    found.st_mode as u32 & 0o7777
}

/// Gives the owner all permissions for a folder that its owner may not read. Returns the mode that the folder had.
/// The mode is set through a descriptor (`O_PATH`), because another folder may have the name by now.
#[cfg(target_os = "linux")]
fn unlock(parent: &OwnedFd, name: &[u8]) -> Result<u32, Errno> {
    use std::os::fd::AsRawFd;
    let place =
        openat(parent, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let mode = mode_of(&fstat(&place)?);
    rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), Mode::from_raw_mode((mode | 0o700) as _))?;
    Ok(mode)
}

#[cfg(not(target_os = "linux"))]
fn unlock(_parent: &OwnedFd, _name: &[u8]) -> Result<u32, Errno> {
    Err(Errno::ACCESS)
}

/// Looks up a name in a folder, without following links. Returns `None` if the name does not exist.
pub(super) fn look(folder: &OwnedFd, name: &[u8]) -> Result<Option<Stat>, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}
