//! Makes the entries of an archive. Folders and links are made immediately. Files are made later, when their content
//! arrives.

use std::ops::Range;
use std::sync::Arc;

use super::file::{Growing, NO_FILE, Place, Plan};
use super::folder::{Dress, Folder, os};
use super::ledger::Ledger;
use super::options::Unpacking;
use super::rest::FileJob;
use super::trouble::Trouble;
use super::way::Way;
use crate::entry::{Entry, Kind};
use crate::error::Flaw;
use crate::implied::most_implied;
use crate::names::{Paths, alike};
use crate::path::{name, parent};
use crate::shown::{beginning, shown};
use crate::tar::{Map, Member};
use deadpan_disk as disk;
use deadpan_disk::portable::OsStringExt;

/// Whether the file systems of this system usually have one file for names that differ only in case or accents, while
/// [`is_there`] cannot tell these names apart.
const FOLDS: bool = cfg!(target_vendor = "apple");

/// The maximum number of searches for names that differ only in case or accents.
const SEARCHED: u32 = 16;

const NO_OWNER: Trouble = Trouble::Archive(|path| Flaw::Owner { path });

const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// Whether the extended attribute `name` is restored. Attributes outside of `user.` grant rights: a capability grants
/// rights to everybody who runs the file, and an access control list grants rights to the users with certain numbers.
/// Like the setuid bit, attributes that grant rights are restored only together with the owner.
fn is_restored(name: &[u8], owner: bool) -> bool {
    let rights: [&[u8]; 3] = [b"security.capability", ACCESS_LIST, b"system.posix_acl_default"];
    name.starts_with(b"user.") || owner && rights.contains(&name)
}

/// Makes entries in a folder.
#[derive(Debug)]
pub(super) struct Maker {
    options: Unpacking,
    /// The archive is a pack.
    pack: bool,
    ledger: Arc<Ledger>,
    way: Way,
    /// Paths that this run made, if the target folder existed before, or if the system folds names.
    made: Paths,
    /// Names that this run made, to find names that differ only in case or accents.
    names: Paths,
    searches: u32,
    /// The number of folders that occur only in the paths of other entries.
    implied: u64,
    /// The file whose content comes next.
    next: NextContent,
    /// Files to write from the bytes of the current [`Unpacker::put`](super::Unpacker::put).
    jobs: Vec<FileJob>,
    /// The number of extended attributes that were not restored.
    attributes: u64,
    /// Entries do not replace earlier entries of the archive.
    keeps_first: bool,
}

/// The file whose content comes next.
#[derive(Debug, Default)]
enum NextContent {
    /// The content is skipped, because its entry is not unpacked.
    #[default]
    Ignored,
    /// The whole content is in the next event.
    Whole { number: u64, place: Place, dress: Dress },
    /// The content is divided among several events.
    Growing(Arc<Growing>),
}

/// Whether this run made a folder.
#[derive(Clone, Copy, PartialEq)]
enum Whose {
    Ours,
    Others,
}

impl Maker {
    /// Makes entries in `target`. If `target` is `None`, every entry fails.
    pub(super) fn new(target: Option<disk::Folder>, options: Unpacking, ledger: Arc<Ledger>) -> Self {
        let root = disk::is_root();
        Self {
            options: Unpacking { owner: options.owner && root, ..options },
            pack: false,
            way: Way::new(Folder::target(target, Arc::clone(&ledger))),
            ledger,
            made: Paths::default(),
            names: Paths::default(),
            searches: 0,
            implied: 0,
            next: NextContent::Ignored,
            jobs: Vec::new(),
            attributes: 0,
            keeps_first: false,
        }
    }

    /// From now on, an entry does not replace an earlier entry of the archive. After damage, an entry may come from an
    /// archive inside the archive.
    pub(super) fn keep_first(&mut self) {
        self.keeps_first = true;
    }

    /// Sets whether the archive is a pack. Must be called before the first entry is made.
    pub(super) fn begin(&mut self, pack: bool) {
        self.pack = pack;
    }

    /// Ends the previous entry. If the file of the previous entry is not complete, it is removed as soon as its last
    /// received piece is written or dropped.
    pub(super) fn next_entry(&mut self) {
        self.next = NextContent::Ignored;
    }

    /// Makes an entry. `bytes` are the bytes that were passed to the unpacker. The last `ready` bytes of `bytes` come
    /// after the headers: they are content of this entry, or later entries.
    pub(super) fn make(&mut self, member: Member, number: u64, bytes: &[u8], ready: usize) -> Result<(), Trouble> {
        let dress = self.dress(&member)?;
        let entry = member.entry;
        if entry.path.is_empty() {
            if self.options.fresh || self.options.replace {
                self.way.target().at_last(number, dress, !self.options.fresh);
            }
            self.ledger.complete(number, None);
            return Ok(());
        }
        #[cfg(windows)]
        check_names(&entry.path)?;
        let twice = self.note_name(&entry.path, bytes)?;
        if twice && self.keeps_first && entry.kind != Kind::Folder {
            return Err(Trouble::EXISTS);
        }
        let folder = self.folder_of(&entry, bytes)?;
        let name = name(&entry.path).to_vec();
        let (fresh, archive) = (self.options.fresh, self.options.archive);
        match entry.kind {
            Kind::Folder => {
                let (folder, whose) = self.folder(&folder, &name, &entry.path, true, bytes)?;
                if whose != Whose::Others || self.options.replace {
                    folder.at_last(number, dress, whose == Whose::Others);
                }
                self.way.push(folder);
            }
            Kind::SymbolicLink | Kind::HardLink => {
                let place = Place { folder, name, fresh, replace: self.options.replace || twice, archive };
                let target = entry.target.unwrap_or_default();
                if entry.kind == Kind::SymbolicLink {
                    place.symbolic(&target, entry.modified, dress.owner)?;
                } else {
                    self.hard(&place, &target, bytes)?;
                }
                self.is_made(&entry.path);
            }
            Kind::File | Kind::Sparse => {
                let place = Place { folder, name, fresh, replace: self.options.replace || twice, archive };
                let sparse = entry.kind == Kind::Sparse;
                self.is_made(&entry.path);
                if sparse || entry.stored > ready as u64 {
                    let hashed = self.pack;
                    let plan = Plan { number, dress, sparse, size: entry.size, stored: entry.stored, hashed };
                    self.next = NextContent::Growing(Arc::new(Growing::begin(place, plan, Arc::clone(&self.ledger))?));
                } else if entry.stored == 0 {
                    self.jobs.push(FileJob::Whole { number, place, dress, range: 0..0, hashed: self.pack });
                } else {
                    self.next = NextContent::Whole { number, place, dress };
                }
                return Ok(());
            }
        }
        self.ledger.complete(number, None);
        Ok(())
    }

    /// Sets the map that gives the offset in the file for each piece of content. The map belongs to the file whose
    /// content comes next.
    pub(super) fn map(&mut self, map: Map) {
        if let NextContent::Growing(file) = &self.next {
            let _ = file.map.set(map);
            // The whole file may be one hole.
            self.jobs.push(FileJob::Piece { file: Arc::clone(file), offset: 0, range: 0..0 });
        }
    }

    /// Adds a job that writes the next piece of the content. `range` is the range of the piece in the bytes that were
    /// passed to the unpacker.
    pub(super) fn content(&mut self, offset: u64, range: Range<usize>) {
        match &self.next {
            NextContent::Ignored => {}
            NextContent::Growing(file) => self.jobs.push(FileJob::Piece { file: Arc::clone(file), offset, range }),
            NextContent::Whole { .. } => {
                if let NextContent::Whole { number, place, dress } = std::mem::take(&mut self.next) {
                    self.jobs.push(FileJob::Whole { number, place, dress, range, hashed: self.pack });
                }
            }
        }
    }

    pub(super) fn jobs(&mut self) -> Vec<FileJob> {
        std::mem::take(&mut self.jobs)
    }

    pub(super) fn remove(&self, path: &[u8]) {
        // The entry has already been reported as failed, so an error while its file is removed is ignored.
        let _ = self.way.remove(path, self.options.fresh || self.made.has(parent(path)));
    }

    /// Ends the work. Sets the modes and times of folders, and adds remarks on properties that were not restored.
    pub(super) fn end(&mut self) {
        self.way.end();
        if self.attributes > 0 {
            self.ledger.remark(format!(
                "extended attributes are not restored ({} in all): beside those of users, only access control lists \
                 and capabilities are, by root and together with owners",
                self.attributes
            ));
        }
    }

    fn dress(&mut self, member: &Member) -> Result<Dress, Trouble> {
        // If all bits of an owner number are set, the system call would not change the owner, so such a number is
        // refused.
        let id = |id: u64| u32::try_from(id).ok().filter(|id| *id != u32::MAX).ok_or(NO_OWNER);
        let owner = self.options.owner.then(|| Ok((id(member.uid)?, id(member.gid)?))).transpose()?;
        // The setuid and setgid bits grant the owner's rights to others, so they are restored only with the owner.
        let special = if owner.is_some() { member.entry.mode & 0o7000 } else { 0 };
        let mode = member.entry.mode & 0o777 & !self.options.mask | special;
        let mut attributes = Vec::new();
        if self.options.attributes {
            attributes.clone_from(&member.attributes);
            attributes.retain(|(name, _)| is_restored(name, self.options.owner));
            self.attributes += (member.attributes.len() - attributes.len()) as u64;
        }
        let is_list = |(name, _): &(Vec<u8>, Vec<u8>)| name == ACCESS_LIST;
        if member.acl || member.attributes.iter().any(is_list) && !attributes.iter().any(is_list) {
            self.ledger.remark(
                "access control lists are not restored: the group permissions of files that had one are its mask"
                    .into(),
            );
        }
        Ok(Dress { mode, modified: member.entry.modified, owner, attributes })
    }

    fn is_made(&mut self, path: &[u8]) {
        if FOLDS || !self.options.fresh {
            self.made.add(path);
        }
    }

    /// Writes all files whose contents have arrived, and waits until the other threads have written theirs.
    fn settle(&mut self, bytes: &[u8]) {
        for job in self.jobs.drain(..) {
            job.run(bytes, &self.ledger);
        }
        self.ledger.wait();
    }

    /// Adds a remark if another name in the folder differs only in case or accents. Returns true if this run itself
    /// made an entry with this path before.
    fn note_name(&mut self, path: &[u8], bytes: &[u8]) -> Result<bool, Trouble> {
        let (folder, name) = (parent(path), name(path));
        if self.names.add_folded(folder, name) {
            return Ok(false);
        }
        // On some file systems, names that differ only in case or accents refer to the same file, so all waiting files
        // are written first.
        self.settle(bytes);
        let there = match self.way.reach(folder, self.options.fresh || self.made.has(folder)) {
            Ok(folder) => folder.handle().ok(),
            Err(_) => None,
        };
        let made = || self.made.has(path) && !self.ledger.has_failed(path);
        let same = (!FOLDS || made()) && there.as_ref().is_some_and(|there| is_there(there, name));
        if !same || self.pack {
            let fellow = there.as_ref().filter(|_| self.searches < SEARCHED).and_then(|there| fellow(there, name));
            self.searches += 1;
            let fellow = fellow.map_or_else(|| "another name".into(), |fellow| shown(&fellow));
            self.ledger.remark(format!(
                "{} differs from {fellow} only in case or accents, and some systems cannot store both",
                shown(path)
            ));
        }
        // A file that existed before this run is not replaced, even if the archive contains its path several times.
        let ours = if self.options.fresh { same } else { made() };
        Ok(ours && !self.pack)
    }

    /// Returns the folder of an entry. In a pack, the folder's own entry always comes before the entries in the folder.
    /// In other archives, the folder is made if it is missing.
    fn folder_of(&mut self, entry: &Entry, bytes: &[u8]) -> Result<Arc<Folder>, Trouble> {
        let path = parent(&entry.path);
        let mut known = self.way.back_to(path);
        if !self.pack && self.are_too_many(path, known, entry.content) {
            return Err(Trouble::Known(Flaw::ImpliedFolders { path: beginning(&entry.path) }.into()));
        }
        while known < path.len() {
            if self.pack {
                return Err(Trouble::Archive(|path| Flaw::NoFolder { path }));
            }
            let Some(end) = ends(path, known).next() else { break };
            let so_far = &path[..end];
            if self.names.add_folded(parent(so_far), name(so_far)) {
                self.implied += 1;
            } else {
                // A file with this name may not be written yet, so all waiting files are written first.
                self.settle(bytes);
            }
            let (folder, _) = self.folder(&self.way.last(), name(so_far), so_far, false, bytes)?;
            self.way.push(folder);
            known = end;
        }
        Ok(self.way.last())
    }

    /// Whether `path` would add too many folders without entries. The first `known` bytes of `path` are the path of a
    /// folder that exists. `position` is the offset in the archive where the content of the entry begins. The content
    /// is not part of `position`, because an archive can state a false length of the content.
    fn are_too_many(&self, path: &[u8], known: usize, position: u64) -> bool {
        let most = most_implied(position);
        let is_new = |end: &usize| {
            let folder = &path[..*end];
            !self.names.has_folded(parent(folder), name(folder))
        };
        // Most archives are far below the limit. For an archive below the limit, no folder has to be looked up.
        self.implied + ends(path, known).count() as u64 > most
            && self.implied + ends(path, known).filter(is_new).count() as u64 > most
    }

    /// Makes or opens a folder. `named` means that the archive has an entry for the folder.
    fn folder(
        &mut self,
        parent: &Arc<Folder>,
        name: &[u8],
        path: &[u8],
        named: bool,
        bytes: &[u8],
    ) -> Result<(Arc<Folder>, Whose), Trouble> {
        // A folder that an entry describes is accessible only to its owner until its mode is set. A folder without an
        // entry gets the default mode according to the umask.
        let mode = if named { 0o700 } else { 0o777 };
        if let Some(folder) = Folder::make(parent, name, mode, self.options.fresh)? {
            self.is_made(path);
            return Ok((folder, Whose::Ours));
        }
        // All waiting files are written first, because a later write into the folder would change the folder's time.
        self.settle(bytes);
        let whose = if self.options.fresh || self.made.has(path) { Whose::Ours } else { Whose::Others };
        let unlock = whose == Whose::Ours || named && self.options.replace;
        Ok((Folder::enter(parent, name, unlock, whose == Whose::Ours)?, whose))
    }

    fn hard(&mut self, place: &Place, target: &[u8], bytes: &[u8]) -> Result<(), Trouble> {
        self.settle(bytes);
        let made = self.options.fresh || self.made.has(target);
        if !made || self.ledger.has_failed(target) {
            return Err(NO_FILE);
        }
        let folder =
            self.way.reach(parent(target), self.options.fresh || self.made.has(parent(target))).map_err(|_| NO_FILE)?;
        place.hard(&folder, name(target))
    }
}

/// Refuses a path with a name that files on Windows cannot have.
#[cfg(windows)]
fn check_names(path: &[u8]) -> Result<(), Trouble> {
    match path.split(|byte| *byte == b'/').find_map(disk::names::windows::flaw) {
        Some(flaw) => Err(Trouble::Known(crate::error::Refusal::Name { path: shown(path), flaw }.into())),
        None => Ok(()),
    }
}

/// For each component of a path, returns the offset where the component ends. Skips the components in the first `known`
/// bytes.
fn ends(path: &[u8], known: usize) -> impl Iterator<Item = usize> {
    let slashes = (known + 1..path.len()).filter(|at| path[*at] == b'/');
    slashes.chain((known < path.len()).then_some(path.len()))
}

/// Whether a name is in the folder, in exactly this case.
fn is_there(folder: &disk::Folder, name: &[u8]) -> bool {
    #[cfg(windows)]
    return folder.has_in_this_case(os(name)).unwrap_or(false);
    #[cfg(not(windows))]
    folder.look(os(name)).is_ok_and(|found| found.is_some())
}

/// Returns a name in the folder that differs from `name` only in case or accents.
fn fellow(folder: &disk::Folder, name: &[u8]) -> Option<Vec<u8>> {
    let names = folder.entries().ok()?.flatten().map(|(name, _)| name.into_vec());
    names.into_iter().find(|other| other != name && alike(other, name))
}
