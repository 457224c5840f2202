//! Makes a new pack from selected entries of a pack.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use blake3::Hasher;

use crate::contents::Contents;
use crate::entry::{Entry, Kind};
use crate::error::{Change, Error, Flaw, Refusal};
use crate::frame::{Frame, Stage};
use crate::headers::HeaderCheck;
use crate::index::write::IndexWriter;
use crate::path::{is_under, parent};
use crate::select::{Pick, Picks};
use crate::shown::shown;
use crate::tar::write::{self, About};

/// The maximum number of paths that [`LeftOut`] contains.
const MOST_PATHS: usize = 1000;

/// The entries that are missing in an excerpt, because parts of these entries cannot be read.
#[derive(Clone, Debug, Default)]
pub struct LeftOut {
    /// The number of entries that are missing.
    pub count: u64,
    /// The paths of the first thousand entries that are missing.
    pub paths: Vec<Vec<u8>>,
}

/// A new pack with the selected entries and the folders that contain them. Reading an excerpt reads only these entries
/// of the original pack. Unpacking an excerpt checks hashes and order as for any pack.
#[derive(Debug)]
pub struct Excerpt<'a, R, S> {
    picks: Picks<'a, R>,
    contents: Contents<S>,
    index: IndexWriter,
    frame: Frame,
    /// The length of the content that comes after the bytes that `frame` still has to return.
    content: u64,
    left: u64,
    /// The last folder that was added.
    folder: Option<Vec<u8>>,
    check: HeaderCheck,
    hashing: bool,
    /// The hash of the content that was read so far, and the entry of this content.
    hash: Option<(Hasher, Entry)>,
    /// Ranges of the pack that cannot be read, in order.
    gaps: Vec<Range<u64>>,
    left_out: LeftOut,
}

impl<'a, R: Read + Seek, S: Read + Seek> Excerpt<'a, R, S> {
    /// Makes an excerpt of `picks`. `contents` must read the same pack as `picks`, but through a separate reader.
    #[must_use]
    pub fn new(picks: Picks<'a, R>, contents: Contents<S>) -> Self {
        let frame = Frame::new();
        let check = HeaderCheck::new(&frame);
        Self {
            picks,
            contents,
            index: IndexWriter::default(),
            frame,
            content: 0,
            left: 0,
            folder: None,
            check,
            hashing: false,
            hash: None,
            gaps: Vec::new(),
            left_out: LeftOut::default(),
        }
    }

    /// Drops entries with bytes in `gaps`, a sorted list of the ranges of the pack that cannot be read. If the headers
    /// of a folder are in such a range, new headers are made from the index, which contains neither the owner nor the
    /// attributes of the folder.
    #[must_use]
    pub fn around(self, gaps: Vec<Range<u64>>) -> Self {
        Self { gaps, ..self }
    }

    /// Reads all selected entries, and compares them with the index. Returns the ranges of the entries that differ or
    /// cannot be read, in order, for [`Excerpt::around`]. Calls `progress` with the number of bytes that were read.
    ///
    /// # Errors
    /// If the index is damaged, or if the system fails.
    pub fn damage(mut self, progress: &dyn Fn(u64)) -> Result<Vec<Range<u64>>, Error> {
        let mut damage = Vec::new();
        while let Some(Pick { entry, .. }) = self.picks.next().transpose()? {
            let whole = self.checked_headers(&entry).and_then(|_| self.is_whole(&entry, progress));
            let is_whole = match whole {
                Err(Error::Read(error)) if error.raw_os_error().is_some() => return Err(Error::Read(error)),
                whole => whole.unwrap_or(false),
            };
            if !is_whole {
                damage.push(entry.begin..entry.content + entry.stored);
                // The parser may have stopped in the middle of an entry. A new parser needs the headers of the root.
                self.check = HeaderCheck::new(&Frame::new());
                let root = self.contents.find(b"")?.ok_or_else(|| Error::damaged("the index has no root"))?;
                self.check.compare(&root, &self.folder_headers(&root))?;
            }
        }
        Ok(damage)
    }

    /// Whether the content of an entry has the hash that the index states.
    fn is_whole(&mut self, entry: &Entry, progress: &dyn Fn(u64)) -> Result<bool, Error> {
        let (mut hasher, mut left, mut buffer) = (Hasher::new(), entry.stored, vec![0; 1 << 18]);
        self.contents.input.seek(SeekFrom::Start(entry.content)).map_err(Error::Read)?;
        while left > 0 {
            let room = left.min(buffer.len() as u64) as usize;
            let read = self.contents.input.read(&mut buffer[..room]).map_err(Error::Read)?;
            if read == 0 {
                return Ok(false);
            }
            hasher.update(&buffer[..read]);
            progress(read as u64);
            left -= read as u64;
        }
        Ok(entry.hash.is_none_or(|hash| hasher.finalize() == hash))
    }

    /// The entries that were dropped so far.
    #[must_use]
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// Whether a part of the entry is in a range that cannot be read.
    fn is_damaged(&self, entry: &Entry) -> bool {
        let next = self.gaps.partition_point(|gap| gap.end <= entry.begin);
        self.gaps.get(next).is_some_and(|gap| gap.start < entry.content + entry.stored)
    }

    /// Whether a selected entry cannot be unpacked, because the entry or the target of its hard link is damaged.
    fn is_lost(&mut self, pick: &Pick) -> Result<bool, Error> {
        if self.gaps.is_empty() {
            return Ok(false);
        }
        let of_source = pick.source.as_ref().is_some_and(|file| self.is_damaged(file));
        let target = pick.entry.target.as_deref().filter(|_| pick.entry.kind == Kind::HardLink);
        let target = target.map(|target| self.contents.find(target)).transpose()?.flatten();
        Ok(self.is_damaged(&pick.entry) || of_source || target.is_some_and(|target| self.is_damaged(&target)))
    }

    /// While the excerpt is read, compares each content with its hash in the index, and returns an error after the
    /// first content with a wrong hash. Use this function if another program unpacks the excerpt. This crate compares
    /// the hashes itself when it unpacks an excerpt.
    #[must_use]
    pub fn hashed(self) -> Self {
        Self { hashing: true, ..self }
    }

    /// Makes the next bytes ready. Returns false at the end.
    fn next(&mut self) -> Result<bool, Error> {
        match self.frame.stage() {
            Stage::Nothing => return Ok(false),
            Stage::Index => self.frame.index(&mut self.index),
            Stage::Entries if self.frame.block(&mut self.index) => {}
            Stage::Entries => match self.picks.next().transpose()? {
                Some(pick) => self.pick(pick)?,
                None => self.frame.end_archive(),
            },
        }
        Ok(true)
    }

    fn pick(&mut self, pick: Pick) -> Result<(), Error> {
        if pick.entry.kind != Kind::Folder && self.is_lost(&pick)? {
            self.left_out.count += 1;
            if self.left_out.paths.len() < MOST_PATHS {
                self.left_out.paths.push(pick.entry.path);
            }
            return Ok(());
        }
        let Pick { entry, source } = pick;
        // The folders that contain the entry and are not in the excerpt yet, beginning with the root.
        let mut missing = Vec::new();
        let mut path = entry.path.as_slice();
        while !path.is_empty() {
            path = parent(path);
            if self.folder.as_deref().is_some_and(|there| is_under(there, path)) {
                break;
            }
            missing.push(path.to_vec());
        }
        for path in missing.into_iter().rev() {
            let folder = self.contents.find(&path)?.filter(|found| found.kind == Kind::Folder);
            let folder =
                folder.ok_or_else(|| Error::damaged(format!("{} has no folder in the index", shown(&path))))?;
            self.folder(folder)?;
        }
        match source {
            None if entry.kind == Kind::Folder => self.folder(entry),
            None => self.headers_of(entry),
            Some(file) => self.as_file(entry, &file),
        }
    }

    /// Adds a folder with its original headers, or with new headers if the original headers cannot be read.
    fn folder(&mut self, folder: Entry) -> Result<(), Error> {
        self.folder = Some(folder.path.clone());
        if !self.is_damaged(&folder) {
            return self.headers_of(folder);
        }
        let begin = self.frame.end();
        let headers = self.folder_headers(&folder);
        // The comparison also tells the parser the name of the root.
        self.check.compare(&folder, &headers)?;
        self.frame.add(&headers);
        let content = self.frame.end();
        self.add(Entry { begin, content, ..folder })
    }

    /// Returns new headers for a folder.
    fn folder_headers(&self, folder: &Entry) -> Vec<u8> {
        let path = [self.contents.root_name(), b"/", &folder.path, b"/"].concat();
        let path = if folder.path.is_empty() { &path[..path.len() - 1] } else { &path };
        let about = About { path, kind: b'5', mode: folder.mode, modified: folder.modified, ..About::default() };
        let mut headers = Vec::new();
        write::headers(&mut headers, &about);
        headers
    }

    fn headers_of(&mut self, entry: Entry) -> Result<(), Error> {
        let begin = self.frame.end();
        let headers = self.checked_headers(&entry)?;
        self.frame.room(headers.len()).copy_from_slice(&headers);
        self.add(Entry { begin, content: begin + headers.len() as u64, ..entry.clone() })?;
        self.copy(&entry)
    }

    /// Reads the headers of an entry, and compares the headers with the entry's record in the index.
    fn checked_headers(&mut self, entry: &Entry) -> Result<Vec<u8>, Error> {
        self.check.read(&mut self.contents.input, entry)
    }

    /// Adds the target of a hard link as a file with the link's path, if the target itself is not selected.
    fn as_file(&mut self, link: Entry, file: &Entry) -> Result<(), Error> {
        self.checked_headers(&link)?;
        self.checked_headers(file)?;
        let begin = self.frame.end();
        let path = [self.contents.root_name(), b"/", &link.path].concat();
        let about = About {
            path: &path,
            kind: if file.kind == Kind::SymbolicLink { b'2' } else { b'0' },
            mode: file.mode,
            stored: file.stored,
            modified: file.modified,
            target: file.target.as_deref().unwrap_or_default(),
            real_size: (file.kind == Kind::Sparse).then_some(file.size),
            ..About::default()
        };
        self.frame.headers(&about);
        let content = self.frame.end();
        self.add(Entry { path: link.path, begin, content, ..file.clone() })?;
        self.copy(file)
    }

    fn add(&mut self, entry: Entry) -> Result<(), Error> {
        if let Some(slot) = self.index.add(&entry) {
            self.index.set(slot, &entry.hash.unwrap_or_default());
        }
        if self.index.is_too_long() { Err(Refusal::TooMany.into()) } else { Ok(()) }
    }

    fn copy(&mut self, entry: &Entry) -> Result<(), Error> {
        (self.content, self.left) = (entry.stored, entry.stored);
        self.hash = self.hashing.then(|| (Hasher::new(), entry.clone()));
        self.compare_hash()?;
        match entry.stored {
            0 => Ok(()),
            _ => self.contents.input.seek(SeekFrom::Start(entry.content)).map(drop).map_err(Error::Read),
        }
    }

    /// At the end of a content, returns an error if the hash of the content differs from the hash in the index.
    fn compare_hash(&mut self) -> Result<(), Error> {
        if self.left > 0 {
            return Ok(());
        }
        match self.hash.take() {
            Some((hasher, entry)) if entry.hash.is_some_and(|hash| hasher.finalize() != hash) => {
                Err(Flaw::Changed { path: shown(&entry.path), change: Change::Content }.into())
            }
            _ => Ok(()),
        }
    }
}

impl<R: Read + Seek, S: Read + Seek> Read for Excerpt<'_, R, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let given = self.frame.give(buffer);
            if given > 0 {
                return Ok(given);
            }
            if self.left > 0 {
                let length = usize::try_from(self.left).map_or(buffer.len(), |left| left.min(buffer.len()));
                let read = self.contents.input.read(&mut buffer[..length])?;
                if read == 0 {
                    return Err(io::Error::other(Error::Truncated));
                }
                self.left -= read as u64;
                self.frame.pass(read);
                if let Some((hasher, _)) = &mut self.hash {
                    hasher.update(&buffer[..read]);
                }
                self.compare_hash().map_err(io::Error::other)?;
                if self.left == 0 {
                    self.frame.fill_block(self.content);
                }
                return Ok(read);
            }
            if !self.next().map_err(io::Error::other)? {
                return Ok(0);
            }
        }
    }
}
