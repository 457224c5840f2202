//! Files that are being written, and their names.

use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, ftruncate, linkat, openat, renameat, symlinkat, unlinkat, utimensat,
};
use rustix::io::{Errno, pwrite};

use super::folder::{Dress, Folder, look, times};
use super::ledger::Ledger;
use super::trouble::Trouble;
use crate::draft;
use crate::entry::Time;
use crate::error::{Action, Flaw};
use crate::tar::Map;
use crate::tree::Tree;

/// The folder and the name of an entry that is being made.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: Arc<Folder>,
    pub(super) name: Vec<u8>,
    /// The target folder is new, and no other program uses it.
    pub(super) fresh: bool,
    /// An existing file of this name is replaced.
    pub(super) replace: bool,
    /// The device and the inode of the archive, which is never replaced.
    pub(super) archive: Option<(u64, u64)>,
}

impl Place {
    fn path(&self) -> Vec<u8> {
        let mut path = self.folder.path();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(&self.name);
        path
    }

    /// Returns whether a file of this name exists and will be replaced. Fails if a file exists that must not be
    /// replaced, or a folder.
    fn taken(&self, folder: &OwnedFd) -> Result<bool, Trouble> {
        match look(folder, &self.name).map_err(Trouble::system(Action::Create))? {
            None => Ok(false),
            Some(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => Err(Trouble::IS_FOLDER),
            Some(found) if self.archive == Some((found.st_dev, found.st_ino)) => Err(Trouble::ARCHIVE),
            Some(_) if self.replace => Ok(true),
            Some(_) => Err(Trouble::EXISTS),
        }
    }

    /// Makes a link by `make`. An existing file of this name is replaced in one step.
    pub(super) fn link(&self, make: impl Fn(&OwnedFd, &[u8]) -> Result<(), LinkTrouble>) -> Result<(), Trouble> {
        let folder = self.folder.handle()?;
        let trouble = |LinkTrouble(action, error)| Trouble::system(action)(error);
        match make(&folder, &self.name) {
            Err(LinkTrouble(_, Errno::EXIST)) => {}
            result => return result.map_err(trouble),
        }
        self.taken(&folder)?;
        let temporary = draft::name(&self.name);
        self.folder.names().change(|| {
            make(&folder, &temporary).map_err(trouble)?;
            let result = renameat(&folder, &temporary, &folder, &self.name);
            // If both names lead to the same file, `rename` does nothing, so the temporary name still exists.
            let _ = unlinkat(&folder, &temporary, AtFlags::empty());
            result.map_err(Trouble::system(Action::Create))
        })
    }

    /// Makes a symbolic link.
    pub(super) fn symbolic(&self, target: &[u8], modified: Time, owner: Option<(u32, u32)>) -> Result<(), Trouble> {
        let dress = |folder: &OwnedFd, name: &[u8]| {
            if let Some((uid, gid)) = owner {
                let (uid, gid) = (rustix::fs::Uid::from_raw(uid), rustix::fs::Gid::from_raw(gid));
                let given = rustix::fs::chownat(folder, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW);
                given.map_err(|error| LinkTrouble(Action::SetOwner, error))?;
            }
            utimensat(folder, name, &times(modified), AtFlags::SYMLINK_NOFOLLOW)
                .map_err(|error| LinkTrouble(Action::SetTime, error))
        };
        self.link(|folder, name| {
            symlinkat(target, folder, name).map_err(|error| LinkTrouble(Action::Create, error))?;
            // If the owner or time cannot be set, the link is removed.
            dress(folder, name).inspect_err(|_| {
                let _ = unlinkat(folder, name, AtFlags::empty());
            })
        })
    }

    /// Makes another name of a file or of a symbolic link.
    pub(super) fn hard(&self, folder: &Folder, target: &[u8]) -> Result<(), Trouble> {
        let from = folder.handle()?;
        let found = look(&from, target).map_err(Trouble::system(Action::FollowLink))?;
        let kind = found.as_ref().map(|found| FileType::from_raw_mode(found.st_mode));
        if !matches!(kind, Some(FileType::RegularFile | FileType::Symlink)) {
            return Err(NO_FILE);
        }
        self.link(|to, name| {
            linkat(&from, target, to, name, AtFlags::empty()).map_err(|error| LinkTrouble(Action::Create, error))
        })
    }
}

/// The operation on a link that failed, and the system's error.
pub(super) struct LinkTrouble(Action, Errno);

/// The failure of a hard link whose target is neither a file nor a link.
pub(super) const NO_FILE: Trouble = Trouble::Archive(|path| Flaw::HardLink { path });

/// A file that is not complete. Dropping the draft removes the file, unless [`Draft::land`] gave it its name.
#[derive(Debug)]
struct Draft {
    place: Place,
    folder: Arc<OwnedFd>,
    file: Arc<OwnedFd>,
    /// The temporary name, if the file has one.
    temporary: Option<Vec<u8>>,
    /// An existing file of this name is to be replaced.
    taken: bool,
    landed: bool,
}

impl Draft {
    fn begin(place: Place) -> Result<Self, Trouble> {
        let folder = place.folder.handle()?;
        let create = |name: &[u8]| {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            openat(&folder, name, flags, Mode::RUSR | Mode::WUSR)
        };
        if !place.fresh {
            let taken = place.taken(&folder)?;
            let temporary = draft::name(&place.name);
            let names = place.folder.names();
            let file = names.change(|| {
                let file = create(&temporary).map_err(Trouble::system(Action::Create))?;
                names.add(&temporary, &folder);
                Ok(file)
            })?;
            return Ok(Self { place, folder, file: Arc::new(file), temporary: Some(temporary), taken, landed: false });
        }
        let file = match create(&place.name) {
            Err(Errno::EXIST) => {
                place.taken(&folder)?;
                unlinkat(&folder, &place.name, AtFlags::empty()).map_err(Trouble::system(Action::Replace))?;
                create(&place.name)
            }
            result => result,
        };
        let file = file.map_err(Trouble::system(Action::Create))?;
        Ok(Self { place, folder, file: Arc::new(file), temporary: None, taken: false, landed: false })
    }

    fn land(mut self, dress: &Dress, ledger: &Ledger) -> Result<(), Trouble> {
        dress.put_on(&self.file, || self.place.path(), ledger)?;
        if let Some(temporary) = &self.temporary {
            if self.taken {
                // Sync the new file before it replaces the old one, so that one of them survives a crash.
                rustix::fs::fsync(&self.file).map_err(Trouble::system(Action::Write))?;
            }
            let names = self.place.folder.names();
            names.change(|| {
                self.rename(temporary)?;
                names.forget(temporary);
                Ok(())
            })?;
        }
        self.landed = true;
        Ok(())
    }

    /// Gives the file its final name.
    fn rename(&self, temporary: &[u8]) -> Result<(), Trouble> {
        if self.taken {
            return renameat(&self.folder, temporary, &self.folder, &self.place.name)
                .map_err(Trouble::system(Action::Replace));
        }
        match draft::rename_new(&self.folder, temporary, &self.place.name) {
            // Another program made a file of this name in the meantime.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && self.place.replace => {
                rustix::fs::fsync(&self.file).map_err(Trouble::system(Action::Write))?;
                match renameat(&self.folder, temporary, &self.folder, &self.place.name) {
                    Err(Errno::ISDIR) => Err(Trouble::IS_FOLDER),
                    result => result.map_err(Trouble::system(Action::Replace)),
                }
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Trouble::EXISTS),
            result => result.map_err(|error| Trouble::System(Action::Create, error)),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.landed {
            return;
        }
        let _ = unlinkat(&self.folder, self.temporary.as_ref().unwrap_or(&self.place.name), AtFlags::empty());
        if let Some(temporary) = &self.temporary {
            self.place.folder.names().forget(temporary);
        }
    }
}

fn write_at(file: impl AsFd, mut bytes: &[u8], mut offset: u64) -> Result<(), Trouble> {
    while !bytes.is_empty() {
        match pwrite(&file, bytes, offset) {
            Ok(0) => return Err(Trouble::System(Action::Write, ErrorKind::WriteZero.into())),
            Ok(written) => (bytes, offset) = (&bytes[written..], offset + written as u64),
            Err(Errno::INTR) => {}
            Err(error) => return Err(Trouble::System(Action::Write, error.into())),
        }
    }
    Ok(())
}

/// Makes, writes and closes a file whose whole content is in `bytes`.
pub(super) fn write_whole(place: Place, dress: &Dress, bytes: &[u8], ledger: &Ledger) -> Result<(), Trouble> {
    let draft = Draft::begin(place)?;
    write_at(&draft.file, bytes, 0)?;
    draft.land(dress, ledger)
}

/// A file whose content arrives in several pieces, which several threads write.
#[derive(Debug)]
pub(super) struct Growing {
    number: u64,
    file: Arc<OwnedFd>,
    /// The draft. `None` after the file got its name or was removed.
    draft: Mutex<Option<Draft>>,
    dress: Dress,
    /// The map of a file with holes. Empty until the map is read.
    pub(super) map: OnceLock<Map>,
    sparse: bool,
    tree: Option<Tree>,
    hash: OnceLock<[u8; 32]>,
    /// Bytes of the content that are not written yet.
    left: AtomicU64,
    failed: AtomicBool,
    ledger: Arc<Ledger>,
}

/// The properties of a file whose content arrives in several pieces.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) number: u64,
    pub(super) dress: Dress,
    pub(super) sparse: bool,
    pub(super) size: u64,
    pub(super) stored: u64,
    pub(super) hashed: bool,
}

impl Growing {
    pub(super) fn begin(place: Place, plan: Plan, ledger: Arc<Ledger>) -> Result<Self, Trouble> {
        let draft = Draft::begin(place)?;
        if plan.sparse {
            ftruncate(&draft.file, plan.size).map_err(Trouble::system(Action::Write))?;
        }
        Ok(Self {
            number: plan.number,
            file: Arc::clone(&draft.file),
            draft: Mutex::new(Some(draft)),
            dress: plan.dress,
            map: OnceLock::new(),
            sparse: plan.sparse,
            tree: plan.hashed.then(|| Tree::new(plan.stored)),
            hash: OnceLock::new(),
            left: AtomicU64::new(plan.stored),
            failed: AtomicBool::new(false),
            ledger,
        })
    }

    /// Writes a piece of the content. The piece that is written last completes the file.
    pub(super) fn put(&self, offset: u64, bytes: &[u8]) {
        if let Some(hash) = self.tree.as_ref().and_then(|tree| tree.add(offset, bytes)) {
            let _ = self.hash.set(hash);
        }
        if !self.failed.load(Ordering::Acquire)
            && let Err(trouble) = self.write(offset, bytes)
        {
            self.fail(trouble);
        }
        let last = self.left.fetch_sub(bytes.len() as u64, Ordering::AcqRel) == bytes.len() as u64;
        if !last || self.failed.load(Ordering::Acquire) {
            return;
        }
        // A lock taken in the head of the `match` would be held until its end, and `fail` takes the same lock.
        let draft = self.draft().take();
        match draft.map(|draft| draft.land(&self.dress, &self.ledger)) {
            Some(Ok(())) => self.ledger.complete(self.number, self.hash.get().copied()),
            Some(Err(trouble)) => self.fail(trouble),
            None => {}
        }
    }

    fn draft(&self) -> MutexGuard<'_, Option<Draft>> {
        self.draft.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Trouble> {
        if !self.sparse {
            return write_at(&self.file, bytes, offset);
        }
        let Some(map) = self.map.get() else { return Ok(()) };
        // The stored content begins with the bytes of the map.
        let pieces: Vec<_> = map.pieces(offset, bytes.len() as u64).collect();
        let mut begin = bytes.len() - pieces.iter().map(|(_, length)| *length as usize).sum::<usize>();
        for (place, length) in pieces {
            let end = begin + length as usize;
            write_at(&self.file, &bytes[begin..end], place)?;
            begin = end;
        }
        Ok(())
    }

    fn fail(&self, trouble: Trouble) {
        if !self.failed.swap(true, Ordering::AcqRel) {
            drop(self.draft().take());
            self.ledger.fail(self.number, trouble);
        }
    }
}
