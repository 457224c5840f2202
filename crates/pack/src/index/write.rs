//! The index as it grows: parts with room for hashes that are not known yet.

use super::form;
use super::table::LONGEST_TABLE;
use super::varint::{put, put_signed};
use crate::path;
use crate::tar::INDEX_BLOCK;
use crate::tar::write::comment;
use crate::{BLOCK, Entry, Kind};
use std::collections::VecDeque;

/// A part is closed when it is so long.
const PART: usize = 128 << 10;
/// When more than this is complete, it goes into the archive.
const WAITING: usize = 4 << 20;
const HASH: usize = 32;
/// Bytes of a line of the table, without the path.
const LINE: u64 = 8 + 4 + 4 + 32 + 2;

/// Where a hash belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    part: u32,
    at: u32,
}

#[derive(Debug)]
struct Part {
    first: Vec<u8>,
    count: u32,
    /// With the eight and four bytes before the records.
    bytes: Vec<u8>,
    /// Hashes that are missing.
    open: usize,
}

/// The index of a pack that is being written.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// Parts that are not written, the last of them open.
    parts: VecDeque<Part>,
    /// How many were written.
    written: u32,
    /// Hashes that are missing in all parts.
    open: usize,
    /// Bytes in closed parts.
    waiting: usize,
    table: Vec<u8>,
    /// How long it will be at least.
    table_length: u64,
    entries: u64,
    /// Of the entry before.
    path: Vec<u8>,
    seconds: i64,
    end: u64,
}

impl Index {
    /// Adds an entry. A file's hash comes later, by its slot.
    pub(crate) fn add(&mut self, entry: &Entry) -> Option<Slot> {
        if self.parts.back().is_none_or(|part| part.bytes.len() >= PART) {
            self.begin(entry);
        }
        let number = self.written + self.parts.len() as u32 - 1;
        let part = self.parts.back_mut()?;
        let out = &mut part.bytes;
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
        part.count += 1;
        self.entries += 1;
        self.path.truncate(shared);
        self.path.extend_from_slice(&entry.path[shared..]);
        (self.seconds, self.end) = (entry.modified.seconds, entry.end());
        slot
    }

    /// A new part, which begins with this entry and can be read alone.
    fn begin(&mut self, entry: &Entry) {
        self.waiting += self.parts.back().map_or(0, |part| part.bytes.len());
        self.table_length += LINE + entry.path.len() as u64;
        // A part ends with the record that fills it.
        let mut bytes = Vec::with_capacity(PART + 1024);
        bytes.extend_from_slice(&entry.begin.to_be_bytes());
        bytes.extend_from_slice(&[0; 4]);
        self.parts.push_back(Part { first: entry.path.clone(), count: 0, bytes, open: 0 });
        self.path.clear();
        (self.seconds, self.end) = (0, entry.begin);
    }

    /// Whether no reader would take the table any more.
    pub(crate) fn is_too_long(&self) -> bool {
        self.table_length > LONGEST_TABLE
    }

    pub(crate) fn set(&mut self, slot: Slot, hash: &[u8; HASH]) {
        if let Some(part) = self.parts.get_mut((slot.part - self.written) as usize) {
            part.bytes[slot.at as usize..slot.at as usize + HASH].copy_from_slice(hash);
            part.open -= 1;
            self.open -= 1;
        }
    }

    /// How many hashes are missing.
    pub(crate) fn open(&self) -> usize {
        self.open
    }

    /// A complete part as an index block at `position` of the pack, if too much is waiting.
    pub(crate) fn block(&mut self, position: u64) -> Option<Vec<u8>> {
        if self.waiting < WAITING || self.parts.front()?.open > 0 {
            return None;
        }
        let part = self.parts.pop_front()?;
        self.waiting -= part.bytes.len();
        let (line, bytes) = self.close(part);
        let mut block = Vec::with_capacity(bytes.len() + 2048);
        comment(&mut block, &[INDEX_BLOCK, &bytes]);
        // The header, then `LENGTH comment=`, then the prefix.
        let found = block[BLOCK as usize..].iter().position(|byte| *byte == b'=').unwrap_or_default();
        let begin = BLOCK + found as u64 + 1 + INDEX_BLOCK.len() as u64;
        self.line(position + begin, &bytes, &line);
        Some(block)
    }

    /// The next part that follows the archive, at `position` of the pack.
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

    /// The table and the trailer, at `position` of the pack, when all parts are written.
    pub(crate) fn end(&mut self, position: u64) -> Vec<u8> {
        let mut bytes = std::mem::take(&mut self.table);
        let (length, hash) = (bytes.len() as u64, blake3::hash(&bytes));
        bytes.extend_from_slice(&form::trailer(position, length, self.entries, self.written, &hash));
        bytes
    }
}

/// What the table says about a part, beside where it is.
struct Line {
    first: Vec<u8>,
    count: u32,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    /// Readers refuse a longer one, so a writer must not get that far.
    #[test]
    fn the_table_does_not_grow_beyond_what_is_read() {
        let mut index = Index::default();
        let mut position = 1024;
        // Each of them fills a part, of which the table keeps a path of 65 535 bytes.
        for number in 0_u32.. {
            let mut path = number.to_be_bytes().map(|byte| byte | 0x80).to_vec();
            path.resize(65_535, b'x');
            let entry = |kind, path| Entry {
                path,
                kind,
                mode: 0,
                modified: Time::default(),
                size: 0,
                begin: position,
                content: position + 512,
                stored: 0,
                hash: None,
                target: Some(vec![b'x'; 65_535]),
            };
            index.add(&entry(Kind::SymbolicLink, path));
            position += 512;
            if index.is_too_long() {
                break;
            }
            assert!(number < 300, "it is never too long");
            while index.block(position).is_some() {}
        }
        while index.part(position).is_some() {}
        let length = index.table.len() as u64;
        assert!(length > LONGEST_TABLE && length < LONGEST_TABLE + 70_000, "{length}");
    }
}
