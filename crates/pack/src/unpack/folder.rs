//! Folders into which entries are unpacked.
//!
//! A folder gets its mode and time when it is full, which means when its last reference is dropped. The last reference
//! to a folder is dropped before the last reference to its parent. A folder is opened when it is needed, relative to
//! its parent and by a single name, so that no symbolic link is followed.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;

use super::ledger::Ledger;
use super::trouble::Trouble;
use crate::entry::Time;
use crate::error::{Action, Flaw, words};
use crate::shown::shown;
use deadpan_disk::{self as disk, About, FileId, Handle};

/// When a folder is opened again, this many folders above it stay open, since they are likely to be needed next.
const REOPENED: usize = 32;

/// If at least this many folders are open, a folder is closed when the next entry is in another folder. Fewer folders
/// stay open where the system allows few open files.
const MANY: usize = 128;

/// A folder.
#[derive(Debug)]
pub(super) struct Folder {
    parent: Option<Arc<Folder>>,
    name: Vec<u8>,
    handle: Mutex<Option<disk::Folder>>,
    /// The identity that is expected when the folder is opened again. Set if other users may be able to exchange the
    /// folder.
    id: Option<FileId>,
    at_last: Mutex<Option<AtLast>>,
    ledger: Arc<Ledger>,
}

/// The properties that a folder gets when it is full.
#[derive(Debug)]
struct AtLast {
    /// The number of the entry that describes the folder.
    number: Option<u64>,
    dress: Dress,
    /// The folder existed before this run: if the run fails, the folder gets no properties from the archive.
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
    pub(super) fn put_on(
        &self,
        handle: &impl Handle,
        path: impl Fn() -> Vec<u8>,
        ledger: &Ledger,
    ) -> Result<(), Trouble> {
        if let Some((uid, gid)) = self.owner {
            handle.set_owner(Some(uid), gid).map_err(Trouble::system(Action::SetOwner))?;
        }
        for (name, value) in &self.attributes {
            let Err(error) = handle.set_attribute(name, value) else { continue };
            match error.kind() {
                ErrorKind::Unsupported => {
                    ledger.remark("extended attributes are not restored: this file system has none".into())
                }
                // If the disk is full, writing the next content fails.
                ErrorKind::StorageFull => {
                    let (name, path) = (shown(name), shown(&path()));
                    ledger.remark(format!(
                        "the extended attribute {name} of {path} is not restored: this file system has no room for it"
                    ));
                }
                // Root in a container may lack the permission to set attributes that grant rights.
                _ if !name.starts_with(b"user.") => {
                    let (name, path, why) = (shown(name), shown(&path()), words(&error));
                    ledger.remark(format!("the extended attribute {name} of {path} is not restored: {why}"));
                }
                _ => return Err(Trouble::System(Action::SetAttributes, error)),
            }
        }
        handle.set_mode(self.mode).map_err(Trouble::system(Action::SetMode))?;
        handle.set_modified_at(time(self.modified)).map_err(Trouble::system(Action::SetTime))
    }
}

/// Returns a time in the form that the system takes.
pub(super) fn time(modified: Time) -> (i64, u32) {
    (modified.seconds, modified.nanoseconds)
}

/// Returns the name of an entry in the form that the system takes.
pub(super) fn os(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}

impl Folder {
    /// Makes the record of the target folder. `handle` is `None` if there is no target.
    pub(super) fn target(handle: Option<disk::Folder>, ledger: Arc<Ledger>) -> Arc<Self> {
        Self::with(None, Vec::new(), handle, ledger)
    }

    fn with(parent: Option<Arc<Self>>, name: Vec<u8>, handle: Option<disk::Folder>, ledger: Arc<Ledger>) -> Arc<Self> {
        let id = handle.as_ref().and_then(|handle| handle.about().ok()).map(|about| about.id);
        let folder = Self { parent, name, handle: Mutex::default(), id, at_last: Mutex::default(), ledger };
        if let Some(handle) = handle {
            folder.keep(&mut folder.handle.lock(), handle);
        }
        Arc::new(folder)
    }

    /// Makes a folder. Returns `None` if the name exists. Other users cannot see into a `fresh` target.
    pub(super) fn make(parent: &Arc<Self>, name: &[u8], mode: u32, fresh: bool) -> Result<Option<Arc<Self>>, Trouble> {
        let above = parent.handle()?;
        let made = if fresh {
            above.make(os(name), mode).map(|()| None)
        } else {
            above.make_and_enter(os(name), mode).map(Some)
        };
        match made {
            Ok(made) => Ok(Some(Self::with(Some(Arc::clone(parent)), name.to_vec(), made, Arc::clone(&parent.ledger)))),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(Trouble::System(Action::Create, error)),
        }
    }

    /// Opens an existing folder to unpack into it. If this run has made the folder or replaces it (`ours`), a mode that
    /// forbids access is changed for the time of unpacking. The folder's mode and time are restored afterwards. A
    /// folder that this run has not `made` is refused if another user may have planted it.
    pub(super) fn enter(parent: &Arc<Self>, name: &[u8], ours: bool, made: bool) -> Result<Arc<Self>, Trouble> {
        let above = parent.handle()?;
        let mut locked = None;
        let handle = match above.enter(os(name)) {
            Err(error) if ours && error.kind() == ErrorKind::PermissionDenied => {
                locked = Some(above.unlock(os(name)).map_err(Trouble::system(Action::Open))?);
                above.enter(os(name))
            }
            result => result,
        };
        let handle = handle.map_err(|error| match error.kind() {
            ErrorKind::NotADirectory => Trouble::Archive(|path| Flaw::InTheWay { path }),
            _ => Trouble::System(Action::Open, error),
        })?;
        if !made && let Some(planted) = handle.planted_in(&above).map_err(Trouble::system(Action::Open))? {
            parent.ledger.refused.store(true, Ordering::Relaxed);
            let error = io::Error::new(ErrorKind::PermissionDenied, disk::Error::Planted(planted));
            return Err(Trouble::System(Action::Open, error));
        }
        let found = ours.then(|| about(&handle)).transpose()?;
        if let Some(found) = found.filter(|found| found.mode & 0o700 != 0o700) {
            handle.set_mode(found.mode | 0o700).map_err(Trouble::system(Action::SetMode))?;
        }
        let folder = Self::with(Some(Arc::clone(parent)), name.to_vec(), Some(handle), Arc::clone(&parent.ledger));
        if let Some(found) = found {
            let (seconds, nanoseconds) = found.modified;
            let modified = Time { seconds, nanoseconds };
            let dress = Dress { mode: locked.unwrap_or(found.mode), modified, ..Dress::default() };
            let at_last = AtLast { number: None, found: Some(dress.clone()), dress, existed: true };
            *folder.at_last.lock() = Some(at_last);
        }
        Ok(folder)
    }

    /// Records the properties that the folder gets when it is full. `existed` states whether the folder existed before
    /// this run.
    pub(super) fn at_last(&self, number: u64, dress: Dress, existed: bool) {
        let mut at_last = self.at_last.lock();
        let found = at_last.take().and_then(|before| before.found);
        *at_last = Some(AtLast { number: Some(number), dress, existed, found });
    }

    /// Sets the folder's mode and time. Afterwards, no entry may be made in the folder.
    pub(super) fn fill(&self) {
        let at_last = self.at_last.lock().take();
        let Some(at_last) = at_last else { return };
        let (number, existed) = (at_last.number.unwrap_or(u64::MAX), at_last.existed);
        let Some(dress) = at_last.dress(self.ledger.stopped() || self.ledger.refused.load(Ordering::Relaxed)) else {
            return;
        };
        let filled = self.handle().and_then(|handle| {
            // A new folder can inherit the setgid bit from its parent, and an existing folder can have it already.
            let special = if dress.owner.is_none() { about(&handle)?.mode & 0o7000 } else { 0 };
            Dress { mode: dress.mode | special, ..dress }.put_on(&handle, || self.path(), &self.ledger)
        });
        match filled {
            // A user may be allowed to write into a folder of another user, but cannot set the folder's mode and time.
            Err(Trouble::System(Action::SetMode | Action::SetTime, error))
                if existed && error.kind() == ErrorKind::PermissionDenied =>
            {
                let path = self.path();
                let name = if path.is_empty() { "the target folder".into() } else { shown(&path) };
                self.ledger.remark(format!("mode and time of {name} stay as they were: it belongs to another user"));
            }
            Err(trouble) => self.ledger.fail_late(number, &self.path(), trouble),
            Ok(()) => {}
        }
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    fn keep(&self, slot: &mut Option<disk::Folder>, handle: disk::Folder) {
        if slot.replace(handle).is_none() {
            self.ledger.folders.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns the open folder, and opens it if necessary.
    pub(super) fn handle(&self) -> Result<disk::Folder, Trouble> {
        // The folders on the path to this folder that are not open, including this folder.
        let mut closed = Vec::new();
        let mut folder = self;
        let mut handle = loop {
            if let Some(handle) = &*folder.handle.lock() {
                break handle.clone();
            }
            closed.push(folder);
            folder = folder.parent.as_deref().ok_or(Trouble::System(Action::Open, io::ErrorKind::NotFound.into()))?;
        };
        for (above, folder) in closed.into_iter().enumerate().rev() {
            let mut slot = folder.handle.lock();
            handle = match &*slot {
                // Another thread opened the folder in the meantime.
                Some(handle) => handle.clone(),
                None => folder.enter_again(&handle).map_err(Trouble::system(Action::Open))?,
            };
            if above < REOPENED {
                folder.keep(&mut slot, handle.clone());
            }
        }
        Ok(handle)
    }

    fn enter_again(&self, above: &disk::Folder) -> io::Result<disk::Folder> {
        let entered = above.enter(os(&self.name))?;
        match self.id {
            Some(id) if entered.about()?.id != id => Err(disk::Exchanged.into()),
            _ => Ok(entered),
        }
    }

    /// Closes the folder for now.
    pub(super) fn close(&self) {
        if self.parent.is_some() && self.handle.lock().take().is_some() {
            self.ledger.folders.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Returns how many folders on a path from the target may be open at the same time.
    pub(super) fn most_on_a_way(&self) -> usize {
        (self.ledger.most_open / 8).max(1)
    }

    /// Closes the folder for now, if many folders are open.
    pub(super) fn leave(&self) {
        if self.ledger.folders.load(Ordering::Relaxed) > MANY.min(self.ledger.most_open / 4) {
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
        if self.handle.lock().take().is_some() {
            self.ledger.folders.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn about(folder: &disk::Folder) -> Result<About, Trouble> {
    folder.about().map_err(Trouble::system(Action::Read))
}
