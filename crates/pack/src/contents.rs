//! Reads the contents of a pack from its index.

use std::cmp::Ordering;
use std::io::{Read, Seek, SeekFrom};

use crate::check::HeaderCheck;
use crate::entry::{Entry, Kind};
use crate::error::Error;
use crate::index::{PartReader, PathDebt, Table, damaged};
use crate::path::{is_under, order};
use crate::scan::{Listed, Scan};
use crate::stale::current;
use crate::tar::read_map;

/// The contents of a pack. Each method reads only the parts of the index that it needs, and reads these parts one at a
/// time.
///
/// Reading checks the index for contradictions, but does not compare the index with the archive.
/// [`Excerpt`](crate::Excerpt) extracts entries, and compares the headers of each entry with its record in the index.
#[derive(Debug)]
pub struct Contents<R> {
    pub(crate) input: R,
    root: Vec<u8>,
    table: Table,
    /// The check that [`Contents::pieces`] uses. `None` before the first call, and after an error.
    check: Option<HeaderCheck>,
}

/// A part of a file's data in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where the part begins in the file.
    pub offset: u64,
    /// Where the part begins in the archive.
    pub position: u64,
    /// The length of the part.
    pub length: u64,
}

impl<R: Read + Seek> Contents<R> {
    /// Reads the index's table. Returns `None` if the input does not begin with the marker of a pack, or if another
    /// program has changed the pack (see [`index_is_stale`](crate::index_is_stale)).
    ///
    /// # Errors
    /// If there is a marker but no index, if the index is damaged, or if reading fails.
    pub fn read(mut input: R) -> Result<Option<Self>, Error> {
        let mut scan = Scan::with_marker(&mut input)?;
        let first = scan.next().transpose();
        if !scan.is_pack() {
            return match first {
                Err(error @ Error::Read(_)) => Err(error),
                _ => Ok(None),
            };
        }
        let root = scan.root_name().unwrap_or_default().to_vec();
        let Some(table) = current(&mut input)? else { return Ok(None) };
        if !matches!(first?, Some(Listed::Entry(_))) {
            return Err(damaged("the root is missing"));
        }
        Ok(Some(Self { input, root, table, check: None }))
    }

    /// Reads the index table for a pack whose first bytes cannot be read; otherwise works like [`Contents::read`].
    /// `root` is the name of the folder that was packed.
    ///
    /// # Errors
    /// If the index is damaged, or if reading fails.
    pub fn read_behind(mut input: R, root: Vec<u8>) -> Result<Option<Self>, Error> {
        Ok(current(&mut input)?.map(|table| Self { input, root, table, check: None }))
    }

    /// The name of the root: the folder that was packed.
    #[must_use]
    pub fn root_name(&self) -> &[u8] {
        &self.root
    }

    /// The number of entries, including the root.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.table.entries()
    }

    /// All entries, in order. The root, whose path is empty, comes first.
    pub fn entries(&mut self) -> Entries<'_, R> {
        self.under(b"")
    }

    /// Finds the entry with exactly this path, relative to the root. Reads one part of the index.
    ///
    /// # Errors
    /// If that part of the index is damaged, or if reading fails.
    pub fn find(&mut self, path: &[u8]) -> Result<Option<Entry>, Error> {
        let part = self.table.part_of(path);
        let mut records = PartReader::read(&mut self.input, &self.table, part, PathDebt::default())?;
        while let Some(entry) = records.next(&self.table)? {
            match order(&entry.path, path) {
                Ordering::Less => {}
                Ordering::Equal => return Ok(Some(entry)),
                Ordering::Greater => break,
            }
        }
        Ok(None)
    }

    pub(crate) fn root(&mut self) -> Result<Entry, Error> {
        self.find(b"")?.ok_or_else(|| Error::damaged("the index has no root"))
    }

    /// Compares the headers of an entry of this pack with its record in the index, and returns where the archive holds
    /// the data of the file, in order. The bytes of the file that are in no piece are zeros. Folders and links have no
    /// pieces.
    ///
    /// # Errors
    /// If the headers differ from the index, or if reading fails.
    pub fn pieces(&mut self, entry: &Entry) -> Result<Vec<Piece>, Error> {
        let mut check = match self.check.take() {
            Some(check) => check,
            None => {
                let (mut check, root) = (HeaderCheck::default(), self.root()?);
                check.read(&mut self.input, &root)?;
                check
            }
        };
        if !entry.path.is_empty() {
            check.read(&mut self.input, entry)?;
        }
        self.check = Some(check);
        match entry.kind {
            Kind::File if entry.size > 0 => Ok(vec![Piece { offset: 0, position: entry.content, length: entry.size }]),
            Kind::Sparse => {
                self.input.seek(SeekFrom::Start(entry.content)).map_err(Error::Read)?;
                let (_, map) = read_map(&mut self.input, entry.stored, entry.size)?;
                let piece = |(offset, stored, length)| Piece { offset, position: entry.content + stored, length };
                Ok(map.all().map(piece).collect())
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The entry `folder` and all entries under it, in order. The iterator is empty if the entry does not exist.
    pub fn under(&mut self, folder: &[u8]) -> Entries<'_, R> {
        let walk = IndexWalk::new(self, folder);
        Entries { contents: self, walk, done: false }
    }

    /// Returns the input. After this call, the input may be at any position.
    pub fn into_inner(self) -> R {
        self.input
    }
}

#[derive(Debug)]
pub(crate) struct IndexWalk {
    folder: Vec<u8>,
    part: usize,
    records: Option<PartReader>,
    /// The offset in the archive where the entries of the preceding part end, if that part was read.
    end: Option<u64>,
    debt: PathDebt,
}

impl IndexWalk {
    pub(crate) fn new<R>(contents: &Contents<R>, folder: &[u8]) -> Self {
        let part = contents.table.part_of(folder);
        Self { folder: folder.to_vec(), part, records: None, end: None, debt: PathDebt::default() }
    }

    /// The next entry. This function must not be called after an error.
    pub(crate) fn next<R: Read + Seek>(&mut self, contents: &mut Contents<R>) -> Result<Option<Entry>, Error> {
        let Contents { input, table, .. } = contents;
        loop {
            if let Some(records) = &mut self.records {
                while let Some(entry) = records.next(table)? {
                    if is_under(&entry.path, &self.folder) {
                        return Ok(Some(entry));
                    }
                    if order(&entry.path, &self.folder) == Ordering::Greater {
                        return Ok(None);
                    }
                }
                self.end = Some(table.after(records.end()));
                self.debt = records.debt();
                self.records = None;
            }
            let begins = |path: &[u8]| is_under(path, &self.folder) || order(path, &self.folder) == Ordering::Less;
            if !table.first_path(self.part).is_some_and(begins) {
                return Ok(None);
            }
            let records = PartReader::read(input, table, self.part, self.debt)?;
            if self.end.is_some_and(|end| end != records.end()) {
                return Err(damaged("a part does not begin where the preceding one ends"));
            }
            self.records = Some(records);
            self.part += 1;
        }
    }
}

/// Entries of a pack, in order: see [`Contents::entries`] and [`Contents::under`]. The iterator ends after an error.
#[derive(Debug)]
pub struct Entries<'a, R> {
    contents: &'a mut Contents<R>,
    walk: IndexWalk,
    done: bool,
}

impl<R: Read + Seek> Iterator for Entries<'_, R> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.walk.next(self.contents).transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}
