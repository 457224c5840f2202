//! Reads the entries of one part of the index, at the offset in the table.

use std::io::{Read, Seek};

use super::debt::PathDebt;
use super::form::damaged;
use super::record::Decoder;
use super::table::{MARKER, Table, fill};
use crate::entry::Entry;
use crate::error::Error;

/// A part whose hash was checked, and whose records are read one at a time.
#[derive(Debug)]
pub(crate) struct PartReader {
    bytes: Vec<u8>,
    /// The offset in the part where the next record begins.
    at: usize,
    /// The part's row in the table.
    part: usize,
    decoder: Decoder,
}

impl PartReader {
    /// Reads a whole part, and checks its hash, its head and its first path.
    pub(crate) fn read(
        input: &mut (impl Read + Seek),
        table: &Table,
        part: usize,
        debt: PathDebt,
    ) -> Result<Self, Error> {
        let row = table.row(part).ok_or_else(|| damaged("a part is missing"))?;
        let mut bytes = vec![0; row.length as usize];
        fill(input, row.offset, &mut bytes)?;
        if *blake3::hash(&bytes).as_bytes() != row.hash {
            return Err(damaged("a part has the wrong hash"));
        }
        let wrong = || damaged("the first fields of a part are not valid");
        let head = bytes.first_chunk().ok_or_else(wrong)?;
        let (at, decoder) = (head.len(), Decoder::new(head, debt)?);
        let begin = decoder.end();
        if decoder.count() != row.count || !table.room(begin).contains(&begin) || part == 0 && begin != MARKER {
            return Err(wrong());
        }
        Ok(Self { bytes, at, part, decoder })
    }

    /// Returns the offset where the last returned entry ends; before the first call of `next`, the offset where the
    /// first entry begins.
    pub(crate) fn end(&self) -> u64 {
        self.decoder.end()
    }

    pub(crate) fn debt(&self) -> PathDebt {
        self.decoder.debt()
    }

    /// Returns the next entry, or `None` at the end of the part.
    pub(crate) fn next(&mut self, table: &Table) -> Result<Option<Entry>, Error> {
        if self.decoder.left() == 0 {
            return Ok(None);
        }
        let first = self.decoder.left() == self.decoder.count();
        // There may be index blocks between two entries.
        let begin = if first { self.decoder.end() } else { table.after(self.decoder.end()) };
        let mut rest = &self.bytes[self.at..];
        let entry = self.decoder.next(&mut rest)?.ok_or_else(|| damaged("a part ends within a record"))?;
        self.at = self.bytes.len() - rest.len();
        if first && table.first_path(self.part) != Some(&entry.path) {
            return Err(damaged("the first path of a part differs from its path in the table"));
        }
        if entry.begin != begin {
            return Err(damaged("an entry does not begin where the preceding one ends"));
        }
        if self.decoder.end() > table.room(begin).end {
            return Err(damaged("an entry has an impossible length"));
        }
        if self.decoder.left() == 0 {
            self.check_end(table)?;
        }
        Ok(Some(entry))
    }

    /// Checks that the part ends after its last record, and that the first path of the next part may follow the last
    /// path of this part.
    fn check_end(&self, table: &Table) -> Result<(), Error> {
        if self.at != self.bytes.len() {
            return Err(damaged("a part has bytes after its last entry"));
        }
        let end = self.decoder.end();
        if table.row(self.part).is_none_or(|row| row.offset < end) {
            return Err(damaged("a part begins before the end of its entries"));
        }
        match table.first_path(self.part + 1) {
            Some(next) => self.decoder.check_next(0, next).map_err(damaged),
            None if table.after(end) == table.end() => Ok(()),
            None => Err(damaged("entries are missing")),
        }
    }
}
