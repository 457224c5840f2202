//! Reads the trailer and the table, which give the offsets of the parts of the index.

use std::cmp::Ordering;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;

use super::form::{HEAD, SIGNATURE, TRAILER, damaged, number, zeros};
use crate::block::BLOCK;
use crate::error::{Error, Flaw};
use crate::path::{self, order};

/// The maximum length of a table. A table of this length is enough for a hundred million entries with paths of usual
/// length.
pub(super) const LONGEST_TABLE: u64 = 16 << 20;
/// The maximum length of a part. Writers make parts of about an eighth of this length.
const LONGEST_PART: u32 = 1 << 20;
/// The length of the shortest record, which describes a folder.
const SHORTEST_RECORD: u32 = 8;
/// The length of the marker at the beginning of a pack: a block for the header, and a block for the pax record.
pub(crate) const MARKER: u64 = 2 * BLOCK;
/// The text in an index block that comes after the length of the pax record and before the index part.
const COMMENT: &[u8] = b" comment=deadpan index ";

/// A row of the table, which describes one part.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The offset of the part in the pack.
    pub(crate) offset: u64,
    pub(crate) length: u32,
    /// The number of entries in the part.
    pub(crate) count: u32,
    pub(crate) hash: [u8; 32],
    /// The range in the table that contains the first path of the part.
    path: Range<u32>,
}

/// The table, and the offsets that are computed from it.
#[derive(Debug)]
pub(crate) struct Table {
    bytes: Vec<u8>,
    rows: Vec<Row>,
    entries: u64,
    /// For each sequence of adjacent index blocks, the offsets of its beginning and its end, in order.
    blocks: Vec<(u64, u64)>,
    /// The offset of the end of the entries, where the two blocks of zeros begin.
    end: u64,
}

impl Table {
    pub(crate) fn read(input: &mut (impl Read + Seek)) -> Result<Self, Error> {
        let whole = input.seek(SeekFrom::End(0)).map_err(Error::Read)?;
        let at = whole.checked_sub(TRAILER as u64).ok_or(Error::Truncated)?;
        let mut trailer = [0; TRAILER];
        fill(input, at, &mut trailer)?;
        let (begin, length, hash) = (number(&trailer[..8]), number(&trailer[8..16]), &trailer[32..56]);
        let (entries, parts) = (number(&trailer[16..24]), number(&trailer[24..28]));
        if &trailer[56..] != SIGNATURE {
            return Err(Flaw::NoIndex.into());
        }
        let end = begin.checked_add(length).filter(|end| *end <= at);
        // Packs of format version 1 have no zeros before the trailer.
        let behind = end.filter(|end| *end == at || end + zeros(*end) as u64 == at);
        let Some(end) = behind.filter(|_| trailer[28..32] == [0; 4]) else {
            return Err(damaged("its table is not where the trailer says"));
        };
        if length > LONGEST_TABLE {
            return Err(damaged("its table is longer than 16 MiB"));
        }
        let mut bytes = vec![0; (at - begin) as usize];
        fill(input, begin, &mut bytes)?;
        if bytes.drain((end - begin) as usize..).any(|byte| byte != 0) {
            return Err(damaged("something stands between its table and its trailer"));
        }
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

    /// Whether two blocks of zeros are at the offset where, according to the index, the archive ends. A program that
    /// appends to an archive overwrites the two blocks of zeros at the archive's end, and may leave the rest of the
    /// index as it was.
    pub(crate) fn ends_archive(&self, input: &mut (impl Read + Seek)) -> Result<bool, Error> {
        let mut blocks = [0; 2 * BLOCK as usize];
        fill(input, self.end, &mut blocks)?;
        Ok(blocks.iter().all(|byte| *byte == 0))
    }

    pub(crate) fn entries(&self) -> u64 {
        self.entries
    }

    pub(crate) fn row(&self, part: usize) -> Option<&Row> {
        self.rows.get(part)
    }

    /// The path of a part's first entry.
    pub(crate) fn first_path(&self, part: usize) -> Option<&[u8]> {
        self.rows.get(part).map(|row| self.path(row))
    }

    fn path(&self, row: &Row) -> &[u8] {
        &self.bytes[row.path.start as usize..row.path.end as usize]
    }

    /// Returns the only part that can contain an entry with this path.
    pub(crate) fn part_of(&self, path: &[u8]) -> usize {
        self.rows.partition_point(|row| order(self.path(row), path) != Ordering::Greater).saturating_sub(1)
    }

    /// Returns the offset of the next entry after an entry that ends at `end`; there may be index blocks between the
    /// two entries.
    pub(crate) fn after(&self, end: u64) -> u64 {
        self.blocks.binary_search_by_key(&end, |block| block.0).map_or(end, |found| self.blocks[found].1)
    }

    /// Returns the range in which an entry that begins at `begin` must lie: it begins after the preceding index block,
    /// and ends at the next index block or at the end of all entries.
    pub(crate) fn room(&self, begin: u64) -> Range<u64> {
        let next = self.blocks.partition_point(|block| block.0 < begin);
        let before = next.checked_sub(1).map_or(MARKER, |before| self.blocks[before].1);
        before..self.blocks.get(next).map_or(self.end, |block| block.0)
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }
}

/// Decodes the rows of a table, and checks each row and the order of their paths.
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
        if length > LONGEST_PART || count == 0 || length.saturating_sub(HEAD as u32) / SHORTEST_RECORD < count {
            return Err(damaged("a part has an impossible length"));
        }
        let grows = match before {
            None => path.is_empty(),
            Some(before) => order(before, path) == Ordering::Less && path::fault(path, 0).is_none(),
        };
        if !grows {
            return Err(damaged("the paths in its table are not in order"));
        }
        before = Some(path);
        rows.push(Row { offset, length, count, hash, path: end - path.len() as u32..end });
    }
    if rows.is_empty() {
        return Err(damaged("it is empty"));
    }
    Ok(rows)
}

/// Computes the offsets of the index blocks and the offset of the end of the entries. The last parts come after the end
/// of the archive: they follow each other without a gap, and end where the table begins. All other parts are in index
/// blocks.
fn layout(rows: &[Row], table: u64) -> Result<(Vec<(u64, u64)>, u64), Error> {
    let outside = || damaged("a part has an impossible position");
    let mut begin = table;
    let mut inside = rows.len();
    while let Some(row) = inside
        .checked_sub(1)
        .map(|last| &rows[last])
        .filter(|row| row.offset.checked_add(row.length.into()) == Some(begin))
    {
        begin = row.offset;
        inside -= 1;
    }
    let end =
        begin.checked_sub(2 * BLOCK).filter(|end| end.is_multiple_of(BLOCK) && *end > MARKER).ok_or_else(outside)?;
    let mut blocks: Vec<(u64, u64)> = Vec::new();
    for row in &rows[..inside] {
        let record = record_length(row.length);
        // The record follows the header. In the pax record, one byte follows the part: a line feed.
        let behind = row.offset.checked_add(u64::from(row.length) + 1);
        let content =
            behind.and_then(|behind| behind.checked_sub(record)).filter(|content| content.is_multiple_of(BLOCK));
        let from =
            content.and_then(|content| content.checked_sub(BLOCK)).filter(|from| *from > MARKER).ok_or_else(outside)?;
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

/// Returns the length of the pax record for a part of `part` bytes: the record's length in decimal digits, the keyword,
/// the part and a line feed.
fn record_length(part: u32) -> u64 {
    let rest = COMMENT.len() as u64 + u64::from(part) + 1;
    let mut length = rest;
    while length != rest + u64::from(length.ilog10()) + 1 {
        length = rest + u64::from(length.ilog10()) + 1;
    }
    length
}

/// Fills the buffer with the bytes at offset `at` of the pack.
pub(crate) fn fill(input: &mut (impl Read + Seek), at: u64, buffer: &mut [u8]) -> Result<(), Error> {
    let failed =
        |error: io::Error| if error.kind() == ErrorKind::UnexpectedEof { Error::Truncated } else { Error::Read(error) };
    input.seek(SeekFrom::Start(at)).map_err(Error::Read)?;
    input.read_exact(buffer).map_err(failed)
}
