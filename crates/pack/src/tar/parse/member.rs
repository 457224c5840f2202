//! An entry, of all the headers that are about it.

use super::{Event, LARGEST, Parser, State};
use crate::tar::header::{Header, Maker};
use crate::tar::path::{check_path, plain};
use crate::tar::pax::Sparse;
use crate::tar::sparse::{Pieces, Reading};
use crate::{Entry, Error, Kind, Time, shown};

/// An entry with all that its headers say.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// What packs have too. The path is without `./` in front, `/` behind, and, in a pack, the root; so is a hard link's target.
    pub(crate) entry: Entry,
    /// Its owner.
    pub(crate) uid: u64,
    /// Its group.
    pub(crate) gid: u64,
    /// Extended attributes: names and values.
    pub(crate) attributes: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Parser {
    /// An entry's own header.
    pub(super) fn member(&mut self, header: &Header<'_>, begin: u64) -> Result<Option<Event>, Error> {
        let next = std::mem::take(&mut self.next);
        let content = begin + crate::BLOCK;
        let begin = next.begin.unwrap_or(begin);
        let records = next.records.unwrap_or_else(|| self.global.clone());
        let path = records.sparse.name.clone().or(records.path).or(next.path).unwrap_or_else(|| header.path());
        let target = records.target.or(next.target).unwrap_or_else(|| header.target());
        let wrong = || Error::damaged(format!("the header of {} has a field that is no number", shown(&path)));
        let natural = |number: Option<i64>| number.and_then(|number| u64::try_from(number).ok()).ok_or_else(wrong);
        let size = records.size.map_or_else(|| natural(header.size()), Ok)?;
        if size > LARGEST {
            return Err(Error::damaged(format!("{} is said to have {size} bytes", shown(&path))));
        }
        let kind = match What::of(header, path.ends_with(b"/"), self.pack) {
            What::Kind(Kind::File) if records.sparse.major.is_some() || records.sparse.pieces.is_some() => Kind::Sparse,
            What::Kind(kind) => kind,
            // A label says nothing about files.
            What::Nothing => {
                self.content(size, false);
                return Ok(None);
            }
            What::Special { what, content } => {
                self.content(if content { size } else { 0 }, false);
                return Ok(Some(special(path, what)));
            }
        };
        // Links and folders have no content, whatever stands in their size: so it is with every tar.
        let stored = if matches!(kind, Kind::File | Kind::Sparse) { size } else { 0 };
        let modified = match records.modified {
            Some(time) => time,
            None => Time { seconds: header.modified().ok_or_else(wrong)?, nanoseconds: 0 },
        };
        let mode = natural(header.mode())? as u32 & 0o7777;
        let owner = |record: Option<u64>, field: Option<i64>| record.unwrap_or_else(|| natural(field).unwrap_or(0));
        let (uid, gid) = (owner(records.uid, header.uid()), owner(records.gid, header.gid()));
        let real_size = natural(header.real_size()).unwrap_or(u64::MAX);
        let entry = Entry { path, kind, mode, modified, size: stored, begin, content, stored, hash: None, target: None };
        let mut member = Box::new(Member { entry, uid, gid, attributes: records.attributes });
        if let Err(refused) = self.place(&mut member, target)? {
            // Where its content begins is not known.
            if header.kind() == b'S' && header.map().1 {
                return Err(refused);
            }
            self.content(stored, false);
            return Ok(Some(Event::Refused { path: member.entry.path, error: refused }));
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
            _ => {
                self.content(stored, true);
                Ok(Some(Event::Member(member)))
            }
        }
    }

    /// Checks the path and target of an entry, and takes from them what is no part of them. In the inner result, what makes this entry impossible;
    /// in the outer, what makes the archive so.
    fn place(&mut self, member: &mut Member, target: Vec<u8>) -> Result<Result<(), Error>, Error> {
        let entry = &mut member.entry;
        let under = |root: &Option<Vec<u8>>, path: &[u8]| -> Result<Vec<u8>, Error> {
            let Some(root) = root else { return Ok(plain(path).0.to_vec()) };
            let inner = path.strip_prefix(&root[..]).and_then(|rest| rest.strip_prefix(b"/")).filter(|inner| !inner.is_empty());
            inner.map(<[u8]>::to_vec).ok_or_else(|| {
                let hint = "it is no pack that deadpan made; tar may unpack it";
                Error::Archive { what: format!("{} is not under the one root of the pack", shown(path)), hint }
            })
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
        // In a pack, limits count from below the root, as they do in the index; and there is one way to write a path.
        let checked = |path: &[u8]| match &self.root {
            Some(root) => check_path(path.strip_prefix(&root[..]).and_then(|rest| rest.strip_prefix(b"/")).unwrap_or(path)),
            None => check_path(plain(path).0),
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
                    let hint = "the archive is damaged; --keep-going unpacks the rest";
                    return Ok(Err(Error::Archive { what: format!("the link {} leads nowhere", shown(&entry.path)), hint }));
                }
                entry.target = Some(target);
            }
            _ => {}
        }
        Ok(if entry.path.is_empty() && entry.kind != Kind::Folder {
            let hint = "the archive is damaged; --keep-going unpacks the rest";
            Err(Error::Archive { what: "an entry has no name".into(), hint })
        } else {
            Ok(())
        })
    }

    /// All blocks with lines of an old map were read; the content follows.
    pub(super) fn old_map_read(&mut self) -> Result<Option<Event>, Error> {
        let State::OldMap { mut member, pieces } = std::mem::replace(&mut self.state, State::Header) else { return Ok(None) };
        let entry = &mut member.entry;
        // What was gathered of this block is counted, the rest is not.
        entry.content = self.offset - self.offset % crate::BLOCK + crate::BLOCK;
        let map = pieces.map(0, entry.stored, entry.size)?;
        if entry.size > LARGEST {
            return Err(Error::damaged(format!("{} is said to have {} bytes", shown(&entry.path), entry.size)));
        }
        self.content(entry.stored, true);
        self.found.push_back(Event::Map(map));
        Ok(Some(Event::Member(member)))
    }

    /// A file with holes, as pax headers describe it.
    fn sparse(&mut self, mut member: Box<Member>, sparse: Sparse) -> Result<Event, Error> {
        let entry = &mut member.entry;
        let damaged = || Error::damaged(format!("{} has holes in a way that is not known", shown(&entry.path)));
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

/// What an entry is, by the type in its header.
enum What {
    Kind(Kind),
    Special { what: &'static str, content: bool },
    Nothing,
}

impl What {
    fn of(header: &Header<'_>, slash: bool, pack: bool) -> Self {
        match header.kind() {
            // Before there was a type for folders, they were files whose name ends with a slash.
            b'0' | b'7' | 0 if slash && !pack => Self::Kind(Kind::Folder),
            b'0' | b'7' | 0 => Self::Kind(Kind::File),
            b'1' => Self::Kind(Kind::HardLink),
            b'2' => Self::Kind(Kind::SymbolicLink),
            b'3' | b'4' => Self::Special { what: "a device", content: false },
            b'5' => Self::Kind(Kind::Folder),
            b'6' => Self::Special { what: "a FIFO", content: false },
            b'S' if header.maker() == Maker::Gnu => Self::Kind(Kind::Sparse),
            b'V' => Self::Nothing,
            b'M' => Self::Special { what: "the rest of a file from another volume", content: true },
            // POSIX: what is not known is a file. A file it may be, but who knows which; better none than a wrong one.
            _ => Self::Special { what: "of a type that is not known", content: true },
        }
    }
}

fn special(path: Vec<u8>, what: &str) -> Event {
    let hint = "deadpan makes files, folders and links only; --keep-going unpacks the rest";
    let error = Error::Archive { what: format!("{} is {what}", shown(&path)), hint };
    Event::Refused { path, error }
}
