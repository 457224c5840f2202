//! What is in an archive, told by its headers: for those without an index, and for what comes through a pipe.

use crate::tar::{self, Event, Parser};
use crate::{Entry, Error};
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes read at once.
const BUFFER: usize = 1 << 16;

/// Entries in the order in which they stand in the archive. In packs their paths are below the root, as in [`crate::Contents`]; their hashes are not
/// known. Ends after an error.
#[derive(Debug)]
pub struct Scan<R> {
    input: R,
    parser: Parser,
    buffer: Vec<u8>,
    at: usize,
    /// Passes over bytes of the input.
    skip: fn(&mut R, u64) -> io::Result<()>,
    /// Whether what follows the end is read as well.
    drains: bool,
    done: bool,
}

/// What stands in an archive.
#[derive(Debug)]
#[non_exhaustive]
pub enum Listed {
    /// An entry.
    Entry(Entry),
    /// What is never unpacked: a device, or a path that leads elsewhere.
    Refused {
        /// Its path as it stands there.
        path: Vec<u8>,
        /// Why.
        why: Error,
    },
}

/// Whether an archive may begin with these bytes: its first block is a header of `tar`.
#[must_use]
pub fn is_archive(start: &[u8]) -> bool {
    start.first_chunk().is_some_and(tar::is_header)
}

impl<R: Read> Scan<R> {
    /// Reads through a stream, to its end.
    pub fn stream(input: R) -> Self {
        let skip = |input: &mut R, bytes| io::copy(&mut input.take(bytes), &mut io::sink()).map(drop);
        Self::new(input, skip, true)
    }

    fn new(input: R, skip: fn(&mut R, u64) -> io::Result<()>, drains: bool) -> Self {
        Self { input, parser: Parser::new(), buffer: Vec::new(), at: 0, skip, drains, done: false }
    }

    /// The name of a pack's root, once its entry came; archives of other makers have none.
    #[must_use]
    pub fn root_name(&self) -> Option<&[u8]> {
        self.parser.root()
    }

    /// Whether the archive is a pack, as soon as the first entry came.
    #[must_use]
    pub fn is_pack(&self) -> bool {
        self.parser.is_pack()
    }

    fn advance(&mut self) -> Result<Option<Listed>, Error> {
        loop {
            match self.parser.next(&self.buffer, &mut self.at)? {
                Some(Event::Member(member)) => {
                    self.pass()?;
                    return Ok(Some(Listed::Entry(member.entry)));
                }
                Some(Event::Refused { path, error }) => {
                    self.pass()?;
                    return Ok(Some(Listed::Refused { path, why: error }));
                }
                Some(Event::End(_)) if !self.drains => return Ok(None),
                Some(_) => {}
                None => {
                    self.buffer.resize(BUFFER, 0);
                    self.at = 0;
                    let read = read(&mut self.input, &mut self.buffer)?;
                    self.buffer.truncate(read);
                    if read == 0 {
                        return if self.parser.ended() { Ok(None) } else { Err(Error::Truncated) };
                    }
                }
            }
        }
    }

    /// Passes over a content.
    fn pass(&mut self) -> Result<(), Error> {
        let bytes = self.parser.skippable();
        let here = (self.buffer.len() - self.at) as u64;
        if bytes <= here {
            self.at += bytes as usize;
        } else {
            (self.skip)(&mut self.input, bytes - here).map_err(Error::Read)?;
            self.buffer.clear();
            self.at = 0;
        }
        self.parser.skip();
        Ok(())
    }
}

impl<R: Read + Seek> Scan<R> {
    /// Reads headers from the beginning of an input, and jumps over contents.
    ///
    /// # Errors
    /// If the input cannot be read there.
    pub fn seekable(mut input: R) -> Result<Self, Error> {
        input.rewind().map_err(Error::Read)?;
        let skip = |input: &mut R, bytes| input.seek(SeekFrom::Current(i64::try_from(bytes).unwrap_or(i64::MAX))).map(drop);
        Ok(Self::new(input, skip, false))
    }
}

impl<R: Read> Iterator for Scan<R> {
    type Item = Result<Listed, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let next = self.advance().transpose();
        self.done = !matches!(next, Some(Ok(_)));
        next
    }
}

fn read(input: &mut impl Read, buffer: &mut [u8]) -> Result<usize, Error> {
    loop {
        match input.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result.map_err(Error::Read),
        }
    }
}
