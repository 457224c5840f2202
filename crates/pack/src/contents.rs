//! What is in a pack, told by its index.

use crate::index::{MARKER, Records, Table, damaged, fill};
use crate::path::{is_under, order};
use crate::{BLOCK, Entry, Error, Listed, Scan};
use std::cmp::Ordering;
use std::io::{Read, Seek, SeekFrom, Write};

/// So much is copied at once.
const COPIED: usize = 256 << 10;
/// The one record of the marker.
const RECORD: &[u8] = b"26 comment=deadpan pack 1\n";

/// The contents of a pack, of which only those parts of the index are read that an answer needs, one at a time.
///
/// What the index says is checked against itself, not against the archive: whoever takes files out compares each with its header.
#[derive(Debug)]
pub struct Contents<R> {
    pub(crate) input: R,
    root: Vec<u8>,
    table: Table,
}

impl<R: Read + Seek> Contents<R> {
    /// Reads the index's table; `None` if the input does not begin with the marker of a pack: an archive of another maker, or none at all.
    ///
    /// # Errors
    /// If there is a marker but no index, or it is damaged; or if reading fails.
    pub fn read(mut input: R) -> Result<Option<Self>, Error> {
        let mut start = [0; MARKER as usize];
        match fill(&mut input, 0, &mut start) {
            Ok(()) if is_marker(&start) => {}
            Ok(()) | Err(Error::Truncated) => return Ok(None),
            Err(error) => return Err(error),
        }
        let mut scan = Scan::seekable(&mut input)?;
        let root = match scan.next().transpose()? {
            Some(Listed::Entry(_)) => scan.root_name().unwrap_or_default().to_vec(),
            _ => return Err(damaged("the root is missing")),
        };
        let table = Table::read(&mut input)?;
        Ok(Some(Self { input, root, table }))
    }

    /// The name of the root, the folder that was packed.
    #[must_use]
    pub fn root_name(&self) -> &[u8] {
        &self.root
    }

    /// How many entries there are, the root among them.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.table.entries()
    }

    /// All entries, in order: the root, whose path is empty, and what lies under it.
    pub fn entries(&mut self) -> Entries<'_, R> {
        self.under(b"")
    }

    /// What has exactly this path (without the root's name). Reads one part of the index.
    ///
    /// # Errors
    /// If that part is damaged, or reading fails.
    pub fn find(&mut self, path: &[u8]) -> Result<Option<Entry>, Error> {
        let part = self.table.part_of(path);
        let mut records = Records::read(&mut self.input, &self.table, part)?;
        while let Some(entry) = records.next(&self.table)? {
            match order(&entry.path, path) {
                Ordering::Less => {}
                Ordering::Equal => return Ok(Some(entry)),
                Ordering::Greater => break,
            }
        }
        Ok(None)
    }

    /// A folder and all that lies in it, however deep, in order; or a single entry. Nothing if there is none of this path.
    pub fn under(&mut self, folder: &[u8]) -> Entries<'_, R> {
        let walk = Walk::new(self, folder);
        Entries { contents: self, walk, done: false }
    }

    /// Writes a file's content to `output`, in order. That it was right is only known at the end.
    ///
    /// # Errors
    /// If the content is not what the index says; if reading or writing fails.
    pub fn copy(&mut self, file: &Entry, mut output: impl Write) -> Result<u64, Error> {
        self.input.seek(SeekFrom::Start(file.content)).map_err(Error::Read)?;
        let (mut hasher, mut left) = (blake3::Hasher::new(), file.stored);
        let mut buffer = vec![0; COPIED];
        while left > 0 {
            let length = usize::try_from(left).map_or(COPIED, |left| left.min(COPIED));
            let read = self.input.read(&mut buffer[..length]).map_err(Error::Read)?;
            if read == 0 {
                return Err(Error::Truncated);
            }
            hasher.update(&buffer[..read]);
            output.write_all(&buffer[..read]).map_err(Error::Write)?;
            left -= read as u64;
        }
        output.flush().map_err(Error::Write)?;
        match file.hash.is_none_or(|hash| hasher.finalize() == hash) {
            true => Ok(file.stored),
            false => Err(Error::damaged(format!("{} is not what the index says: its contents were changed", crate::shown(&file.path)))),
        }
    }

    /// The input, wherever it stands now.
    pub fn into_inner(self) -> R {
        self.input
    }
}

/// Whether these blocks are the marker.
fn is_marker(start: &[u8; MARKER as usize]) -> bool {
    let (header, record) = start.split_at(BLOCK as usize);
    header[156] == b'g'
        && &header[257..263] == b"ustar\0"
        && record.starts_with(RECORD)
        && record[RECORD.len()..].iter().all(|byte| *byte == 0)
}

/// A way through what lies in one folder.
#[derive(Debug)]
pub(crate) struct Walk {
    folder: Vec<u8>,
    /// The part that is read next.
    part: usize,
    records: Option<Records>,
    /// Where the part before ends in the archive, if it was told.
    end: Option<u64>,
}

impl Walk {
    pub(crate) fn new<R>(contents: &Contents<R>, folder: &[u8]) -> Self {
        Self { folder: folder.to_vec(), part: contents.table.part_of(folder), records: None, end: None }
    }

    /// The next entry. After an error there is no more.
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
                self.records = None;
            }
            let begins = |path: &[u8]| is_under(path, &self.folder) || order(path, &self.folder) == Ordering::Less;
            if !table.first_path(self.part).is_some_and(begins) {
                return Ok(None);
            }
            let records = Records::read(input, table, self.part)?;
            if self.end.is_some_and(|end| end != records.end()) {
                return Err(damaged("a part does not begin where the one before ends"));
            }
            self.records = Some(records);
            self.part += 1;
        }
    }
}

/// Entries of a pack in order, from [`Contents::entries`] or [`Contents::under`]. Ends after an error.
#[derive(Debug)]
pub struct Entries<'a, R> {
    contents: &'a mut Contents<R>,
    walk: Walk,
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
