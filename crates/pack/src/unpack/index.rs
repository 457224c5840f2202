//! Compares a pack's index with its archive.
//!
//! Each part of the index is compared when it arrives, and then dropped. The table can be computed from the parts, so
//! only the hash of the table is kept.

use blake3::Hasher;

use super::ledger::Ledger;
use crate::entry::{Entry, Kind};
use crate::error::Error;
use crate::index::form::{self, HEAD, TRAILER};
use crate::index::{Decoder, PathDebt, damaged};

/// The state of the comparison.
#[derive(Debug, Default)]
pub(super) struct IndexCheck {
    /// The hash and the length of the table that is computed from the parts.
    table: Hasher,
    table_length: u64,
    /// The hash and the length of those bytes of the pack's own table that were read so far.
    seen: Hasher,
    seen_length: u64,
    parts: u32,
    entries: u64,
    /// Whether the whole index was read.
    done: bool,
    /// The part that is being read.
    part: Option<SeenPart>,
    debt: PathDebt,
    /// The bytes after the end of the archive that were not processed yet, and the offset of the first of these bytes.
    rest: Vec<u8>,
    offset: u64,
}

/// A part that is being read.
#[derive(Debug)]
struct SeenPart {
    /// The offset in the pack where the part begins.
    offset: u64,
    decoder: Decoder,
    length: u64,
    hash: Hasher,
    /// The path of the part's first entry. `None` until that entry is read.
    first: Option<Vec<u8>>,
}

impl IndexCheck {
    /// Reads the part in an index block.
    pub(super) fn block(&mut self, part: &[u8], offset: u64, ledger: &Ledger) -> Result<(), Error> {
        let used = self.part(part, offset, ledger)?;
        if used != part.len() || self.part.is_some() {
            return Err(damaged("a part does not fill its block"));
        }
        Ok(())
    }

    /// Records the offset where the archive ends, which is the offset of the first byte after the archive.
    pub(super) fn end(&mut self, offset: u64) {
        self.offset = offset;
    }

    /// Processes bytes that follow the end of the archive.
    pub(super) fn tail(&mut self, bytes: &[u8], ledger: &Ledger) -> Result<(), Error> {
        let mut rest = std::mem::take(&mut self.rest);
        rest.extend_from_slice(bytes);
        let mut used = 0;
        while !self.done && (self.part.is_some() || ledger.not_indexed() > 0) {
            match self.part(&rest[used..], self.offset, ledger)? {
                0 => break,
                more => (used, self.offset) = (used + more, self.offset + more as u64),
            }
        }
        rest.drain(..used);
        if self.part.is_none() && ledger.not_indexed() == 0 {
            rest = self.close(rest)?;
        }
        self.rest = rest;
        Ok(())
    }

    /// Compares the table and the trailer in the pack with the values that are computed from the parts.
    fn close(&mut self, mut rest: Vec<u8>) -> Result<Vec<u8>, Error> {
        // The table can be long, so its bytes are hashed and not kept.
        let missing = self.table_length - self.seen_length;
        let lines = usize::try_from(missing).unwrap_or(usize::MAX).min(rest.len());
        self.seen.update(&rest[..lines]);
        self.seen_length += lines as u64;
        rest.drain(..lines);
        if self.done && !rest.is_empty() {
            return Err(Error::damaged("something follows the end of the pack"));
        }
        if rest.len() < TRAILER {
            return Ok(rest);
        }
        let hash = self.table.finalize();
        let expected = form::trailer(self.offset, self.table_length, self.entries, self.parts, &hash);
        let zeros = form::zeros(self.offset + self.table_length);
        // Packs of format version 1 have no zeros before the trailer.
        let end = if rest.starts_with(&expected) { TRAILER } else { zeros + TRAILER };
        let Some(last) = rest.get(..end) else { return Ok(rest) };
        let fits = last.ends_with(&expected) && last[..end - TRAILER].iter().all(|byte| *byte == 0);
        if self.seen.finalize() != hash || !fits {
            return Err(damaged("its table does not fit its parts"));
        }
        if rest.len() > end {
            return Err(Error::damaged("something follows the end of the pack"));
        }
        self.done = true;
        Ok(Vec::new())
    }

    /// Whether the whole index was read.
    pub(super) fn done(&self) -> bool {
        self.done
    }

    /// Reads the complete records at the beginning of `bytes`; `place` is the offset of `bytes` in the pack. Returns
    /// the length of these records in bytes.
    fn part(&mut self, bytes: &[u8], place: u64, ledger: &Ledger) -> Result<usize, Error> {
        let mut rest = bytes;
        let part = match &mut self.part {
            Some(part) => part,
            None => {
                let Some((head, records)) = bytes.split_first_chunk::<HEAD>() else { return Ok(0) };
                rest = records;
                let decoder = Decoder::new(head, self.debt)?;
                self.part.insert(SeenPart { offset: place, decoder, length: 0, hash: Hasher::new(), first: None })
            }
        };
        while part.decoder.left() > 0 {
            let Some(entry) = part.decoder.next(&mut rest)? else { break };
            let file = entry.target.as_deref().filter(|_| entry.kind == Kind::HardLink);
            ledger.index(facts(&entry), entry.hash, file)?;
            self.entries += 1;
            part.first.get_or_insert(entry.path);
        }
        let used = bytes.len() - rest.len();
        part.hash.update(&bytes[..used]);
        part.length += used as u64;
        if let Some(part) = self.part.take_if(|part| part.decoder.left() == 0) {
            self.debt = part.decoder.debt();
            self.line(&part)?;
        }
        Ok(used)
    }

    /// Computes the table row that belongs to a part that was read.
    fn line(&mut self, part: &SeenPart) -> Result<(), Error> {
        let first = part.first.as_deref().unwrap_or_default();
        let length = u32::try_from(part.length).map_err(|_| damaged("a part has an impossible length"))?;
        let line = form::line(part.offset, length, part.decoder.count(), &part.hash.finalize(), first);
        self.table.update(&line);
        self.table_length += line.len() as u64;
        self.parts += 1;
        Ok(())
    }
}

/// Hashes the properties that must be equal in the archive and in the index. The hash of the content is not among these
/// properties.
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
