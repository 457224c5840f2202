//! Decodes the records of a part one at a time; the available bytes may end within a record.
//!
//! There are two callers. `PartReader` reads parts at the offsets in the table, and compares the parts with the table.
//! The unpacker reads parts from a stream, and compares the parts with the archive.

use std::cmp::Ordering;

use super::debt::PathDebt;
use super::form::{self, HEAD, damaged, number};
use super::varint::{self, Unread};
use crate::block::BLOCK;
use crate::entry::{Entry, Kind, Time};
use crate::error::Error;
use crate::path::{self, order};

/// Decodes the records of one part, and checks that each record is valid and may follow the preceding record.
#[derive(Debug)]
pub(crate) struct Decoder {
    /// The path of the preceding entry.
    path: Vec<u8>,
    /// Whether the preceding entry is a folder.
    folder: bool,
    /// The time of the preceding entry.
    seconds: i64,
    /// The offset where the preceding entry ends; before the first record, the offset where the first entry begins.
    end: u64,
    /// The number of entries in this part.
    count: u32,
    /// The number of entries that are not decoded yet.
    left: u32,
    debt: PathDebt,
}

impl Decoder {
    /// Makes a decoder from the head of a part, which is stored before the records.
    pub(crate) fn new(head: &[u8; HEAD], debt: PathDebt) -> Result<Self, Error> {
        let (end, count) = (number(&head[..8]), number(&head[8..]) as u32);
        if count == 0 || !end.is_multiple_of(BLOCK) {
            return Err(damaged("the first fields of a part are not valid"));
        }
        Ok(Self { path: Vec::new(), folder: false, seconds: 0, end, count, left: count, debt })
    }

    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    pub(crate) fn left(&self) -> u32 {
        self.left
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    pub(crate) fn debt(&self) -> PathDebt {
        self.debt
    }

    /// Takes the next record from the front of `bytes`. If the bytes end within the record, returns `None` and removes
    /// nothing from `bytes`. After an error, the decoder must not be used again.
    pub(crate) fn next(&mut self, bytes: &mut &[u8]) -> Result<Option<Entry>, Error> {
        let mut fields = Fields(bytes);
        match fields.record() {
            Ok(record) => {
                let length = bytes.len() - fields.0.len();
                *bytes = fields.0;
                self.accept(record, length).map(Some).map_err(damaged)
            }
            Err(Stop::Incomplete) => Ok(None),
            Err(Stop::Malformed(what)) => Err(damaged(what)),
        }
    }

    /// Checks a record of `length` bytes, and returns the entry that it describes.
    fn accept(&mut self, record: Record<'_>, length: usize) -> Result<Entry, &'static str> {
        let Record { kind, shared, suffix, .. } = record;
        let shared = usize::try_from(shared)
            .ok()
            .filter(|shared| *shared <= self.path.len())
            .ok_or("a path shares more bytes than the preceding path has")?;
        self.debt.add(shared + suffix.len(), length);
        if self.debt.is_too_high() {
            return Err("its paths have more than 64 MiB, and more than 16 times the bytes of their records");
        }
        let first = self.left == self.count;
        if !first {
            self.check_next(shared, suffix)?;
        } else if suffix.is_empty() && kind != Kind::Folder {
            return Err("the root is not a folder");
        }
        self.path.truncate(shared);
        self.path.extend_from_slice(suffix);
        self.folder = kind == Kind::Folder;
        // The empty path is the path of the root, and only the first record of the first part may have this path.
        if let Some(fault) = path::fault(&self.path, shared).filter(|_| !(first && self.path.is_empty())) {
            return Err(fault);
        }
        let elsewhere = "an entry does not begin where the preceding one ends";
        if first && record.gap != 0 {
            return Err(elsewhere);
        }
        let blocks = |from: u64, count: u64| count.checked_mul(BLOCK).and_then(|bytes| from.checked_add(bytes));
        let outside = "an entry has an impossible length";
        let begin = blocks(self.end, record.gap).ok_or(elsewhere)?;
        let content = blocks(begin, record.headers).filter(|content| *content > begin).ok_or(outside)?;
        let mode = u32::try_from(record.mode)
            .ok()
            .filter(|mode| *mode <= 0o7777)
            .ok_or("a mode has more bits than modes have")?;
        // The difference of two times may need 65 bits. The wrapping sum is still correct.
        self.seconds = self.seconds.wrapping_add(varint::signed(record.seconds));
        let nanoseconds = u32::try_from(record.nanoseconds)
            .ok()
            .filter(|it| *it < 1_000_000_000)
            .ok_or("a time has a billion nanoseconds or more")?;
        let target = record.target.map(|target| self.target(kind, target)).transpose()?;
        let rounded = record.stored.checked_next_multiple_of(BLOCK);
        self.end = rounded.and_then(|length| content.checked_add(length)).ok_or(outside)?;
        self.left -= 1;
        Ok(Entry {
            path: self.path.clone(),
            kind,
            mode,
            modified: Time { seconds: self.seconds, nanoseconds },
            size: record.size,
            begin,
            content,
            stored: record.stored,
            hash: record.hash.copied(),
            target,
        })
    }

    /// Checks the target of a link; the path of the link is in `self.path`.
    fn target(&self, kind: Kind, target: &[u8]) -> Result<Vec<u8>, &'static str> {
        if kind == Kind::HardLink {
            if path::fault(target, 0).is_some() || order(target, &self.path) != Ordering::Less {
                return Err("the target of a hard link is not an earlier file or link");
            }
        } else if target.is_empty() || target.contains(&0) {
            return Err("a link has no valid target");
        }
        Ok(target.to_vec())
    }

    /// Checks that a path may follow the preceding path: the path must be later in the order, and its folder must be an
    /// earlier entry. The path consists of the first `shared` bytes of the preceding path and of `suffix`.
    pub(crate) fn check_next(&self, shared: usize, suffix: &[u8]) -> Result<(), &'static str> {
        let path = &self.path;
        if order(&path[shared..], suffix) != Ordering::Less {
            return Err("its paths are not in order");
        }
        let last = |bytes: &[u8]| bytes.iter().rposition(|byte| *byte == b'/');
        let parent = last(suffix).map(|slash| shared + slash).or_else(|| last(&path[..shared])).unwrap_or(0);
        // The two paths may share more bytes than the record states, so the path of the folder may be longer than
        // `shared` bytes.
        let same = parent <= shared || path.get(shared..parent).is_some_and(|rest| suffix.starts_with(rest));
        let holds = match path.get(parent) {
            None => self.folder && path.len() == parent,
            Some(byte) => parent == 0 || *byte == b'/',
        };
        if same && holds { Ok(()) } else { Err("the folder of a path is missing") }
    }
}

/// A record's fields, as they are stored.
struct Record<'a> {
    kind: Kind,
    shared: u64,
    suffix: &'a [u8],
    gap: u64,
    headers: u64,
    mode: u64,
    /// The seconds of the time minus the seconds of the preceding entry, in zigzag form.
    seconds: u64,
    nanoseconds: u64,
    size: u64,
    stored: u64,
    hash: Option<&'a [u8; 32]>,
    target: Option<&'a [u8]>,
}

enum Stop {
    /// The bytes end within the field.
    Incomplete,
    Malformed(&'static str),
}

impl From<Unread> for Stop {
    fn from(unread: Unread) -> Self {
        match unread {
            Unread::Incomplete => Self::Incomplete,
            Unread::Malformed => Self::Malformed("a number is not valid LEB128"),
        }
    }
}

struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn record(&mut self) -> Result<Record<'a>, Stop> {
        let [code] = *self.bytes()?;
        let kind = form::kind(code).ok_or(Stop::Malformed("the kind of an entry is unknown"))?;
        let mut record = Record {
            kind,
            shared: self.number()?,
            suffix: self.string("a path is longer than 65 535 bytes")?,
            gap: self.number()?,
            headers: self.number()?,
            mode: self.number()?,
            seconds: self.number()?,
            nanoseconds: self.number()?,
            size: 0,
            stored: 0,
            hash: None,
            target: None,
        };
        match kind {
            Kind::Folder => {}
            Kind::File | Kind::Sparse => {
                record.size = self.number()?;
                record.stored = if kind == Kind::File { record.size } else { self.number()? };
                record.hash = Some(self.bytes()?);
            }
            Kind::SymbolicLink | Kind::HardLink => {
                record.target = Some(self.string("a link has no valid target")?);
            }
        }
        Ok(record)
    }

    fn number(&mut self) -> Result<u64, Stop> {
        Ok(varint::take(&mut self.0)?)
    }

    fn bytes<const LENGTH: usize>(&mut self) -> Result<&'a [u8; LENGTH], Stop> {
        let (bytes, rest) = self.0.split_first_chunk().ok_or(Stop::Incomplete)?;
        self.0 = rest;
        Ok(bytes)
    }

    /// Decodes a length, and then takes that number of bytes. The length has a limit, because an incomplete record is
    /// kept in memory. `too_long` is the error message if the length exceeds the limit.
    fn string(&mut self, too_long: &'static str) -> Result<&'a [u8], Stop> {
        let length = self.number()?;
        if length > path::LONGEST as u64 {
            return Err(Stop::Malformed(too_long));
        }
        self.0.split_off(..length as usize).ok_or(Stop::Incomplete)
    }
}
