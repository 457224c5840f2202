//! Making what an archive holds: folders and links at once, files by whoever gets their content.

use super::file::{Growing, NO_FILE, Place, Plan};
use super::folder::{self, Dress, Folder};
use super::ledger::Trouble;
use super::rest::Job;
use super::single::without_file;
use super::{Current, Unpacker};
use crate::names::alike;
use crate::path::{name, parent};
use crate::tar::Member;
use crate::{Kind, shown};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// For so many names that are alike, their fellows are searched for.
const SEARCHED: u32 = 16;

/// An owner whose number is too long.
const NO_OWNER: Trouble = Trouble::Other("belongs to an owner or a group that no system has", "leave out --owner");

impl Unpacker {
    /// Makes the folders above an entry that were passed over.
    pub(super) fn make_above(&mut self, path: &[u8], bytes: &[u8]) {
        let above = self.only.as_mut().map_or_else(Vec::new, |only| only.above(path));
        for (number, folder) in above {
            let path = folder.entry.path.clone();
            if let Err(trouble) = self.make(folder, number, bytes, 0) {
                self.ledger.fail_late(number, &path, trouble);
            }
        }
    }

    pub(super) fn make(&mut self, member: Member, number: u64, bytes: &[u8], ready: usize) -> Result<(), Trouble> {
        let dress = self.dress(&member)?;
        let entry = member.entry;
        if entry.path.is_empty() {
            self.way.target().at_last(Some(number), dress);
            self.ledger.complete(number, None);
            return Ok(());
        }
        let twice = self.note_name(&entry.path, bytes)?;
        let folder = self.folder_of(&entry.path, bytes)?;
        let name = name(&entry.path).to_vec();
        let fresh = self.options.fresh;
        match entry.kind {
            Kind::Folder => {
                let folder = self.folder(&folder, &name, &entry.path, true, bytes)?;
                folder.at_last(Some(number), dress);
                self.way.push(folder);
            }
            Kind::SymbolicLink | Kind::HardLink => {
                let place = Place { folder, name, fresh, replace: self.options.replace || twice };
                let target = entry.target.unwrap_or_default();
                if entry.kind == Kind::SymbolicLink {
                    place.symbolic(&target, entry.modified, dress.owner)?;
                } else {
                    self.hard(&place, &entry.path, &target, bytes)?;
                }
                self.is_made(&entry.path);
            }
            Kind::File | Kind::Sparse => {
                let place = Place { folder, name, fresh, replace: self.options.replace || twice };
                let sparse = entry.kind == Kind::Sparse;
                self.is_made(&entry.path);
                if sparse || entry.stored > ready as u64 {
                    let hashed = self.parser.is_pack();
                    let plan = Plan { number, dress, sparse, size: entry.size, stored: entry.stored, hashed };
                    self.current = Current::Growing(Arc::new(Growing::begin(place, plan, Arc::clone(&self.ledger))?));
                } else if entry.stored == 0 {
                    self.jobs.push(Job::Whole { number, place, dress, range: 0..0, hashed: self.parser.is_pack() });
                } else {
                    self.current = Current::Whole { number, place, dress };
                }
                return Ok(());
            }
        }
        self.ledger.complete(number, None);
        Ok(())
    }

    fn dress(&mut self, member: &Member) -> Result<Dress, Trouble> {
        // All bits set means nobody to the system, which would leave it with whoever unpacks.
        let id = |id: u64| u32::try_from(id).ok().filter(|id| *id != u32::MAX).ok_or(NO_OWNER);
        let owner = self.options.owner.then(|| Ok((id(member.uid)?, id(member.gid)?))).transpose()?;
        // The bits above lend an owner's rights to others, whoever the owner is now.
        let mode = member.entry.mode & if owner.is_some() { 0o7777 } else { 0o777 };
        let mut attributes = Vec::new();
        if self.options.attributes {
            attributes.clone_from(&member.attributes);
            attributes.retain(|(name, _)| name.starts_with(b"user."));
            self.attributes += (member.attributes.len() - attributes.len()) as u64;
        }
        Ok(Dress { mode, modified: member.entry.modified, owner, attributes })
    }

    fn is_made(&mut self, path: &[u8]) {
        if !self.options.fresh {
            self.made.add(path);
        }
    }

    /// Does all that is left to do, so that what was read before is there.
    fn settle(&mut self, bytes: &[u8]) {
        for job in self.jobs.drain(..) {
            job.run(bytes, &self.ledger);
        }
        self.ledger.wait();
    }

    /// Remarks on names that are alike, and says whether this very path may be ours to replace.
    fn note_name(&mut self, path: &[u8], bytes: &[u8]) -> Result<bool, Trouble> {
        let (folder, name) = (parent(path), name(path));
        if self.names.add_folded(folder, name) {
            return Ok(false);
        }
        // On some systems, it is the same file; on all, it may be.
        self.settle(bytes);
        let there = match self.way.reach(folder, self.options.fresh || self.made.has(folder)) {
            Ok(folder) => folder.handle().ok(),
            Err(_) => None,
        };
        let same = there.as_ref().and_then(|there| folder::look(there, name).ok().flatten()).is_some();
        if !same || self.parser.is_pack() {
            let fellow = there.as_ref().filter(|_| self.searches < SEARCHED).and_then(|there| fellow(there, name));
            self.searches += 1;
            let fellow = fellow.map_or_else(|| "another name".into(), |fellow| shown(&fellow));
            self.ledger.remark(format!("{} differs from {fellow} in case or accents only: not every system can have both", shown(path)));
        }
        // What somebody else had there is not ours, however often the archive comes to it.
        let ours = if self.options.fresh { same } else { self.made.has(path) && !self.ledger.has_failed(path) };
        Ok(ours && !self.parser.is_pack())
    }

    /// The folder that an entry goes into. In a pack it came before; elsewhere it is made.
    fn folder_of(&mut self, path: &[u8], bytes: &[u8]) -> Result<Arc<Folder>, Trouble> {
        let path = parent(path);
        let mut known = self.way.back_to(path);
        while known < path.len() {
            if self.parser.is_pack() {
                return Err(Trouble::Other("has no folder to be in: it failed, or is missing", "see what failed before"));
            }
            let rest = &path[known..];
            let begin = known + usize::from(rest.starts_with(b"/"));
            let end = path[begin..].iter().position(|byte| *byte == b'/').map_or(path.len(), |length| begin + length);
            let so_far = &path[..end];
            if !self.names.add_folded(parent(so_far), name(so_far)) {
                // A file with this name may wait to be made.
                self.settle(bytes);
            }
            let folder = self.folder(&self.way.last(), name(so_far), so_far, false, bytes)?;
            self.way.push(folder);
            known = end;
        }
        Ok(self.way.last())
    }

    /// A folder, made or entered.
    fn folder(&mut self, parent: &Arc<Folder>, name: &[u8], path: &[u8], named: bool, bytes: &[u8]) -> Result<Arc<Folder>, Trouble> {
        // Nobody looks in before it has its mode; folders that nobody described are as all are.
        let mode = if named { 0o700 } else { 0o777 };
        if let Some(folder) = Folder::make(parent, name, mode)? {
            self.is_made(path);
            return Ok(folder);
        }
        // Somebody may still be at work in it, and would set its time after us.
        self.settle(bytes);
        let ours = self.options.fresh || self.made.has(path);
        let folder = Folder::enter(parent, name, ours || named)?;
        if named {
            self.is_made(path);
        }
        Ok(folder)
    }

    fn hard(&mut self, place: &Place, path: &[u8], target: &[u8], bytes: &[u8]) -> Result<(), Trouble> {
        if self.only.as_mut().is_some_and(|only| !only.filter().has(target)) {
            return Err(Trouble::Known(without_file(path, target)));
        }
        self.settle(bytes);
        let made = self.options.fresh || self.made.has(target);
        if !made || self.ledger.has_failed(target) {
            return Err(NO_FILE);
        }
        let folder = self.way.reach(parent(target), self.options.fresh || self.made.has(parent(target))).map_err(|_| NO_FILE)?;
        place.hard(&folder, name(target))
    }
}

/// What is in a folder under a name that is like `name`.
fn fellow(folder: &OwnedFd, name: &[u8]) -> Option<Vec<u8>> {
    let entries = rustix::fs::Dir::read_from(folder).ok()?.flatten();
    entries.map(|entry| entry.file_name().to_bytes().to_vec()).find(|other| other != name && alike(other, name))
}
