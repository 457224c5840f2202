//! Writes files, and gives them their names.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::folder::{Dress, Folder, os, time};
use super::ledger::Ledger;
use super::trouble::Trouble;
use crate::entry::Time;
use crate::error::{Action, Flaw};
use crate::tar::Map;
use crate::tree::Tree;
use deadpan_disk::portable::FileExt;
use deadpan_disk::{self as disk, FileId, Landing, Replace, cleanup, names};

/// The folder in which an entry is made, and the name of the entry.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: Arc<Folder>,
    pub(super) name: Vec<u8>,
    /// Whether the target folder is new and no other program uses it.
    pub(super) fresh: bool,
    /// Whether an existing file of this name may be replaced.
    pub(super) replace: bool,
    /// The id of the archive file, which is never replaced.
    pub(super) archive: Option<FileId>,
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

    /// Returns whether a file of this name exists and will be replaced. Returns an error if the name belongs to a
    /// folder, or to a file that must not be replaced.
    fn taken(&self, folder: &disk::Folder) -> Result<bool, Trouble> {
        match folder.look(os(&self.name)).map_err(Trouble::system(Action::Create))? {
            None => Ok(false),
            Some(found) if found.is_folder() => Err(Trouble::IS_FOLDER),
            Some(found) if self.archive == Some(found.id) => Err(Trouble::ARCHIVE),
            Some(_) if self.replace => Ok(true),
            Some(_) => Err(Trouble::EXISTS),
        }
    }

    /// Makes a link by `make`. An existing file of this name is replaced atomically.
    fn link(&self, make: impl Fn(&disk::Folder, &OsStr) -> Result<(), LinkTrouble>) -> Result<(), Trouble> {
        let folder = self.folder.handle()?;
        let trouble = |LinkTrouble(action, error)| Trouble::System(action, error);
        let name = os(&self.name);
        match make(&folder, name) {
            Err(LinkTrouble(_, error)) if error.kind() == ErrorKind::AlreadyExists => {}
            result => return result.map_err(trouble),
        }
        self.taken(&folder)?;
        let temporary = names::name(name);
        cleanup::hold(|_| {
            make(&folder, &temporary).map_err(trouble)?;
            let result = folder.rename(&temporary, name);
            // If `temporary` and `name` are names of the same file, `rename` does nothing, and `temporary` must still
            // be removed.
            let _ = folder.remove(&temporary);
            result.map_err(Trouble::system(Action::Create))
        })
    }

    /// Makes a symbolic link.
    pub(super) fn symbolic(&self, target: &[u8], modified: Time, owner: Option<(u32, u32)>) -> Result<(), Trouble> {
        let dress = |folder: &disk::Folder, name: &OsStr| {
            folder.dress_link(name, owner, None).map_err(|error| LinkTrouble(Action::SetOwner, error))?;
            let set = folder.dress_link(name, None, Some(time(modified)));
            set.map_err(|error| LinkTrouble(Action::SetTime, error))
        };
        self.link(|folder, name| {
            folder.symbolic_link(os(target), name).map_err(|error| LinkTrouble(Action::Create, error))?;
            // If setting the owner or the time fails, the link is removed again.
            dress(folder, name).inspect_err(|_| {
                let _ = folder.remove(name);
            })
        })
    }

    /// Makes a hard link to a file or to a symbolic link.
    pub(super) fn hard(&self, folder: &Folder, target: &[u8]) -> Result<(), Trouble> {
        let from = folder.handle()?;
        let found = from.look(os(target)).map_err(Trouble::system(Action::FollowLink))?;
        if !found.is_some_and(|found| found.is_file() || found.is_link()) {
            return Err(NO_FILE);
        }
        self.link(|to, name| to.hard_link(&from, os(target), name).map_err(|error| LinkTrouble(Action::Create, error)))
    }
}

struct LinkTrouble(Action, io::Error);

/// The error for a hard link whose target is neither a file nor a symbolic link.
pub(super) const NO_FILE: Trouble = Trouble::Archive(|path| Flaw::HardLink { path });

/// A file that is not complete. When this value is dropped, the file is removed, unless [`Draft::land`] gave the file
/// its final name before.
#[derive(Debug)]
struct Draft {
    place: Place,
    file: Arc<File>,
    way: DraftWay,
}

/// How a file gets its name.
#[derive(Debug)]
enum DraftWay {
    /// The file has its final name from the beginning: this is safe, because no other program uses the folder of the
    /// file. `None` after the file is complete.
    Named(Option<disk::Folder>),
    /// The file gets its name when it is complete. If `taken` is set, a file with this name already exists, and the new
    /// file replaces it.
    Unnamed { draft: Option<disk::Draft>, taken: bool },
}

impl Draft {
    fn begin(place: Place) -> Result<Self, Trouble> {
        let folder = place.folder.handle()?;
        let name = os(&place.name);
        if !place.fresh {
            let taken = place.taken(&folder)?;
            let draft = disk::Draft::one_of_many_in(&folder, name).map_err(of_disk)?;
            let file = Arc::new(draft.file().try_clone().map_err(Trouble::system(Action::Create))?);
            return Ok(Self { place, file, way: DraftWay::Unnamed { draft: Some(draft), taken } });
        }
        let file = match folder.create(name) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                place.taken(&folder)?;
                folder.remove(name).map_err(Trouble::system(Action::Replace))?;
                folder.create(name)
            }
            result => result,
        };
        let file = Arc::new(file.map_err(Trouble::system(Action::Create))?);
        Ok(Self { place, file, way: DraftWay::Named(Some(folder)) })
    }

    fn land(mut self, dress: &Dress, ledger: &Ledger) -> Result<(), Trouble> {
        dress.put_on(&*self.file, || self.place.path(), ledger)?;
        match &mut self.way {
            DraftWay::Named(folder) => *folder = None,
            DraftWay::Unnamed { draft, taken } => {
                // If the user allows replacing, the file also replaces a file that another program made in the
                // meantime.
                let replace = Replace::any_if(*taken || self.place.replace);
                let landing = Landing { replace, sync: false };
                let landed = draft.take().map(|draft| draft.share().and_then(|()| draft.land_dressed(landing)));
                landed.unwrap_or(Ok(())).map_err(of_disk)?;
            }
        }
        Ok(())
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let DraftWay::Named(Some(folder)) = &self.way {
            let _ = folder.remove(os(&self.place.name));
        }
    }
}

fn of_disk(error: disk::Error) -> Trouble {
    match error {
        disk::Error::Exists => Trouble::EXISTS,
        disk::Error::IsFolder => Trouble::IS_FOLDER,
        disk::Error::System(disk::Step::Write, error) => Trouble::System(Action::Write, error),
        disk::Error::System(_, error) => Trouble::System(Action::Create, error),
        error => Trouble::System(Action::Create, io::Error::other(error)),
    }
}

pub(super) fn write_whole(place: Place, dress: &Dress, bytes: &[u8], ledger: &Ledger) -> Result<(), Trouble> {
    let draft = Draft::begin(place)?;
    draft.file.write_all_at(bytes, 0).map_err(Trouble::system(Action::Write))?;
    draft.land(dress, ledger)
}

/// A file whose content is passed to the unpacker in several pieces. Several threads write these pieces.
#[derive(Debug)]
pub(super) struct Growing {
    number: u64,
    file: Arc<File>,
    /// The draft. The draft; `None` after the file received its name or was removed.
    draft: Mutex<Option<Draft>>,
    dress: Dress,
    /// The map of a file with holes. Empty until the map is read.
    pub(super) map: OnceLock<Map>,
    sparse: bool,
    tree: Option<Tree>,
    hash: OnceLock<[u8; 32]>,
    /// The number of bytes of the content that are not written yet.
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
            draft.file.set_len(plan.size).map_err(Trouble::system(Action::Write))?;
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

    /// Writes a piece of the content. When the last missing piece is written, the file gets its name.
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
        // The lock is released at the end of this statement, because `fail` takes the same lock inside the `match`
        // below.
        let draft = self.draft.lock().take();
        match draft.map(|draft| draft.land(&self.dress, &self.ledger)) {
            Some(Ok(())) => self.ledger.complete(self.number, self.hash.get().copied()),
            Some(Err(trouble)) => self.fail(trouble),
            None => {}
        }
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Trouble> {
        let write_at =
            |bytes: &[u8], offset| self.file.write_all_at(bytes, offset).map_err(Trouble::system(Action::Write));
        if !self.sparse {
            return write_at(bytes, offset);
        }
        let Some(map) = self.map.get() else { return Ok(()) };
        // A piece may begin with the stored map of the holes, which is not written.
        let pieces: Vec<_> = map.pieces(offset, bytes.len() as u64).collect();
        let mut begin = bytes.len() - pieces.iter().map(|(_, length)| *length as usize).sum::<usize>();
        for (place, length) in pieces {
            let end = begin + length as usize;
            write_at(&bytes[begin..end], place)?;
            begin = end;
        }
        Ok(())
    }

    fn fail(&self, trouble: Trouble) {
        if !self.failed.swap(true, Ordering::AcqRel) {
            drop(self.draft.lock().take());
            self.ledger.fail(self.number, trouble);
        }
    }
}
