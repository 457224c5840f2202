//! A part of a pack, as a pack of its own.

use crate::index::fill;
use crate::index::write::Index;
use crate::path::{is_under, parent};
use crate::select::{Pick, Picks};
use crate::tar::write::{About, comment, headers, pad};
use crate::tar::{Event, MARKER, Parser};
use crate::{BLOCK, Contents, Entry, Error, Kind};
use std::io::{self, Read, Seek, SeekFrom};

/// Pax headers of a megabyte, one for the entry and an odd one for others, are as long as it gets.
const LONGEST_HEADERS: u64 = 4 << 20;

/// What was selected, with the folders that lead to it: a pack in which hashes and order are checked like in any other. Of the pack behind, only
/// what is selected is read.
#[derive(Debug)]
pub struct Excerpt<'a, R, S> {
    picks: Picks<'a, R>,
    contents: Contents<S>,
    index: Index,
    position: u64,
    /// What comes next, and how much of it was given.
    ready: Vec<u8>,
    given: usize,
    /// Bytes of the input that come after that, and how many zeros then.
    copied: u64,
    zeros: u64,
    /// The last folder that is there.
    folder: Option<Vec<u8>>,
    stage: Stage,
    /// Reads the headers before anybody else does.
    check: Parser,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Entries,
    Parts,
    Nothing,
}

impl<'a, R: Read + Seek, S: Read + Seek> Excerpt<'a, R, S> {
    /// Of the pack that `contents` has too, through a reader of its own.
    #[must_use]
    pub fn new(picks: Picks<'a, R>, contents: Contents<S>) -> Self {
        let mut ready = Vec::new();
        comment(&mut ready, &[MARKER]);
        let mut check = Parser::new();
        let mut at = 0;
        // It is as it should be; were it not, no entry would pass.
        while let Ok(Some(_)) = check.next(&ready, &mut at) {}
        Self {
            picks,
            contents,
            index: Index::default(),
            position: 0,
            ready,
            given: 0,
            copied: 0,
            zeros: 0,
            folder: None,
            stage: Stage::Entries,
            check,
        }
    }

    /// Gets ready what comes next; whether there is anything.
    fn next(&mut self) -> Result<bool, Error> {
        self.ready.clear();
        self.given = 0;
        match self.stage {
            Stage::Nothing => return Ok(false),
            Stage::Parts => match self.index.part(self.position) {
                Some(part) => self.ready = part,
                None => {
                    self.ready = self.index.end(self.position);
                    self.stage = Stage::Nothing;
                }
            },
            Stage::Entries => match self.index.block(self.position) {
                Some(block) => self.ready = block,
                None => match self.picks.next().transpose()? {
                    Some(pick) => self.pick(pick)?,
                    None => {
                        self.ready.resize(2 * BLOCK as usize, 0);
                        self.stage = Stage::Parts;
                    }
                },
            },
        }
        Ok(true)
    }

    fn pick(&mut self, pick: Pick) -> Result<(), Error> {
        let Pick { entry, source } = pick;
        // All folders on the way that are not there yet, the root first.
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
            let folder = folder.ok_or_else(|| Error::damaged(format!("{} has no folder in the index", crate::shown(&path))))?;
            self.headers_of(folder)?;
        }
        match source {
            None => self.headers_of(entry),
            Some(file) => self.as_file(entry, &file),
        }
    }

    /// An entry's headers, as they are; its content is copied after them.
    fn headers_of(&mut self, entry: Entry) -> Result<(), Error> {
        let begin = self.position + self.ready.len() as u64;
        let length = entry.content.saturating_sub(entry.begin);
        if length > LONGEST_HEADERS {
            return Err(Error::damaged(format!("the headers of {} are longer than any are", crate::shown(&entry.path))));
        }
        let length = length as usize;
        let old = self.ready.len();
        self.ready.resize(old + length, 0);
        fill(&mut self.contents.input, entry.begin, &mut self.ready[old..])?;
        self.compare(&entry, old)?;
        if entry.kind == Kind::Folder {
            self.folder = Some(entry.path.clone());
        }
        self.add(Entry { begin, content: begin + length as u64, ..entry.clone() });
        self.copy(&entry)
    }

    /// Refuses headers that are not those of the entry that the index names: what is made of them might be what nobody selected, and be noticed only
    /// after it has taken the place of something.
    fn compare(&mut self, entry: &Entry, from: usize) -> Result<(), Error> {
        let (bytes, mut at) = (&self.ready[from..], 0);
        let same = match self.check.next(bytes, &mut at)? {
            // Places are others here, and headers know no hash.
            Some(Event::Member(member)) if at == bytes.len() => {
                Entry { begin: entry.begin, content: entry.content, hash: entry.hash, ..member.entry } == *entry
            }
            _ => false,
        };
        self.check.skip();
        if same {
            return Ok(());
        }
        let what = format!("{} is not what the index says: it was changed, or moved", crate::shown(&entry.path));
        Err(Error::Archive { what, hint: "the archive was changed after it was made; get it again" })
    }

    /// A link to a file that is not selected, as that file.
    fn as_file(&mut self, link: Entry, file: &Entry) -> Result<(), Error> {
        let begin = self.position + self.ready.len() as u64;
        let path = [self.contents.root_name(), b"/", &link.path].concat();
        let about = About {
            path: &path,
            kind: b'0',
            mode: file.mode,
            stored: file.stored,
            modified: file.modified,
            real_size: (file.kind == Kind::Sparse).then_some(file.size),
            ..About::default()
        };
        headers(&mut self.ready, &about);
        let content = self.position + self.ready.len() as u64;
        self.add(Entry { path: link.path, begin, content, ..file.clone() });
        self.copy(file)
    }

    fn add(&mut self, entry: Entry) {
        if let Some(slot) = self.index.add(&entry) {
            self.index.set(slot, &entry.hash.unwrap_or_default());
        }
    }

    fn copy(&mut self, entry: &Entry) -> Result<(), Error> {
        self.copied = entry.stored;
        self.zeros = entry.stored.next_multiple_of(BLOCK) - entry.stored;
        match entry.stored {
            0 => Ok(()),
            _ => self.contents.input.seek(SeekFrom::Start(entry.content)).map(drop).map_err(Error::Read),
        }
    }
}

impl<R: Read + Seek, S: Read + Seek> Read for Excerpt<'_, R, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if self.given < self.ready.len() {
                let length = buffer.len().min(self.ready.len() - self.given);
                buffer[..length].copy_from_slice(&self.ready[self.given..self.given + length]);
                self.given += length;
                self.position += length as u64;
                return Ok(length);
            }
            if self.copied > 0 {
                let length = usize::try_from(self.copied).map_or(buffer.len(), |left| left.min(buffer.len()));
                let read = self.contents.input.read(&mut buffer[..length])?;
                if read == 0 {
                    return Err(io::Error::other(Error::Truncated));
                }
                self.copied -= read as u64;
                self.position += read as u64;
                return Ok(read);
            }
            if self.zeros > 0 {
                self.ready.clear();
                self.given = 0;
                pad(&mut self.ready, BLOCK - self.zeros);
                self.zeros = 0;
                continue;
            }
            if !self.next().map_err(io::Error::other)? {
                return Ok(0);
            }
        }
    }
}
