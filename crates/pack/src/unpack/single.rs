//! Writes one file of an archive to a stream instead of a folder.

use std::fmt;
use std::io::{self, Write};

use blake3::Hasher;

use super::ledger::Ledger;
use crate::entry::Kind;
use crate::error::{Error, Refusal};
use crate::shown::shown;
use crate::tar::{Map, Member};

/// The most zeros that are written at once for a hole.
const ZEROS: u64 = 64 << 10;

/// The stream that receives the file, and the state of the writing.
pub(super) struct Single {
    output: Box<dyn Write + Send>,
    /// The number and the path of the entry whose file is written. `None` until its entry is read.
    file: Option<(u64, Vec<u8>)>,
    /// Bytes that are still missing.
    left: u64,
    hash: Hasher,
    hashed: bool,
    holes: Option<Holes>,
}

/// The holes of the file, which are written to the stream as zeros.
#[derive(Debug)]
struct Holes {
    /// The map. `None` until the map is read. Until the map of the holes is read, the content that arrives belongs to
    /// the map, and not to the data of the file.
    map: Option<Map>,
    /// The number of bytes of the file that were written, and the length of the file.
    at: u64,
    size: u64,
}

impl Single {
    pub(super) fn new(output: Box<dyn Write + Send>) -> Self {
        Self { output, file: None, left: 0, hash: Hasher::new(), hashed: false, holes: None }
    }

    /// Begins a selected entry. Fails if the entry is not a file, or is not the only selected entry.
    pub(super) fn begin(&mut self, member: Member, number: u64, hashed: bool, ledger: &Ledger) -> Result<(), Error> {
        let entry = member.entry;
        if let Some((_, first)) = &self.file {
            return Err(Refusal::Several { first: shown(first), second: shown(&entry.path) }.into());
        }
        if let Some(target) = entry.target.filter(|_| entry.kind == Kind::HardLink) {
            return Err(without_file(&entry.path, &target).into());
        }
        if !matches!(entry.kind, Kind::File | Kind::Sparse) {
            let path = if entry.path.is_empty() { "the whole folder".into() } else { shown(&entry.path) };
            return Err(Refusal::NoFile { path }.into());
        }
        (self.left, self.hashed) = (entry.stored, hashed);
        self.holes = (entry.kind == Kind::Sparse).then_some(Holes { map: None, at: 0, size: entry.size });
        self.file = Some((number, entry.path));
        self.end_if_complete(ledger)
    }

    pub(super) fn map(&mut self, map: Map) {
        if let Some(holes) = &mut self.holes {
            holes.map = Some(map);
        }
    }

    /// Writes the next bytes of the file, which begin at byte `offset` of the stored content.
    pub(super) fn put(&mut self, offset: u64, bytes: &[u8], ledger: &Ledger) -> Result<(), Error> {
        if self.left == 0 {
            // The content of another entry.
            return Ok(());
        }
        let output = &mut self.output;
        self.hash.update(bytes);
        self.left -= bytes.len() as u64;
        match &mut self.holes {
            None => output.write_all(bytes),
            Some(holes) => holes.put(output, offset, bytes),
        }
        .map_err(Error::Write)?;
        self.end_if_complete(ledger)
    }

    fn end_if_complete(&mut self, ledger: &Ledger) -> Result<(), Error> {
        let output = &mut self.output;
        if let (0, Some((number, _))) = (self.left, &self.file) {
            if let Some(holes) = &mut self.holes {
                holes.fill(output, holes.size).map_err(Error::Write)?;
            }
            output.flush().map_err(Error::Write)?;
            ledger.complete(*number, self.hashed.then(|| self.hash.finalize().into()));
        }
        Ok(())
    }
}

impl Holes {
    fn put(&mut self, output: &mut impl Write, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let Some(map) = &self.map else { return Ok(()) };
        let pieces: Vec<_> = map.pieces(offset, bytes.len() as u64).collect();
        // The stored content begins with the bytes of the map.
        let mut begin = bytes.len() - pieces.iter().map(|(_, length)| *length as usize).sum::<usize>();
        for (place, length) in pieces {
            self.fill(output, place)?;
            let end = begin + length as usize;
            output.write_all(&bytes[begin..end])?;
            (self.at, begin) = (place + length, end);
        }
        Ok(())
    }

    /// Writes zeros up to byte `end` of the file.
    fn fill(&mut self, output: &mut impl Write, end: u64) -> io::Result<()> {
        let zeros = vec![0; end.saturating_sub(self.at).min(ZEROS) as usize];
        while self.at < end {
            let length = (end - self.at).min(ZEROS);
            output.write_all(&zeros[..length as usize])?;
            self.at += length;
        }
        Ok(())
    }
}

/// Returns the error for a selected hard link whose file is not selected. In this case, the content of the file has
/// already been skipped.
pub(super) fn without_file(link: &[u8], file: &[u8]) -> Refusal {
    Refusal::LinkWithoutFile { link: shown(link), file: shown(file) }
}

impl fmt::Debug for Single {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Single").field("file", &self.file).field("left", &self.left).finish_non_exhaustive()
    }
}
