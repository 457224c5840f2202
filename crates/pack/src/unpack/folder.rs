//! Folders that are being filled.
//!
//! A folder gets its own mode and time when nothing more is made in it, which is when the last who holds it lets go: its parent's turn comes after.
//! It is opened when somebody needs it, always through its parent and by its name alone, so that nothing that lies around there can lead elsewhere.

use super::drafts::Names;
use super::ledger::{Ledger, Trouble};
use crate::{Time, shown};
use rustix::fs::{
    AtFlags, Gid, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_OMIT, Uid, fchmod, fchown, fstat, futimens, mkdirat, openat,
};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// How many folders above one that is opened again stay open, as they are likely to be needed next.
const REOPENED: usize = 32;

/// More folders than this are not left open for those who may need them.
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

/// What a folder gets when it is filled.
#[derive(Debug)]
struct AtLast {
    /// The entry that says so.
    number: Option<u64>,
    dress: Dress,
}

/// What files and folders have besides their contents.
#[derive(Clone, Debug, Default)]
pub(super) struct Dress {
    pub(super) mode: u32,
    pub(super) modified: Time,
    pub(super) owner: Option<(u32, u32)>,
    pub(super) attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Dress {
    /// Puts it on what lies at `path`. Who owns a file decides who may change it, so that comes first; the time last, as all else changes it.
    pub(super) fn put_on(&self, handle: &OwnedFd, path: impl Fn() -> Vec<u8>, ledger: &Ledger) -> Result<(), Trouble> {
        if let Some((uid, gid)) = self.owner {
            let (uid, gid) = (Uid::from_raw(uid), Gid::from_raw(gid));
            fchown(handle, Some(uid), Some(gid)).map_err(Trouble::system("set the owner of"))?;
        }
        for (name, value) in &self.attributes {
            match rustix::fs::fsetxattr(handle, &name[..], value, rustix::fs::XattrFlags::empty()) {
                Ok(()) => {}
                Err(Errno::OPNOTSUPP) => ledger.remark("extended attributes are not restored: this file system has none".into()),
                // The system has a limit, and file systems have narrower ones, which some tell from a full disk by nothing. The contents are there,
                // and where the disk is full in truth, the next that are written will say so.
                Err(Errno::TOOBIG | Errno::RANGE | Errno::NOSPC | Errno::DQUOT) => {
                    let (name, path) = (shown(name), shown(&path()));
                    ledger.remark(format!("the extended attribute {name} of {path} is not restored: this file system has no room for it"));
                }
                Err(error) => return Err(Trouble::System("set the extended attributes of", error.into())),
            }
        }
        fchmod(handle, Mode::from_raw_mode(self.mode as _)).map_err(Trouble::system("set the mode of"))?;
        futimens(handle, &times(self.modified)).map_err(Trouble::system("set the time of"))
    }
}

/// The time of last change; that of last access is nobody's business.
pub(super) fn times(modified: Time) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
        last_modification: Timespec { tv_sec: modified.seconds as _, tv_nsec: modified.nanoseconds as _ },
    }
}

impl Folder {
    /// The one everything goes to, if it goes to one.
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

    /// Makes one that is not there yet; `None` if something is.
    pub(super) fn make(parent: &Arc<Self>, name: &[u8], mode: u32) -> Result<Option<Arc<Self>>, Trouble> {
        match mkdirat(&*parent.handle()?, name, Mode::from_raw_mode(mode as _)) {
            Ok(()) => Ok(Some(Self::with(Some(Arc::clone(parent)), name.to_vec(), None, Arc::clone(&parent.ledger)))),
            Err(Errno::EXIST) => Ok(None),
            Err(error) => Err(Trouble::System("create", error.into())),
        }
    }

    /// Enters one that is there. If it is `ours`, it will be left as it was found, and may be filled whatever its mode says.
    pub(super) fn enter(parent: &Arc<Self>, name: &[u8], ours: bool) -> Result<Arc<Self>, Trouble> {
        let above = parent.handle()?;
        let mut locked = None;
        let handle = match open(&above, name) {
            Err(Errno::ACCESS) if ours => {
                locked = Some(unlock(&above, name).map_err(Trouble::system("open"))?);
                open(&above, name)
            }
            result => result,
        };
        let handle = handle.map_err(|error| match error {
            Errno::NOTDIR | Errno::LOOP => {
                Trouble::Other("is in the way: it is no folder", "move it away, or choose another folder with -o")
            }
            error => Trouble::System("open", error.into()),
        })?;
        let found = ours.then(|| fstat(&handle)).transpose().map_err(Trouble::system("read"))?;
        if let Some(found) = &found {
            let mode = mode_of(found);
            if mode & 0o700 != 0o700 {
                fchmod(&handle, Mode::from_raw_mode((mode | 0o700) as _)).map_err(Trouble::system("set the mode of"))?;
            }
        }
        let folder = Self::with(Some(Arc::clone(parent)), name.to_vec(), Some(handle), Arc::clone(&parent.ledger));
        if let Some(found) = found {
            let modified = Time { seconds: found.st_mtime as _, nanoseconds: found.st_mtime_nsec as _ };
            folder.at_last(None, Dress { mode: locked.unwrap_or(mode_of(&found)), modified, ..Dress::default() });
        }
        Ok(folder)
    }

    /// What it gets when it is filled.
    pub(super) fn at_last(&self, number: Option<u64>, dress: Dress) {
        *self.at_last.lock().unwrap_or_else(PoisonError::into_inner) = Some(AtLast { number, dress });
    }

    /// It is filled.
    pub(super) fn fill(&self) {
        let at_last = self.at_last.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(AtLast { number, dress }) = at_last
            && let Err(trouble) = self.handle().and_then(|handle| dress.put_on(&handle, || self.path(), &self.ledger))
        {
            self.ledger.fail_late(number.unwrap_or(u64::MAX), &self.path(), trouble);
        }
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// What files in it are called before they are complete.
    pub(super) fn names(&self) -> &Names {
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

    /// The open folder.
    pub(super) fn handle(&self) -> Result<Arc<OwnedFd>, Trouble> {
        // Those above that are not open, this one first.
        let mut closed = Vec::new();
        let mut folder = self;
        let mut handle = loop {
            if let Some(handle) = &*folder.slot() {
                break Arc::clone(handle);
            }
            closed.push(folder);
            folder = folder.parent.as_deref().ok_or(Trouble::System("open", Errno::BADF.into()))?;
        };
        for (above, folder) in closed.into_iter().enumerate().rev() {
            let mut slot = folder.slot();
            handle = match &*slot {
                // Somebody was quicker.
                Some(handle) => Arc::clone(handle),
                None => Arc::new(open(&handle, &folder.name).map_err(Trouble::system("open"))?),
            };
            if above < REOPENED {
                folder.keep(&mut slot, Arc::clone(&handle));
            }
        }
        Ok(handle)
    }

    /// Closes it for now.
    pub(super) fn close(&self) {
        if self.parent.is_some() && self.slot().take().is_some() {
            self.ledger.folders.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Closes it for now, if many are open.
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

#[allow(clippy::unnecessary_cast)] // It is narrower on other systems.
fn mode_of(found: &Stat) -> u32 {
    found.st_mode as u32 & 0o7777
}

/// Lets the owner into a folder that even he may not read, and says what its mode was. Without opening it, only its name could be used, which may be somebody else's by now.
#[cfg(target_os = "linux")]
fn unlock(parent: &OwnedFd, name: &[u8]) -> Result<u32, Errno> {
    use std::os::fd::AsRawFd;
    let place = openat(parent, name, OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let mode = mode_of(&fstat(&place)?);
    rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), Mode::from_raw_mode((mode | 0o700) as _))?;
    Ok(mode)
}

#[cfg(not(target_os = "linux"))]
fn unlock(_parent: &OwnedFd, _name: &[u8]) -> Result<u32, Errno> {
    Err(Errno::ACCESS)
}

/// A name in a folder, as it is on the disk.
pub(super) fn look(folder: &OwnedFd, name: &[u8]) -> Result<Option<Stat>, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) => Ok(Some(found)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}
