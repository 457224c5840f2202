//! Writes an index. A part has empty slots for the hashes of files, which are set after the files are read.

use std::collections::VecDeque;

use super::debt::PathDebt;
use super::form;
use super::table::LONGEST_TABLE;
use super::varint::{put, put_signed};
use crate::block::BLOCK;
use crate::entry::{Entry, Kind};
use crate::path;
use crate::tar::form::INDEX_BLOCK;
use crate::tar::write::comment;

/// A part of this length or more gets no further entries.
const PART: usize = 128 << 10;
/// If the finished parts have this many bytes or more, the parts whose hashes are all set are written into the archive
/// as index blocks.
const WAITING: usize = 4 << 20;
const HASH: usize = 32;
/// The length in bytes of a row of the table, without the path.
const LINE: u64 = 8 + 4 + 4 + 32 + 2;

/// The place where a hash is stored: the number of an index part, and an offset in this part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    part: u32,
    at: u32,
}

#[derive(Debug)]
struct Part {
    /// The path of the first entry.
    first: Vec<u8>,
    /// The number of entries.
    count: u32,
    /// The head, then the records.
    bytes: Vec<u8>,
    /// The number of hashes that are missing.
    open: usize,
}

#[derive(Debug, Default)]
pub(crate) struct IndexWriter {
    /// Parts that are not written yet. The last part may grow.
    parts: VecDeque<Part>,
    written: u32,
    /// The number of file hashes that are not set yet, in all parts together.
    open: usize,
    /// The bytes of the closed parts.
    waiting: usize,
    table: Vec<u8>,
    /// The length that the table will have after all parts are written.
    table_length: u64,
    entries: u64,
    /// The path of the preceding entry, with its time and the offset of its end.
    path: Vec<u8>,
    seconds: i64,
    end: u64,
    debt: PathDebt,
}

impl IndexWriter {
    /// Adds an entry. If the entry is a file, returns the place for its hash.
    pub(crate) fn add(&mut self, entry: &Entry) -> Option<Slot> {
        if self.parts.back().is_none_or(|part| part.bytes.len() >= PART) {
            self.begin(entry);
        }
        let number = self.written + self.parts.len() as u32 - 1;
        let part = self.parts.back_mut()?;
        let out = &mut part.bytes;
        let begin = out.len();
        out.push(form::code(entry.kind));
        let shared = path::shared(&entry.path, &self.path);
        put(out, shared as u64);
        put(out, (entry.path.len() - shared) as u64);
        out.extend_from_slice(&entry.path[shared..]);
        put(out, (entry.begin - self.end) / BLOCK);
        put(out, (entry.content - entry.begin) / BLOCK);
        put(out, entry.mode.into());
        put_signed(out, entry.modified.seconds.wrapping_sub(self.seconds));
        put(out, entry.modified.nanoseconds.into());
        let mut slot = None;
        match entry.kind {
            Kind::File | Kind::Sparse => {
                put(out, entry.size);
                if entry.kind == Kind::Sparse {
                    put(out, entry.stored);
                }
                slot = Some(Slot { part: number, at: out.len() as u32 });
                out.extend_from_slice(&[0; HASH]);
                part.open += 1;
                self.open += 1;
            }
            Kind::SymbolicLink | Kind::HardLink => {
                let target = entry.target.as_deref().unwrap_or_default();
                put(out, target.len() as u64);
                out.extend_from_slice(target);
            }
            Kind::Folder => {}
        }
        self.debt.add(entry.path.len(), out.len() - begin);
        part.count += 1;
        self.entries += 1;
        self.path.truncate(shared);
        self.path.extend_from_slice(&entry.path[shared..]);
        (self.seconds, self.end) = (entry.modified.seconds, entry.end());
        slot
    }

    /// Begins a new part with `entry` as its first entry. The first record of a part can be decoded without the
    /// preceding part.
    fn begin(&mut self, entry: &Entry) {
        self.waiting += self.parts.back().map_or(0, |part| part.bytes.len());
        self.table_length += LINE + entry.path.len() as u64;
        // The last record of a part may end beyond `PART` bytes, so the buffer is a little longer.
        let mut bytes = Vec::with_capacity(PART + 1024);
        bytes.extend_from_slice(&entry.begin.to_be_bytes());
        bytes.extend_from_slice(&[0; 4]);
        self.parts.push_back(Part { first: entry.path.clone(), count: 0, bytes, open: 0 });
        self.path.clear();
        (self.seconds, self.end) = (0, entry.begin);
    }

    /// Whether the table or the paths are longer than readers accept.
    pub(crate) fn is_too_long(&self) -> bool {
        self.table_length > LONGEST_TABLE || self.debt.is_too_high()
    }

    /// Sets a missing hash.
    pub(crate) fn set(&mut self, slot: Slot, hash: &[u8; HASH]) {
        if let Some(part) = self.parts.get_mut((slot.part - self.written) as usize) {
            part.bytes[slot.at as usize..slot.at as usize + HASH].copy_from_slice(hash);
            part.open -= 1;
            self.open -= 1;
        }
    }

    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// If the finished parts have too many bytes, and the oldest part has all its hashes, returns the oldest part as an
    /// index block, to be written at offset `position` of the pack.
    pub(crate) fn block(&mut self, position: u64) -> Option<Vec<u8>> {
        if self.waiting < WAITING || self.parts.front()?.open > 0 {
            return None;
        }
        let part = self.parts.pop_front()?;
        self.waiting -= part.bytes.len();
        let (line, bytes) = self.close(part);
        let mut block = Vec::with_capacity(bytes.len() + 2048);
        comment(&mut block, &[INDEX_BLOCK, &bytes]);
        // The part follows the header, `LENGTH comment=` and the prefix.
        let found = block[BLOCK as usize..].iter().position(|byte| *byte == b'=').unwrap_or_default();
        let begin = BLOCK + found as u64 + 1 + INDEX_BLOCK.len() as u64;
        self.line(position + begin, &bytes, &line);
        Some(block)
    }

    /// Returns the next of the parts that follow the end of the archive, to be written at offset `position` of the
    /// pack.
    pub(crate) fn part(&mut self, position: u64) -> Option<Vec<u8>> {
        let part = self.parts.pop_front()?;
        let (line, bytes) = self.close(part);
        self.line(position, &bytes, &line);
        Some(bytes)
    }

    fn close(&mut self, part: Part) -> (Line, Vec<u8>) {
        self.written += 1;
        let mut bytes = part.bytes;
        bytes[8..12].copy_from_slice(&part.count.to_be_bytes());
        (Line { first: part.first, count: part.count }, bytes)
    }

    fn line(&mut self, position: u64, bytes: &[u8], line: &Line) {
        let line = form::line(position, bytes.len() as u32, line.count, &blake3::hash(bytes), &line.first);
        self.table.extend_from_slice(&line);
    }

    /// Returns the table, the zeros and the trailer, to be written at offset `position` of the pack. All parts must be
    /// written.
    pub(crate) fn end(&mut self, position: u64) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.table);
        let (length, hash) = (bytes.len() as u64, blake3::hash(&bytes));
        bytes.resize(bytes.len() + form::zeros(position + length), 0);
        bytes.extend_from_slice(&form::trailer(position, length, self.entries, self.written, &hash));
        bytes
    }
}

/// A row of the table before its offset and length are known: the first path of the part, and the number of entries.
struct Line {
    first: Vec<u8>,
    count: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Time;
    use crate::index::Decoder;

    fn entry(kind: Kind, path: Vec<u8>, position: u64) -> Entry {
        Entry {
            path,
            kind,
            mode: 0,
            modified: Time::default(),
            size: 0,
            begin: position,
            content: position + 512,
            stored: 0,
            hash: None,
            target: None,
        }
    }

    /// Readers refuse an index whose paths are too long, so a writer must stop at the same entry as a reader.
    #[test]
    fn writers_and_readers_have_the_same_bound_for_paths() {
        let mut index = IndexWriter::default();
        let folder = vec![b'x'; 60_000];
        let mut position = 1024;
        let mut count = 0;
        while !index.is_too_long() {
            let path = match count {
                0 => Vec::new(),
                1 => folder.clone(),
                _ => [&folder[..], format!("/{count:08}").as_bytes()].concat(),
            };
            index.add(&Entry { mode: 0o755, ..entry(Kind::Folder, path, position) });
            position += 512;
            count += 1;
            assert!(count < 2000, "the paths must become too long");
        }
        let (mut debt, mut read) = (PathDebt::default(), 0);
        let end = loop {
            let part = index.part(position).expect("the last entry is refused before the parts end");
            let (head, mut records) = part.split_first_chunk().unwrap();
            let mut decoder = Decoder::new(head, debt).unwrap();
            let refused = loop {
                match decoder.next(&mut records) {
                    Ok(Some(_)) => read += 1,
                    other => break other,
                }
            };
            debt = decoder.debt();
            if let Err(error) = refused {
                break error;
            }
        };
        assert!(end.to_string().contains("its paths have more than 64 MiB"), "{end}");
        assert_eq!(read, count - 1, "only the last entry is refused");
    }

    /// Readers refuse a table that is longer than the limit, so a writer must not exceed the limit.
    #[test]
    fn the_table_does_not_exceed_the_limit_of_readers() {
        let mut index = IndexWriter::default();
        let mut position = 1024;
        // Each entry fills a whole part, so it adds a path of 65 535 bytes to the table.
        for number in 0_u32.. {
            let mut path = number.to_be_bytes().map(|byte| byte | 0x80).to_vec();
            path.resize(65_535, b'x');
            let target = Some(vec![b'x'; 65_535]);
            index.add(&Entry { target, ..entry(Kind::SymbolicLink, path, position) });
            position += 512;
            if index.is_too_long() {
                break;
            }
            assert!(number < 300, "the table must become too long");
            while index.block(position).is_some() {}
        }
        while index.part(position).is_some() {}
        let length = index.table.len() as u64;
        assert!(length > LONGEST_TABLE && length < LONGEST_TABLE + 70_000, "{length}");
    }
}
