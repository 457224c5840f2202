//! One file of an archive, written to a stream instead of a folder.

use super::ledger::Ledger;
use crate::tar::{Map, Member};
use crate::{Error, Kind, shown};
use blake3::Hasher;
use std::fmt;
use std::io::{self, Write};

/// As many zeros are written at a time.
static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// Where the file goes, and how much of it went.
pub(super) struct Single {
    output: Box<dyn Write + Send>,
    /// Its number and path, once it came.
    file: Option<(u64, Vec<u8>)>,
    /// Bytes that are to come.
    left: u64,
    hash: Hasher,
    hashed: bool,
    /// Of a file with holes.
    holes: Option<Holes>,
}

/// Zeros that are in the stream, but not in the archive.
#[derive(Debug)]
struct Holes {
    /// Once it came; what comes before is the map itself.
    map: Option<Map>,
    /// How much of the file is written, and how long it is.
    at: u64,
    size: u64,
}

impl Single {
    pub(super) fn new(output: Box<dyn Write + Send>) -> Self {
        Self { output, file: None, left: 0, hash: Hasher::new(), hashed: false, holes: None }
    }

    /// A selected entry. There may be no other, and nothing but a file can be a stream.
    pub(super) fn begin(&mut self, member: Member, number: u64, hashed: bool, ledger: &Ledger) -> Result<(), Error> {
        let entry = member.entry;
        let refused = |what| {
            let hint = "name a folder with -o, or save the sealed file without armor first";
            Err(Error::Refused { what, hint })
        };
        if let Some((_, first)) = &self.file {
            return refused(format!(
                "{} and {} are both selected, and only one file can be taken out of a pipe",
                shown(first),
                shown(&entry.path)
            ));
        }
        if let Some(target) = entry.target.filter(|_| entry.kind == Kind::HardLink) {
            return Err(without_file(&entry.path, &target));
        }
        if !matches!(entry.kind, Kind::File | Kind::Sparse) {
            let what = if entry.path.is_empty() { "the whole folder".into() } else { shown(&entry.path) };
            return refused(format!("{what} is no file that can be taken out of a pipe"));
        }
        (self.left, self.hashed) = (entry.stored, hashed);
        self.holes = (entry.kind == Kind::Sparse).then_some(Holes { map: None, at: 0, size: entry.size });
        self.file = Some((number, entry.path));
        self.put(0, &[], ledger)
    }

    /// Where the file's pieces belong.
    pub(super) fn map(&mut self, map: Map) {
        if let Some(holes) = &mut self.holes {
            holes.map = Some(map);
        }
    }

    /// The next bytes of it, which begin at byte `offset` of what is stored.
    pub(super) fn put(&mut self, offset: u64, bytes: &[u8], ledger: &Ledger) -> Result<(), Error> {
        let output = &mut self.output;
        self.hash.update(bytes);
        self.left -= bytes.len() as u64;
        match &mut self.holes {
            None => output.write_all(bytes),
            Some(holes) => holes.put(output, offset, bytes),
        }
        .map_err(Error::Write)?;
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
        // What belongs to the map comes first.
        let mut begin = bytes.len() - pieces.iter().map(|(_, length)| *length as usize).sum::<usize>();
        for (place, length) in pieces {
            self.fill(output, place)?;
            let end = begin + length as usize;
            output.write_all(&bytes[begin..end])?;
            (self.at, begin) = (place + length, end);
        }
        Ok(())
    }

    /// Writes the hole that reaches to byte `end` of the file.
    fn fill(&mut self, output: &mut impl Write, end: u64) -> io::Result<()> {
        while self.at < end {
            let length = (end - self.at).min(ZEROS.len() as u64);
            output.write_all(&ZEROS[..length as usize])?;
            self.at += length;
        }
        Ok(())
    }
}

/// Of a hard link, whose contents stand with its file and passed by with that.
pub(super) fn without_file(link: &[u8], file: &[u8]) -> Error {
    let what = format!("{} is a hard link to {}, which is not selected", shown(link), shown(file));
    Error::Refused { what, hint: "select that file: its contents are there, and this archive is read once, from the beginning to the end" }
}

impl fmt::Debug for Single {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Single").field("file", &self.file).field("left", &self.left).finish_non_exhaustive()
    }
}
