//! Files that are being written, and the names they get.

use super::folder::{Dress, Folder, look, times};
use super::ledger::{Ledger, Trouble};
use crate::Time;
use crate::tar::Map;
use crate::tree::Tree;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ftruncate, linkat, openat, renameat, symlinkat, unlinkat, utimensat};
use rustix::io::{Errno, pwrite};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Room for the dots, the random part and the suffix within the 255 bytes that names may have.
const LONGEST_STEM: usize = 200;

/// Where something is to be.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) folder: Arc<Folder>,
    pub(super) name: Vec<u8>,
    /// The target folder is nobody else's.
    pub(super) fresh: bool,
    /// What has the name may go.
    pub(super) replace: bool,
}

impl Place {
    /// A name nobody has, for until it is complete.
    fn temporary(&self) -> Vec<u8> {
        let random = RandomState::new().build_hasher().finish();
        let stem = &self.name[..self.name.len().min(LONGEST_STEM)];
        [b".", stem, format!(".{random:016x}.deadpan-part").as_bytes()].concat()
    }

    fn path(&self) -> Vec<u8> {
        let mut path = self.folder.path();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(&self.name);
        path
    }

    /// Whether something has the name that may be replaced; nothing else may have it.
    fn taken(&self, folder: &OwnedFd) -> Result<bool, Trouble> {
        match look(folder, &self.name).map_err(Trouble::system("create"))? {
            None => Ok(false),
            Some(found) if FileType::from_raw_mode(found.st_mode) == FileType::Directory => Err(Trouble::IsFolder),
            Some(_) if self.replace => Ok(true),
            Some(_) => Err(Trouble::Exists),
        }
    }

    /// Makes what is made in one go, a link, by `make`. If something has the name, it is replaced in one go too.
    pub(super) fn link(&self, make: impl Fn(&OwnedFd, &[u8]) -> Result<(), LinkTrouble>) -> Result<(), Trouble> {
        let folder = self.folder.handle()?;
        let trouble = |LinkTrouble(verb, error)| Trouble::system(verb)(error);
        match make(&folder, &self.name) {
            Err(LinkTrouble(_, Errno::EXIST)) => {}
            result => return result.map_err(trouble),
        }
        self.taken(&folder)?;
        let temporary = self.temporary();
        self.folder.names().change(|| {
            make(&folder, &temporary).map_err(trouble)?;
            let result = renameat(&folder, &temporary, &folder, &self.name);
            // A link renamed onto another name of the same file stays where it is.
            let _ = unlinkat(&folder, &temporary, AtFlags::empty());
            result.map_err(Trouble::system("create"))
        })
    }

    /// Makes a symbolic link.
    pub(super) fn symbolic(&self, target: &[u8], modified: Time, owner: Option<(u32, u32)>) -> Result<(), Trouble> {
        let dress = |folder: &OwnedFd, name: &[u8]| {
            if let Some((uid, gid)) = owner {
                let (uid, gid) = (rustix::fs::Uid::from_raw(uid), rustix::fs::Gid::from_raw(gid));
                let given = rustix::fs::chownat(folder, name, Some(uid), Some(gid), AtFlags::SYMLINK_NOFOLLOW);
                given.map_err(|error| LinkTrouble("set the owner of", error))?;
            }
            utimensat(folder, name, &times(modified), AtFlags::SYMLINK_NOFOLLOW).map_err(|error| LinkTrouble("set the time of", error))
        };
        self.link(|folder, name| {
            symlinkat(target, folder, name).map_err(|error| LinkTrouble("create", error))?;
            // What failed is not there, as with files.
            dress(folder, name).inspect_err(|_| {
                let _ = unlinkat(folder, name, AtFlags::empty());
            })
        })
    }

    /// Makes another name of a file, which must be one.
    pub(super) fn hard(&self, folder: &Folder, target: &[u8]) -> Result<(), Trouble> {
        let from = folder.handle()?;
        let regular = |found: &rustix::fs::Stat| FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        if !look(&from, target).map_err(Trouble::system("link to what is the target of"))?.as_ref().is_some_and(regular) {
            return Err(NO_FILE);
        }
        self.link(|to, name| linkat(&from, target, to, name, AtFlags::empty()).map_err(|error| LinkTrouble("create", error)))
    }
}

/// What could not be done to a link, and what the system says.
pub(super) struct LinkTrouble(&'static str, Errno);

/// A hard link to something else.
pub(super) const NO_FILE: Trouble = Trouble::Other(
    "is a hard link to something that is no earlier file of the archive",
    "the archive may be meant to do harm; --keep-going unpacks the rest",
);

/// A file that is not complete. Unless it lands, it goes when this is dropped.
#[derive(Debug)]
struct Draft {
    place: Place,
    folder: Arc<OwnedFd>,
    file: Arc<OwnedFd>,
    /// Its name until then, if that is not its own.
    temporary: Option<Vec<u8>>,
    /// Something has the name, and is to be replaced.
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
            let temporary = place.temporary();
            let names = place.folder.names();
            let file = names.change(|| {
                let file = create(&temporary).map_err(Trouble::system("create"))?;
                names.add(&temporary, &folder);
                Ok(file)
            })?;
            return Ok(Self { place, folder, file: Arc::new(file), temporary: Some(temporary), taken, landed: false });
        }
        let file = match create(&place.name) {
            Err(Errno::EXIST) => {
                place.taken(&folder)?;
                unlinkat(&folder, &place.name, AtFlags::empty()).map_err(Trouble::system("replace"))?;
                create(&place.name)
            }
            result => result,
        };
        let file = file.map_err(Trouble::system("create"))?;
        Ok(Self { place, folder, file: Arc::new(file), temporary: None, taken: false, landed: false })
    }

    fn land(mut self, dress: &Dress, ledger: &Ledger) -> Result<(), Trouble> {
        dress.put_on(&self.file, || self.place.path(), ledger)?;
        if let Some(temporary) = &self.temporary {
            if self.taken {
                // On the disk before the name points to it, so that no crash leaves neither.
                rustix::fs::fsync(&self.file).map_err(Trouble::system("write"))?;
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

    /// Gives it its own name.
    fn rename(&self, temporary: &[u8]) -> Result<(), Trouble> {
        if self.taken {
            return renameat(&self.folder, temporary, &self.folder, &self.place.name).map_err(Trouble::system("replace"));
        }
        match rename_new(&self.folder, temporary, &self.place.name) {
            Err(Errno::EXIST) => Err(Trouble::Exists),
            result => result.map_err(Trouble::system("create")),
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

/// Renames, unless something has the name.
fn rename_new(folder: &OwnedFd, from: &[u8], to: &[u8]) -> Result<(), Errno> {
    #[cfg(target_os = "linux")]
    match rustix::fs::renameat_with(folder, from, folder, to, rustix::fs::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {}
        result => return result,
    }
    linkat(folder, from, folder, to, AtFlags::empty())?;
    unlinkat(folder, from, AtFlags::empty())
}

fn write_at(file: impl AsFd, mut bytes: &[u8], mut offset: u64) -> Result<(), Trouble> {
    while !bytes.is_empty() {
        match pwrite(&file, bytes, offset) {
            Ok(0) => return Err(Trouble::System("write", std::io::ErrorKind::WriteZero.into())),
            Ok(written) => (bytes, offset) = (&bytes[written..], offset + written as u64),
            Err(Errno::INTR) => {}
            Err(error) => return Err(Trouble::System("write", error.into())),
        }
    }
    Ok(())
}

/// A file whose content is all there: it is made, written and closed in one go, by whoever has time.
pub(super) fn write_whole(place: Place, dress: &Dress, bytes: &[u8], ledger: &Ledger) -> Result<(), Trouble> {
    let draft = Draft::begin(place)?;
    write_at(&draft.file, bytes, 0)?;
    draft.land(dress, ledger)
}

/// A file whose content comes in several pieces, written by several threads.
#[derive(Debug)]
pub(super) struct Growing {
    number: u64,
    file: Arc<OwnedFd>,
    /// Until it lands.
    draft: Mutex<Option<Draft>>,
    dress: Dress,
    /// For a file with holes, once it came.
    pub(super) map: OnceLock<Map>,
    sparse: bool,
    tree: Option<Tree>,
    hash: OnceLock<[u8; 32]>,
    /// Bytes of the content that were not written yet.
    left: AtomicU64,
    failed: AtomicBool,
    ledger: Arc<Ledger>,
}

/// What a file that grows will be.
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
            ftruncate(&draft.file, plan.size).map_err(Trouble::system("write"))?;
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

    /// Takes a piece of the content. The last one, whichever that is, completes the file.
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
        // In the head of the match, the lock would be held throughout, and who notes a failure takes it too.
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
        // What belongs to the map comes first.
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
