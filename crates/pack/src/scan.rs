//! Lists an archive by its headers. This module reads archives that have no index or that come from a pipe.

use std::io::{self, Read, Seek, SeekFrom};

use crate::entry::Entry;
use crate::error::{Error, Flaw};
use crate::stale::index_is_stale;
use crate::tar::{self, Event, Oddity, Parser};

/// The number of bytes that are read at once.
const BUFFER: usize = 1 << 16;

/// An iterator over the entries of an archive, in order. In packs, paths are relative to the root, as in
/// [`crate::Contents`]. The entries have no hashes. The iterator ends after an error.
#[derive(Debug)]
pub struct Scan<R> {
    input: R,
    parser: Parser,
    buffer: Vec<u8>,
    at: usize,
    /// Skips bytes of the input.
    skip: fn(&mut R, u64) -> io::Result<()>,
    /// Returns whether bytes were skipped that are beyond the end of the input.
    beyond: fn(&mut R) -> io::Result<bool>,
    /// If true, the bytes after the end of the archive are read too.
    drains: bool,
    /// The kinds of irregularities for which a note was already returned.
    noted: Vec<Oddity>,
    /// Another program has changed a pack.
    stale: bool,
    /// The offset where the archive ends. `None` until the iterator reaches the end of the archive.
    end: Option<u64>,
    done: bool,
}

/// An item of a listing.
#[derive(Debug)]
#[non_exhaustive]
pub enum Listed {
    /// An entry.
    Entry(Entry),
    /// An entry that is never unpacked: a device, or a path that leads out of the target.
    Refused {
        /// The path exactly as in the archive.
        path: Vec<u8>,
        /// The reason.
        flaw: Flaw,
    },
    /// A description of an irregularity that does not prevent unpacking.
    Note(String),
}

/// Whether the bytes in `start` begin with a header of a tar archive.
#[must_use]
pub fn is_archive(start: &[u8]) -> bool {
    start.first_chunk().is_some_and(tar::is_header)
}

/// Reads a whole archive without its index, and returns whether headers are damaged or its end is missing.
///
/// # Errors
/// If the system fails.
pub fn is_damaged(mut input: impl Read) -> Result<bool, Error> {
    let (mut parser, mut buffer) = (Parser::foreign().searching_on(), vec![0; BUFFER]);
    loop {
        let length = match input.read(&mut buffer) {
            Ok(0) => return Ok(parser.end().is_err()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) if error.raw_os_error().is_some() => return Err(Error::Read(error)),
            Err(_) => return Ok(true),
            Ok(length) => length,
        };
        let mut at = 0;
        loop {
            match parser.next(&buffer[..length], &mut at) {
                Ok(None) => break,
                Ok(Some(Event::GoesOn(_))) | Err(_) => return Ok(true),
                Ok(Some(_)) => {}
            }
        }
    }
}

impl<R: Read> Scan<R> {
    /// Lists the entries of a stream, and reads it to its end.
    pub fn stream(input: R) -> Self {
        let skip = |input: &mut R, bytes| match io::copy(&mut input.take(bytes), &mut io::sink())? {
            skipped if skipped < bytes => Err(io::Error::other(Error::Truncated)),
            _ => Ok(()),
        };
        Self::new(input, skip, |_| Ok(false), true)
    }

    fn new(
        input: R,
        skip: fn(&mut R, u64) -> io::Result<()>,
        beyond: fn(&mut R) -> io::Result<bool>,
        drains: bool,
    ) -> Self {
        let (parser, buffer) = (Parser::new(), Vec::new());
        Self {
            input,
            parser,
            buffer,
            at: 0,
            skip,
            beyond,
            drains,
            noted: Vec::new(),
            stale: false,
            end: None,
            done: false,
        }
    }

    /// Returns the name of the root of a pack, if the entry of the root was already read. Returns `None` if the archive
    /// is not a pack.
    #[must_use]
    pub fn root_name(&self) -> Option<&[u8]> {
        self.parser.root()
    }

    /// Whether the archive is a pack. The result is correct only after the first entry was read.
    #[must_use]
    pub fn is_pack(&self) -> bool {
        self.parser.is_pack()
    }

    /// Returns the offset of the end of the archive, after its two blocks of zeros. Returns `None` until the iterator
    /// reaches the end.
    pub(crate) fn end(&self) -> Option<u64> {
        self.end
    }

    fn advance(&mut self) -> Result<Option<Listed>, Error> {
        if let Some(note) = self.stale.then(|| self.note(Oddity::Stale)).flatten() {
            return Ok(Some(note));
        }
        loop {
            match self.parser.next(&self.buffer, &mut self.at)? {
                Some(Event::Member(member)) => {
                    self.pass()?;
                    return Ok(Some(Listed::Entry(member.entry)));
                }
                Some(Event::Refused { path, flaw }) => {
                    self.pass()?;
                    return Ok(Some(Listed::Refused { path, flaw }));
                }
                Some(Event::Odd(odd)) => {
                    if let Some(note) = self.note(odd) {
                        return Ok(Some(note));
                    }
                }
                Some(Event::End(end)) => {
                    self.end = Some(end);
                    if !self.drains {
                        return Ok(None);
                    }
                }
                Some(_) => {}
                None => {
                    self.buffer.resize(BUFFER, 0);
                    self.at = 0;
                    let read = read(&mut self.input, &mut self.buffer)?;
                    self.buffer.truncate(read);
                    if read == 0 {
                        let beyond = (self.beyond)(&mut self.input).map_err(Error::Read)?;
                        return if beyond { Err(Error::Truncated) } else { self.ended() };
                    }
                }
            }
        }
    }

    /// At the end of the input, checks that the archive is complete.
    fn ended(&mut self) -> Result<Option<Listed>, Error> {
        let odd = if self.end.is_none() { self.parser.end()? } else { None };
        // If `end` is set, the next call does not check the end of the archive again.
        self.end.get_or_insert(0);
        Ok(odd.and_then(|odd| self.note(odd)))
    }

    /// Returns a note if this irregularity occurs for the first time.
    fn note(&mut self, odd: Oddity) -> Option<Listed> {
        if self.noted.contains(&odd) {
            return None;
        }
        self.noted.push(odd);
        Some(Listed::Note(odd.to_string()))
    }

    /// Skips a content.
    fn pass(&mut self) -> Result<(), Error> {
        let bytes = self.parser.skippable();
        let here = (self.buffer.len() - self.at) as u64;
        if bytes <= here {
            self.at += bytes as usize;
        } else {
            (self.skip)(&mut self.input, bytes - here).map_err(|error| error.downcast().unwrap_or_else(Error::Read))?;
            self.buffer.clear();
            self.at = 0;
        }
        self.parser.skip();
        Ok(())
    }
}

impl<R: Read + Seek> Scan<R> {
    /// Lists the entries of an input from its beginning, and seeks over contents. If another program has changed a
    /// pack, lists the pack as an archive of that program (see [`index_is_stale`]).
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn seekable(mut input: R) -> Result<Self, Error> {
        if index_is_stale(&mut input)? {
            Ok(Self { stale: true, ..Self::foreign(input)? })
        } else {
            Self::with_marker(input)
        }
    }

    /// Lists a pack as if it were an archive of another program.
    pub(crate) fn foreign(input: R) -> Result<Self, Error> {
        Ok(Self { parser: Parser::foreign(), ..Self::with_marker(input)? })
    }

    /// If the archive begins with the marker of a pack, lists it as a pack.
    pub(crate) fn with_marker(mut input: R) -> Result<Self, Error> {
        input.rewind().map_err(Error::Read)?;
        let skip =
            |input: &mut R, bytes| input.seek(SeekFrom::Current(i64::try_from(bytes).unwrap_or(i64::MAX))).map(drop);
        let beyond = |input: &mut R| Ok(input.stream_position()? > input.seek(SeekFrom::End(0))?);
        Ok(Self::new(input, skip, beyond, false))
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
