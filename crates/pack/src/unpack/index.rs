//! Whether a pack's index agrees with what comes out of its archive.
//!
//! Each part is compared as it comes, and forgotten. Of the table only a hash is kept: what it must be follows from the parts.

use super::ledger::Ledger;
use crate::index::form;
use crate::path::LONGEST;
use crate::{Entry, Error, Kind, Time};
use blake3::Hasher;

/// A part's head: where its first entry begins, and how many there are.
const HEAD: usize = 12;

/// What is left of a pack after its parts and its table.
const TRAILER: usize = 64;

/// Follows the index through a pack.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// What the table must be.
    table: Hasher,
    table_length: u64,
    /// What came of it.
    seen: Hasher,
    seen_length: u64,
    parts: u32,
    entries: u64,
    stage: Stage,
    /// The part that is being read.
    part: Part,
    /// What came after the end of the archive and was not used yet, and where it begins.
    rest: Vec<u8>,
    offset: u64,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Parts,
    Done,
}

#[derive(Debug, Default)]
struct Part {
    offset: u64,
    /// Entries that are to come.
    left: u32,
    count: u32,
    length: u64,
    hash: Hasher,
    first: Vec<u8>,
    before: Option<Entry>,
}

impl Index {
    /// A part in an index block, which begins at byte `offset` of the pack.
    pub(super) fn block(&mut self, part: &[u8], offset: u64, ledger: &Ledger) -> Result<(), Error> {
        let used = self.part(part, offset, ledger)?;
        if used != part.len() || self.part.left > 0 {
            return Err(damaged());
        }
        Ok(())
    }

    /// The archive has ended before byte `offset` of the pack.
    pub(super) fn end(&mut self, offset: u64) {
        self.offset = offset;
    }

    /// What follows the end of the archive.
    pub(super) fn tail(&mut self, bytes: &[u8], ledger: &Ledger) -> Result<(), Error> {
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(bytes);
        let mut used = 0;
        while self.stage == Stage::Parts && (self.part.left > 0 || ledger.not_indexed() > 0) {
            match self.part(&rest[used..], self.offset, ledger)? {
                0 => break,
                more => (used, self.offset) = (used + more, self.offset + more as u64),
            }
        }
        rest.drain(..used);
        if self.part.left == 0 && ledger.not_indexed() == 0 {
            rest = self.close(rest)?;
        }
        self.rest = rest;
        Ok(())
    }

    /// The table and the trailer, which say nothing new.
    fn close(&mut self, mut rest: Vec<u8>) -> Result<Vec<u8>, Error> {
        // However long the table is, it is not kept.
        let missing = self.table_length - self.seen_length;
        let lines = usize::try_from(missing).unwrap_or(usize::MAX).min(rest.len());
        self.seen.update(&rest[..lines]);
        self.seen_length += lines as u64;
        rest.drain(..lines);
        if self.stage == Stage::Done && !rest.is_empty() || rest.len() > TRAILER {
            return Err(Error::damaged("something follows the end of the pack"));
        }
        if rest.len() < TRAILER {
            return Ok(rest);
        }
        let hash = self.table.finalize();
        let expected = form::trailer(self.offset, self.table_length, self.entries, self.parts, &hash);
        if self.seen.finalize() != hash || rest != expected {
            return Err(damaged());
        }
        self.stage = Stage::Done;
        Ok(Vec::new())
    }

    /// Whether all of it came.
    pub(super) fn done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Reads what is whole of a part, which lies at byte `place` of the pack if it begins here. Returns how much that was.
    fn part(&mut self, bytes: &[u8], place: u64, ledger: &Ledger) -> Result<usize, Error> {
        let mut used = 0;
        if self.part.left == 0 {
            let Some(head) = bytes.first_chunk::<HEAD>() else { return Ok(0) };
            let [begin, count] = [&head[..8], &head[8..]].map(|bytes| bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)));
            let left = u32::try_from(count).ok().filter(|count| *count > 0).ok_or_else(damaged)?;
            let before = Entry { begin, ..nothing() };
            self.part = Part { offset: place, left, count: left, before: Some(before), ..Part::default() };
            self.part.take(head);
            used = HEAD;
        }
        while self.part.left > 0 {
            let part = &mut self.part;
            let Some(before) = &part.before else { return Err(damaged()) };
            let mut cursor = Cursor { rest: &bytes[used..] };
            let Some(entry) = cursor.entry(before, part.left == part.count)? else { break };
            let length = bytes.len() - used - cursor.rest.len();
            part.take(&bytes[used..used + length]);
            let file = entry.target.as_deref().filter(|_| entry.kind == Kind::HardLink);
            ledger.index(facts(&entry), entry.hash, file)?;
            if part.left == part.count {
                part.first.clone_from(&entry.path);
            }
            (part.before, part.left) = (Some(entry), part.left - 1);
            self.entries += 1;
            used += length;
        }
        if used > 0 && self.part.left == 0 {
            self.line();
        }
        Ok(used)
    }

    /// The table's line for the part that was read.
    fn line(&mut self) {
        let part = &self.part;
        let line = form::line(part.offset, part.length as u32, part.count, &part.hash.finalize(), &part.first);
        self.table.update(&line);
        self.table_length += line.len() as u64;
        self.parts += 1;
    }
}

impl Part {
    fn take(&mut self, bytes: &[u8]) {
        self.hash.update(bytes);
        self.length += bytes.len() as u64;
    }
}

/// What must be the same in the archive and in the index, but for the hash of the content.
pub(super) fn facts(entry: &Entry) -> [u8; 16] {
    let target = entry.target.as_deref().unwrap_or_default();
    let mut hash = Hasher::new();
    hash.update(&[form::code(entry.kind)]);
    for number in [entry.begin, entry.content, entry.size, entry.stored, entry.path.len() as u64, target.len() as u64] {
        hash.update(&number.to_be_bytes());
    }
    hash.update(&entry.modified.seconds.to_be_bytes()).update(&entry.modified.nanoseconds.to_be_bytes());
    hash.update(&entry.mode.to_be_bytes()).update(&entry.path).update(target);
    let mut facts = [0; 16];
    facts.copy_from_slice(&hash.finalize().as_bytes()[..16]);
    facts
}

fn nothing() -> Entry {
    let modified = Time::default();
    let (path, hash, target) = (Vec::new(), None, None);
    Entry { path, kind: Kind::Folder, mode: 0, modified, size: 0, begin: 0, content: 0, stored: 0, hash, target }
}

struct Cursor<'a> {
    rest: &'a [u8],
}

/// `None` inside: more bytes are needed.
type Found<T> = Result<Option<T>, Error>;

macro_rules! there {
    ($found:expr) => {
        match $found? {
            Some(found) => found,
            None => return Ok(None),
        }
    };
}

impl<'a> Cursor<'a> {
    /// The entry after `before`, which for the first of a part only says where that begins.
    fn entry(&mut self, before: &Entry, first: bool) -> Found<Entry> {
        let kind = form::kind(there!(self.bytes(1))[0]).ok_or_else(damaged)?;
        let shared = usize::try_from(there!(self.varint())).map_err(|_| damaged())?;
        let more = there!(self.length());
        let shared = before.path.get(..shared).ok_or_else(damaged)?;
        let path = [shared, more].concat();
        let gap = there!(self.varint());
        let headers = there!(self.varint());
        let mode = u32::try_from(there!(self.varint())).map_err(|_| damaged())?;
        let zigzag = there!(self.varint());
        let difference = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
        let seconds = before.modified.seconds.wrapping_add(difference);
        let nanoseconds = u32::try_from(there!(self.varint())).map_err(|_| damaged())?;
        if first && gap != 0 || path.len() > LONGEST {
            return Err(damaged());
        }
        let blocks = |from: u64, blocks: u64| blocks.checked_mul(crate::BLOCK).and_then(|bytes| from.checked_add(bytes));
        let begin = if first { Some(before.begin) } else { blocks(before.end(), gap) };
        let content = begin.and_then(|begin| blocks(begin, headers)).ok_or_else(damaged)?;
        let modified = Time { seconds, nanoseconds };
        let mut entry = Entry { path, kind, mode, modified, begin: begin.unwrap_or_default(), content, ..nothing() };
        match kind {
            Kind::Folder => {}
            Kind::SymbolicLink | Kind::HardLink => entry.target = Some(there!(self.length()).to_vec()),
            Kind::File | Kind::Sparse => {
                entry.size = there!(self.varint());
                entry.stored = if kind == Kind::File { entry.size } else { there!(self.varint()) };
                entry.hash = Some(*there!(self.bytes(32)).first_chunk().ok_or_else(damaged)?);
            }
        }
        Ok(Some(entry))
    }

    fn bytes(&mut self, length: usize) -> Found<&'a [u8]> {
        let Some((bytes, rest)) = self.rest.split_at_checked(length) else { return Ok(None) };
        self.rest = rest;
        Ok(Some(bytes))
    }

    /// Bytes after their length, which is that of a path at most.
    fn length(&mut self) -> Found<&'a [u8]> {
        let length = there!(self.varint());
        if length > LONGEST as u64 { Err(damaged()) } else { self.bytes(length as usize) }
    }

    /// In its shortest form only, so that there is one way to write an index.
    fn varint(&mut self) -> Found<u64> {
        let mut number = 0;
        for (place, byte) in self.rest.iter().enumerate().take(10) {
            let bits = u64::from(byte & 0x7f);
            if place == 9 && *byte > 1 || place > 0 && *byte == 0 {
                return Err(damaged());
            }
            number |= bits << (7 * place);
            if byte & 0x80 == 0 {
                self.rest = &self.rest[place + 1..];
                return Ok(Some(number));
            }
        }
        if self.rest.len() < 10 { Ok(None) } else { Err(damaged()) }
    }
}

fn damaged() -> Error {
    Error::damaged("the index of the pack is not well-formed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_their_shortest_form() {
        let read = |bytes: &[u8]| Cursor { rest: bytes }.varint();
        for (bytes, number) in
            [(&[0][..], 0), (&[0x7f], 127), (&[0x80, 1], 128), (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], u64::MAX)]
        {
            assert_eq!(read(bytes).unwrap(), Some(number));
        }
        for bytes in [&[0x80, 0][..], &[0xff; 11], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        assert_eq!(read(&[0x80]).unwrap(), None);
    }
}
