//! The records of one part.

use super::table::{MARKER, PART_HEAD, Table, fill, number};
use super::{damaged, form, varint};
use crate::path::{self, order};
use crate::{BLOCK, Entry, Error, Kind, Time};
use std::cmp::Ordering;
use std::io::{Read, Seek};

/// A part whose hash is right, and how far it has been told.
#[derive(Debug)]
pub(crate) struct Records {
    bytes: Vec<u8>,
    at: usize,
    part: usize,
    left: u32,
    /// Where the entry before ends; for the first, where it begins.
    end: u64,
    trail: Trail,
    seconds: i64,
}

/// The path of the entry before, and whether it is a folder.
#[derive(Debug, Default)]
struct Trail {
    path: Vec<u8>,
    folder: bool,
}

impl Records {
    /// Reads a part.
    pub(crate) fn read(input: &mut (impl Read + Seek), table: &Table, part: usize) -> Result<Self, Error> {
        let row = table.row(part).ok_or_else(|| damaged("a part is missing"))?;
        let mut bytes = vec![0; row.length as usize];
        fill(input, row.offset, &mut bytes)?;
        if *blake3::hash(&bytes).as_bytes() != row.hash {
            return Err(damaged("the hash of a part is wrong"));
        }
        let begin = number(&bytes[..8]);
        let room = table.room(begin);
        if number(&bytes[8..12]) != u64::from(row.count)
            || !begin.is_multiple_of(BLOCK)
            || !room.contains(&begin)
            || part == 0 && begin != MARKER
        {
            return Err(damaged("a part begins wrongly"));
        }
        let (at, left) = (PART_HEAD as usize, row.count);
        Ok(Self { bytes, at, part, left, end: begin, trail: Trail::default(), seconds: 0 })
    }

    /// Where the first entry begins, before any was told; afterwards, where the last one that was told ends.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The next entry.
    pub(crate) fn next(&mut self, table: &Table) -> Result<Option<Entry>, Error> {
        if self.left == 0 {
            return Ok(None);
        }
        let row_count = table.row(self.part).map_or(0, |row| row.count);
        let first = self.left == row_count;
        let mut fields = Fields(&self.bytes[self.at..]);
        let kind = fields.kind()?;
        let shared = fields.number()?;
        let suffix = fields.string()?;
        let shared = usize::try_from(shared)
            .ok()
            .filter(|shared| *shared <= self.trail.path.len())
            .ok_or_else(|| damaged("a path shares too much"))?;
        if first {
            self.trail.begin(suffix, kind, table.first_path(self.part))?;
        } else {
            self.trail.go_on(shared, suffix, kind)?;
        }
        let begin = self.end + self.gap(table, first, fields.number()?)?;
        let room = table.room(begin);
        let blocks = |count: u64| count.checked_mul(BLOCK).filter(|bytes| *bytes <= room.end - begin);
        let outside = || damaged("an entry goes beyond its place");
        let headers = blocks(fields.number()?).filter(|headers| *headers > 0).ok_or_else(outside)?;
        let mode = u32::try_from(fields.number()?).ok().filter(|mode| *mode <= 0o7777).ok_or_else(|| damaged("a mode"))?;
        // A difference of two times may need one bit more than there is; it comes out right all the same.
        self.seconds = self.seconds.wrapping_add(varint::signed(fields.number()?));
        let nanoseconds = u32::try_from(fields.number()?).ok().filter(|it| *it < 1_000_000_000).ok_or_else(|| damaged("a time"))?;
        let rest = fields.rest(kind, &self.trail.path)?;
        let content = begin + headers;
        if rest.stored > room.end - content || rest.stored.next_multiple_of(BLOCK) > room.end - content {
            return Err(outside());
        }
        self.at = self.bytes.len() - fields.0.len();
        self.left -= 1;
        let entry = Entry {
            path: self.trail.path.clone(),
            kind,
            mode,
            modified: Time { seconds: self.seconds, nanoseconds },
            size: rest.size,
            begin,
            content,
            stored: rest.stored,
            hash: rest.hash,
            target: rest.target,
        };
        self.end = entry.end();
        if self.left == 0 {
            self.check_end(table)?;
        }
        Ok(Some(entry))
    }

    /// Bytes to where the next entry begins: as many as there are index blocks.
    fn gap(&self, table: &Table, first: bool, gap: u64) -> Result<u64, Error> {
        let right = if first { 0 } else { table.after(self.end) - self.end };
        if gap.checked_mul(BLOCK) != Some(right) {
            return Err(damaged("an entry does not begin where the one before ends"));
        }
        Ok(right)
    }

    /// That nothing follows in this part, and that the next one can.
    fn check_end(&self, table: &Table) -> Result<(), Error> {
        if self.at != self.bytes.len() {
            return Err(damaged("something stands behind the last entry of a part"));
        }
        if table.row(self.part).is_none_or(|row| row.offset < self.end) {
            return Err(damaged("a part lies before the entries that it tells of"));
        }
        let Some(next) = table.first_path(self.part + 1) else {
            let ends = table.after(self.end) == table.end();
            return if ends { Ok(()) } else { Err(damaged("entries are missing")) };
        };
        self.trail.check_next(0, next)
    }
}

impl Trail {
    /// The first path of a part. The table's own paths are known to be good.
    fn begin(&mut self, path: &[u8], kind: Kind, wanted: Option<&[u8]>) -> Result<(), Error> {
        if wanted != Some(path) {
            return Err(damaged("a part begins with another path than its table says"));
        }
        if path.is_empty() && kind != Kind::Folder {
            return Err(damaged("the root is no folder"));
        }
        *self = Self { path: path.to_vec(), folder: kind == Kind::Folder };
        Ok(())
    }

    /// Takes the next path in, if it may stand here.
    fn go_on(&mut self, shared: usize, suffix: &[u8], kind: Kind) -> Result<(), Error> {
        self.check_next(shared, suffix)?;
        self.path.truncate(shared);
        self.path.extend_from_slice(suffix);
        self.folder = kind == Kind::Folder;
        path::fault(&self.path, shared).map_or(Ok(()), |fault| Err(damaged(fault)))
    }

    /// That a path, of which the first `shared` bytes are those of this one, comes later in order, and that its folder came before.
    fn check_next(&self, shared: usize, suffix: &[u8]) -> Result<(), Error> {
        let path = &self.path;
        if order(&path[shared..], suffix) != Ordering::Less {
            return Err(damaged("its paths do not grow"));
        }
        if shared + suffix.len() > path::LONGEST {
            return Err(damaged("a path longer than 65 535 bytes"));
        }
        let last = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'/');
        let parent = last(suffix).map(|slash| shared + slash).or_else(|| last(&path[..shared])).unwrap_or(0);
        // What a path shares may be less than it could, so its folder may lie beyond.
        let same = parent <= shared || path.get(shared..parent).is_some_and(|rest| suffix.starts_with(rest));
        let holds = match path.get(parent) {
            None => self.folder && path.len() == parent,
            Some(byte) => parent == 0 || *byte == b'/',
        };
        if same && holds { Ok(()) } else { Err(damaged("a path whose folder is missing")) }
    }
}

/// What differs between kinds.
#[derive(Default)]
struct Rest {
    size: u64,
    stored: u64,
    hash: Option<[u8; 32]>,
    target: Option<Vec<u8>>,
}

/// The fields of records, taken one by one.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        self.0.split_off(..length).ok_or_else(|| damaged("a part ends within a record"))
    }

    fn number(&mut self) -> Result<u64, Error> {
        varint::take(&mut self.0).ok_or_else(|| damaged("a number is not one"))
    }

    fn string(&mut self) -> Result<&'a [u8], Error> {
        let length = self.number()?;
        self.take(usize::try_from(length).unwrap_or(usize::MAX))
    }

    fn kind(&mut self) -> Result<Kind, Error> {
        form::kind(self.take(1)?[0]).ok_or_else(|| damaged("an entry of an unknown kind"))
    }

    fn hash(&mut self) -> Result<Option<[u8; 32]>, Error> {
        Ok(self.take(32)?.try_into().ok())
    }

    fn rest(&mut self, kind: Kind, path: &[u8]) -> Result<Rest, Error> {
        Ok(match kind {
            Kind::Folder => Rest::default(),
            Kind::File => {
                let size = self.number()?;
                Rest { size, stored: size, hash: self.hash()?, target: None }
            }
            Kind::Sparse => Rest { size: self.number()?, stored: self.number()?, hash: self.hash()?, target: None },
            Kind::SymbolicLink => {
                let target = self.string()?;
                if target.is_empty() || target.len() > path::LONGEST || target.contains(&0) {
                    return Err(damaged("a link without a possible target"));
                }
                Rest { target: Some(target.to_vec()), ..Rest::default() }
            }
            Kind::HardLink => {
                let target = self.string()?;
                if path::fault(target, 0).is_some() || order(target, path) != Ordering::Less {
                    return Err(damaged("a hard link to what is no earlier file"));
                }
                Rest { target: Some(target.to_vec()), ..Rest::default() }
            }
        })
    }
}
