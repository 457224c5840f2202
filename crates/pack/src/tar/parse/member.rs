//! Combines all headers of an entry.

use super::{LARGEST, Parser, State};
use crate::block;
use crate::entry::{Entry, Kind, Time};
use crate::error::{Error, Flaw, Special};
use crate::shown::shown;
use crate::tar::event::{Event, Member};
use crate::tar::header::{Header, HeaderFormat};
use crate::tar::oddity::Oddity;
use crate::tar::path::{check_path, plain};
use crate::tar::pax::Sparse;
use crate::tar::sparse::{Pieces, Reading};

impl Parser {
    /// Reads the main header of an entry.
    pub(super) fn member(&mut self, header: &Header<'_>, begin: u64) -> Result<Option<Event>, Error> {
        let next = std::mem::take(&mut self.next);
        let content = begin + block::BLOCK;
        let begin = next.begin.unwrap_or(begin);
        let records = next.records.unwrap_or_else(|| self.global.clone());
        let path = records.sparse.name.clone().or(records.path).or(next.path).unwrap_or_else(|| header.path());
        let target = records.target.or(next.target).unwrap_or_else(|| header.target());
        let wrong = || Error::damaged(format!("the header of {} has a field that is not a number", shown(&path)));
        let natural = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok()).ok_or_else(wrong);
        let size = records.size.map_or_else(|| natural(header.size()), Ok)?;
        if size > LARGEST {
            return Err(impossible(&path, size));
        }
        let kind = match MemberType::from_header(header, path.ends_with(b"/"), self.pack) {
            MemberType::Kind(Kind::File) if records.sparse.major.is_some() || records.sparse.pieces.is_some() => {
                Kind::Sparse
            }
            MemberType::Kind(kind) => kind,
            // A volume label is not an entry.
            MemberType::Nothing => {
                self.content(size, false);
                return Ok(None);
            }
            MemberType::SolarisAcl => {
                self.content(size, false);
                return Ok(Some(Event::Odd(Oddity::SolarisAcl)));
            }
            MemberType::Special { special: what, content } => {
                self.content(if content { size } else { 0 }, false);
                return Ok(Some(special(path, what)));
            }
        };
        // As in other tar readers, links and folders have no content, even if the header states another size.
        let stored = if matches!(kind, Kind::File | Kind::Sparse) { size } else { 0 };
        let modified = match records.modified {
            Some(time) => time,
            None => Time { seconds: header.modified().ok_or_else(wrong)?, nanoseconds: 0 },
        };
        let mode = natural(header.mode())? as u32 & 0o7777;
        let owner = |record: Option<u64>, field: Option<i64>| record.unwrap_or_else(|| natural(field).unwrap_or(0));
        let (uid, gid) = (owner(records.uid, header.uid()), owner(records.gid, header.gid()));
        let real_size = natural(header.real_size()).unwrap_or(u64::MAX);
        let entry =
            Entry { path, kind, mode, modified, size: stored, begin, content, stored, hash: None, target: None };
        if header.overflows() {
            self.found.push_back(Event::Odd(Oddity::Overflow));
        }
        let mut member = Box::new(Member { entry, uid, gid, attributes: records.attributes, acl: records.acl });
        if let Err(refused) = self.place(&mut member, target)? {
            // More blocks of the map follow, so it is not known where the content begins: the whole archive is refused.
            if header.kind() == b'S' && header.map().1 {
                return Err(refused.into());
            }
            self.content(if header.kind() == b'D' { size } else { stored }, false);
            return Ok(Some(Event::Refused { path: member.entry.path, flaw: refused }));
        }
        match kind {
            Kind::Sparse if header.kind() == b'S' => {
                member.entry.size = real_size;
                let mut pieces = Pieces::default();
                let (lines, more) = header.map();
                pieces.add_old(lines)?;
                self.state = State::OldMap { member, pieces };
                if more { Ok(None) } else { self.old_map_read() }
            }
            Kind::Sparse => self.sparse(member, records.sparse).map(Some),
            Kind::Folder if header.kind() == b'D' => {
                self.content(size, false);
                Ok(Some(Event::Member(member)))
            }
            _ => {
                self.content(stored, true);
                Ok(Some(Event::Member(member)))
            }
        }
    }

    /// Checks the path and the target of an entry, and removes the root's name and superfluous slashes. An error in the
    /// inner `Result` means that only the entry is refused. An error in the outer `Result` means that the whole archive
    /// is refused.
    fn place(&mut self, member: &mut Member, target: Vec<u8>) -> Result<Result<(), Flaw>, Error> {
        let entry = &mut member.entry;
        let under = |root: &Option<Vec<u8>>, path: &[u8]| -> Result<Vec<u8>, Error> {
            let Some(root) = root else { return Ok(plain(path).into_owned()) };
            let inner =
                path.strip_prefix(&root[..]).and_then(|rest| rest.strip_prefix(b"/")).filter(|inner| !inner.is_empty());
            inner.map(<[u8]>::to_vec).ok_or_else(|| Flaw::OutsideRoot { path: shown(path) }.into())
        };
        if entry.kind == Kind::Folder && entry.path.ends_with(b"/") && self.pack {
            entry.path.pop();
        }
        if self.pack && self.root.is_none() {
            let named = !entry.path.is_empty() && !entry.path.contains(&b'/') && check_path(&entry.path).is_ok();
            if !named || entry.kind != Kind::Folder {
                return Err(Error::damaged("a pack begins with its root, a folder with a plain name"));
            }
            self.root = Some(std::mem::take(&mut entry.path));
            return Ok(Ok(()));
        }
        // In a pack, the limits apply to paths relative to the root, as in the index. Only paths of other archives can
        // contain superfluous slashes or `./`.
        let checked = |path: &[u8]| match &self.root {
            Some(root) => {
                check_path(path.strip_prefix(&root[..]).and_then(|rest| rest.strip_prefix(b"/")).unwrap_or(path))
            }
            None => check_path(&plain(path)),
        };
        if let Err(error) = checked(&entry.path) {
            return Ok(Err(error));
        }
        entry.path = under(&self.root, &entry.path)?;
        match entry.kind {
            Kind::HardLink => {
                if let Err(error) = checked(&target) {
                    return Ok(Err(error));
                }
                entry.target = Some(under(&self.root, &target)?);
            }
            Kind::SymbolicLink => {
                if target.is_empty() || target.contains(&0) {
                    return Ok(Err(Flaw::NoTarget { path: shown(&entry.path) }));
                }
                entry.target = Some(target);
            }
            _ => {}
        }
        Ok(if entry.path.is_empty() && entry.kind != Kind::Folder { Err(Flaw::NoName) } else { Ok(()) })
    }

    /// Finishes the headers of an entry after the last block of its map in the old GNU format. The content follows.
    pub(super) fn old_map_read(&mut self) -> Result<Option<Event>, Error> {
        let State::OldMap { mut member, pieces } = std::mem::replace(&mut self.state, State::Header) else {
            return Ok(None);
        };
        let entry = &mut member.entry;
        // If earlier calls collected some bytes of this block, `self.offset` includes these bytes, but no other bytes
        // of this block.
        entry.content = self.offset - self.offset % block::BLOCK + crate::block::BLOCK;
        let map = pieces.map(0, entry.stored, entry.size)?;
        if entry.size > LARGEST {
            return Err(impossible(&entry.path, entry.size));
        }
        self.content(entry.stored, true);
        self.found.push_back(Event::Map(map));
        Ok(Some(Event::Member(member)))
    }

    /// Starts a file with holes whose map is described by pax records.
    fn sparse(&mut self, mut member: Box<Member>, sparse: Sparse) -> Result<Event, Error> {
        let entry = &mut member.entry;
        let damaged = || Error::damaged(format!("{} has holes in an unknown format", shown(&entry.path)));
        let real_size = sparse.real_size.filter(|size| *size <= LARGEST).ok_or_else(damaged)?;
        entry.size = real_size;
        match (sparse.major, sparse.minor, sparse.pieces) {
            (Some(1), Some(0), None) if entry.stored > 0 => {
                self.state = State::NewMap { reading: Reading::default(), seen: 0, stored: entry.stored, real_size };
            }
            (None | Some(0), _, Some(pieces)) => {
                self.found.push_back(Event::Map(pieces.map(0, entry.stored, real_size)?));
                self.content(entry.stored, true);
            }
            _ => return Err(damaged()),
        }
        Ok(Event::Member(member))
    }
}

fn impossible(path: &[u8], size: u64) -> Error {
    Error::damaged(format!("the header of {} gives an impossible size: {size} bytes", shown(path)))
}

/// How an entry is treated, according to the type in its header.
enum MemberType {
    Kind(Kind),
    Special { special: Special, content: bool },
    SolarisAcl,
    Nothing,
}

impl MemberType {
    fn from_header(header: &Header<'_>, slash: bool, pack: bool) -> Self {
        match header.kind() {
            // In old formats, a folder is stored as a file whose name ends with a slash.
            b'0' | b'7' | 0 if slash && !pack => Self::Kind(Kind::Folder),
            b'0' | b'7' | 0 => Self::Kind(Kind::File),
            b'1' => Self::Kind(Kind::HardLink),
            b'2' => Self::Kind(Kind::SymbolicLink),
            b'3' | b'4' => Self::Special { special: Special::Device, content: false },
            b'5' => Self::Kind(Kind::Folder),
            // In GNU's incremental archives, the content of a folder lists the names in the folder.
            b'D' if !pack => Self::Kind(Kind::Folder),
            b'6' => Self::Special { special: Special::Fifo, content: false },
            b'S' if header.maker() == HeaderFormat::Gnu => Self::Kind(Kind::Sparse),
            b'A' if !pack => Self::SolarisAcl,
            b'V' => Self::Nothing,
            b'M' => Self::Special { special: Special::Continued, content: true },
            // POSIX treats an unknown type as a file, but its content could be anything. Refuse the entry instead.
            _ => Self::Special { special: Special::Unknown, content: true },
        }
    }
}

fn special(path: Vec<u8>, special: Special) -> Event {
    let flaw = Flaw::Special { path: shown(&path), special };
    Event::Refused { path, flaw }
}
