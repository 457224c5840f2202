//! The trailer and the table: where the parts of the index lie.

use super::damaged;
use super::form::SIGNATURE;
use crate::path::{self, order};
use crate::{BLOCK, Error};
use std::cmp::Ordering;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;

const TRAILER: u64 = 64;
/// The longest table that is read: enough for a hundred million entries with paths as they usually are.
pub(super) const LONGEST_TABLE: u64 = 16 << 20;
/// The longest part, where writers keep to about an eighth of that.
const LONGEST_PART: u32 = 1 << 20;
/// Bytes of a part before its records.
pub(super) const PART_HEAD: u32 = 12;
/// The shortest record, that of a folder.
const SHORTEST_RECORD: u32 = 8;
/// Bytes of the marker at the beginning: a header, and a block for its record.
pub(crate) const MARKER: u64 = 2 * BLOCK;
/// What stands before a part in an index block, behind the length.
const COMMENT: &[u8] = b" comment=deadpan index ";

/// What the table says of one part.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// Where it lies in the pack.
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// Entries in it.
    pub(crate) count: u32,
    pub(crate) hash: [u8; 32],
    /// Its first path, as a place in the table.
    path: Range<u32>,
}

/// The table, and what follows from it.
#[derive(Debug)]
pub(crate) struct Table {
    bytes: Vec<u8>,
    rows: Vec<Row>,
    entries: u64,
    /// Where index blocks interrupt the entries: begin and end, in order, never touching.
    blocks: Vec<(u64, u64)>,
    /// Where the entries end, and the two blocks of zeros begin.
    end: u64,
}

impl Table {
    /// Reads it from the end of a pack.
    pub(crate) fn read(input: &mut (impl Read + Seek)) -> Result<Self, Error> {
        let whole = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        let at = whole.checked_sub(TRAILER).ok_or(Error::Truncated)?;
        let mut trailer = [0; TRAILER as usize];
        fill(input, at, &mut trailer)?;
        let (begin, length, hash) = (number(&trailer[..8]), number(&trailer[8..16]), &trailer[32..56]);
        let (entries, parts) = (number(&trailer[16..24]), number(&trailer[24..28]));
        if &trailer[56..] != SIGNATURE {
            let what = "a pack without its index, which stands at the end".into();
            return Err(Error::Archive { what, hint: "it was cut short or changed; get it again. Its entries can still be read with tar" });
        }
        if trailer[28..32] != [0; 4] || begin.checked_add(length) != Some(at) {
            return Err(damaged("its table is not where the trailer says"));
        }
        if length > LONGEST_TABLE {
            return Err(damaged("its table is longer than 16 MiB"));
        }
        let mut bytes = vec![0; length as usize];
        fill(input, begin, &mut bytes)?;
        if blake3::hash(&bytes).as_bytes()[..24] != *hash {
            return Err(damaged("the hash of its table is wrong"));
        }
        let rows = rows(&bytes)?;
        if rows.len() as u64 != parts || rows.iter().map(|row| u64::from(row.count)).sum::<u64>() != entries {
            return Err(damaged("its counts do not agree"));
        }
        let (blocks, end) = layout(&rows, begin)?;
        Ok(Self { bytes, rows, entries, blocks, end })
    }

    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    pub(crate) fn row(&self, part: usize) -> Option<&Row> {
        self.rows.get(part)
    }

    /// The path of a part's first entry.
    pub(crate) fn first_path(&self, part: usize) -> Option<&[u8]> {
        self.rows.get(part).map(|row| &self.bytes[row.path.start as usize..row.path.end as usize])
    }

    /// The part that holds a path, if any does.
    pub(crate) fn part_of(&self, path: &[u8]) -> usize {
        let path_of = |row: &Row| &self.bytes[row.path.start as usize..row.path.end as usize];
        self.rows.partition_point(|row| order(path_of(row), path) != Ordering::Greater).saturating_sub(1)
    }

    /// Where an entry begins if the one before ends here: after the index blocks, if there are some.
    pub(crate) fn after(&self, end: u64) -> u64 {
        self.blocks.binary_search_by_key(&end, |block| block.0).map_or(end, |found| self.blocks[found].1)
    }

    /// How far an entry that begins here may go: to the next index block, or to the end of the archive.
    pub(crate) fn room(&self, begin: u64) -> Range<u64> {
        let next = self.blocks.partition_point(|block| block.0 < begin);
        let before = next.checked_sub(1).map_or(MARKER, |before| self.blocks[before].1);
        before..self.blocks.get(next).map_or(self.end, |block| block.0)
    }

    /// Where the entries end.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }
}

/// The rows of a table, each checked by itself and their paths in order.
fn rows(bytes: &[u8]) -> Result<Vec<Row>, Error> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut rest, mut before) = (bytes, None::<&[u8]>);
    while !rest.is_empty() {
        let mut take = |length: usize| rest.split_off(..length).ok_or_else(|| damaged("its table ends within a row"));
        let (offset, length, count) = (number(take(8)?), number(take(4)?) as u32, number(take(4)?) as u32);
        let hash = take(32)?.try_into().unwrap_or_default();
        let path = take(2).map(number)? as usize;
        let path = take(path)?;
        let end = (bytes.len() - rest.len()) as u32;
        if length > LONGEST_PART || count == 0 || length.saturating_sub(PART_HEAD) / SHORTEST_RECORD < count {
            return Err(damaged("a part has an impossible length"));
        }
        let grows = match before {
            None => path.is_empty(),
            Some(before) => order(before, path) == Ordering::Less && path::fault(path, 0).is_none(),
        };
        if !grows {
            return Err(damaged("the paths in its table do not grow"));
        }
        before = Some(path);
        rows.push(Row { offset, length, count, hash, path: end - path.len() as u32..end });
    }
    if rows.is_empty() {
        return Err(damaged("it is empty"));
    }
    Ok(rows)
}

/// Where index blocks lie, and where the entries end. The last parts stand one after the other up to the table; those before them are in blocks.
fn layout(rows: &[Row], table: u64) -> Result<(Vec<(u64, u64)>, u64), Error> {
    let outside = || damaged("a part lies outside of its place");
    let mut begin = table;
    let mut inside = rows.len();
    while let Some(row) =
        inside.checked_sub(1).map(|last| &rows[last]).filter(|row| row.offset.checked_add(row.length.into()) == Some(begin))
    {
        begin = row.offset;
        inside -= 1;
    }
    let end = begin.checked_sub(2 * BLOCK).filter(|end| end.is_multiple_of(BLOCK) && *end > MARKER).ok_or_else(outside)?;
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    for row in &rows[..inside] {
        let record = record_length(row.length);
        // Behind the header, the record; in it the part, and a line's end.
        let behind = row.offset.checked_add(u64::from(row.length) + 1);
        let content = behind.and_then(|behind| behind.checked_sub(record)).filter(|content| content.is_multiple_of(BLOCK));
        let from = content.and_then(|content| content.checked_sub(BLOCK)).filter(|from| *from > MARKER).ok_or_else(outside)?;
        let to = from + BLOCK + record.next_multiple_of(BLOCK);
        match blocks.last_mut() {
            _ if to > end => return Err(outside()),
            Some(last) if last.1 > from => return Err(outside()),
            Some(last) if last.1 == from => last.1 = to,
            _ => blocks.push((from, to)),
        }
    }
    Ok((blocks, end))
}

/// How long the record is that holds a part of so many bytes: its length in digits, which count themselves, a keyword, the part, a line's end.
fn record_length(part: u32) -> u64 {
    let rest = COMMENT.len() as u64 + u64::from(part) + 1;
    let mut length = rest;
    while length != rest + u64::from(length.ilog10()) + 1 {
        length = rest + u64::from(length.ilog10()) + 1;
    }
    length
}

/// Fills the buffer from a place in the pack.
pub(crate) fn fill(input: &mut (impl Read + Seek), at: u64, buffer: &mut [u8]) -> Result<(), Error> {
    let failed = |error: io::Error| if error.kind() == ErrorKind::UnexpectedEof { Error::Truncated } else { Error::Read(error) };
    input.seek(SeekFrom::Start(at)).map_err(Error::Read)?;
    input.read_exact(buffer).map_err(failed)
}

/// A big-endian number of up to eight bytes.
pub(super) fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
