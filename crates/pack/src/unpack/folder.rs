//! Folders into which entries are unpacked.
//!
//! A folder gets its mode and time when its last reference is dropped, because it is then full. The last reference to a
//! folder is dropped before the last reference to its parent. A folder is opened only when it is needed, by a single
//! name relative to its parent folder, so that no symbolic link is followed.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::Mutex;

use super::ledger::Ledger;
use super::trouble::Trouble;
use crate::entry::Time;
use crate::error::{Action, Flaw, words};
use crate::shown::shown;
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{self as disk, About, FileId, Handle};

/// To open a folder again, the folders on its path are opened. At most this many of them stay open, the deepest ones,
/// which are likely to be needed next.
const REOPENED: usize = 32;

/// If at least this many folders are open, a folder is closed when the unpacker continues in another folder. The number
/// is smaller if the system allows few open files.
const MANY: usize = 128;

/// A folder.
#[derive(Debug)]
pub(super) struct Folder {
    parent: Option<Arc<Folder>>,
    name: Vec<u8>,
    handle: Mutex<Option<disk::Folder>>,
    /// The id that the folder must have when it is opened again. The id is set if another user may be able to put
    /// another folder in the place of this folder.
    id: Option<FileId>,
    at_last: Mutex<Option<AtLast>>,
    ledger: Arc<Ledger>,
}

/// The properties that a folder gets after its last entry was made.
#[derive(Debug)]
struct AtLast {
    /// The number of the entry in the archive that describes the folder.
    number: Option<u64>,
    dress: Dress,
    /// Whether the folder existed before this run; such a folder gets no properties from the archive if the run fails.
    existed: bool,
    /// The mode and time of the folder when this run entered it.
    found: Option<Dress>,
}

impl AtLast {
    /// Returns the properties that the folder gets in the end. If the run failed and the folder existed before, these
    /// are the folder's original properties.
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
                // A full disk is not an error here: writing the next content will fail in any case.
                ErrorKind::StorageFull => {
                    let (name, path) = (shown(name), shown(&path()));
                    ledger.remark(format!(
                        "the extended attribute {name} of {path} is not restored: this file system has no room for it"
                    ));
                }
                // Even root may lack the permission to set attributes that grant rights, for example in a container.
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

pub(super) fn time(modified: Time) -> (i64, u32) {
    (modified.seconds, modified.nanoseconds)
}

pub(super) fn os(name: &[u8]) -> &OsStr {
    OsStr::from_bytes(name)
}

impl Folder {
    /// `handle` is `None` if nothing is unpacked into a folder.
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

    /// Makes a folder. Returns `None` if the name exists. Other users have no access to the contents of a `fresh`
    /// target.
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

    /// Opens an existing folder to unpack into it. If `ours` is set (this run made the folder or may replace it), a
    /// mode that forbids access is changed during unpacking. After unpacking, the folder's mode and time are restored.
    /// If `made` is not set, a folder that another user may have put there as an attack is refused.
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

    /// Records the properties that the folder gets after its last entry was made. `existed` means that the folder
    /// existed before this run.
    pub(super) fn at_last(&self, number: u64, dress: Dress, existed: bool) {
        let mut at_last = self.at_last.lock();
        let found = at_last.take().and_then(|before| before.found);
        *at_last = Some(AtLast { number: Some(number), dress, existed, found });
    }

    /// Sets the folder's mode and time. After this call, no entry may be made in the folder.
    pub(super) fn fill(&self) {
        let at_last = self.at_last.lock().take();
        let Some(at_last) = at_last else { return };
        let (number, existed) = (at_last.number.unwrap_or(u64::MAX), at_last.existed);
        let Some(dress) = at_last.dress(self.ledger.stopped() || self.ledger.refused.load(Ordering::Relaxed)) else {
            return;
        };
        let filled = self.handle().and_then(|handle| {
            // The setgid bit is kept: a new folder can inherit the bit from its parent, and an existing folder can
            // already have it.
            let special = if dress.owner.is_none() { about(&handle)?.mode & 0o7000 } else { 0 };
            Dress { mode: dress.mode | special, ..dress }.put_on(&handle, || self.path(), &self.ledger)
        });
        match filled {
            // A user may have the right to write into another user's folder, but still cannot set the mode and time of
            // that folder.
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

    /// Returns the handle of the folder; opens the folder if it is not open.
    pub(super) fn handle(&self) -> Result<disk::Folder, Trouble> {
        // All folders that are not open, beginning with this folder and continuing with its parents.
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
                // Another thread has opened the folder in the meantime.
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

    /// Returns how many folders that contain each other may be open at the same time.
    pub(super) fn most_on_a_way(&self) -> usize {
        (self.ledger.most_open / 8).max(1)
    }

    /// Closes the folder if many folders are open; it can be opened again.
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
