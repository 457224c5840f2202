//! Parses an archive that arrives in pieces of any size.

mod member;

use std::collections::VecDeque;

use super::event::{Event, Member};
use super::form::{BLOCK, LONGEST_PAX, MARKER, MARKER_RECORD};
use super::header::Header;
use super::oddity::Oddity;
use super::pax::PaxRecords;
use super::sparse::{Pieces, Reading};
use crate::block::{self, filling};
use crate::error::{Error, Flaw};

/// The maximum length of a name in GNU's header for long names, including the zero byte at its end.
const LONGEST_NAME: u64 = 65_536;

/// The maximum length of a content, so that sums of offsets do not overflow.
const LARGEST: u64 = 1 << 60;

/// Reads an archive.
#[derive(Debug)]
pub(crate) struct Parser {
    /// The offset of the next byte in the archive.
    offset: u64,
    state: State,
    /// The bytes of a block that is not complete yet.
    block: Vec<u8>,
    /// Events that the caller has not taken yet.
    found: VecDeque<Event>,
    /// The marker of a pack is ignored.
    foreign: bool,
    /// Blocks of zeros do not end an archive without an index.
    lenient: bool,
    pack: bool,
    root: Option<Vec<u8>>,
    global: PaxRecords,
    next: Next,
    /// Whether blocks of zeros came last.
    zeros: bool,
}

/// The contents of the extended headers that apply to the next entry.
#[derive(Debug, Default)]
struct Next {
    /// The offset of the first extended header of the next entry.
    begin: Option<u64>,
    records: Option<PaxRecords>,
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
}

#[derive(Debug)]
enum State {
    Header,
    /// The state in which the parser reads the contents of an extended header.
    Long {
        kind: u8,
        begin: u64,
        length: u64,
        bytes: Vec<u8>,
    },
    /// The state in which the parser reads the further blocks of a map in the old GNU format.
    OldMap {
        member: Box<Member>,
        pieces: Pieces,
    },
    /// The state in which the parser reads a map of holes that is stored at the beginning of a file's content.
    NewMap {
        reading: Reading,
        seen: u64,
        stored: u64,
        real_size: u64,
    },
    Content {
        seen: u64,
        length: u64,
        wanted: bool,
    },
    /// The state in which the parser reads the padding after the content of a file. The value is the number of padding
    /// bytes that were not read yet.
    Padding(u64),
    /// The state after one block of zeros.
    Ending,
    Ended,
    /// The state after damage, until the next header. The value is the number of bytes to skip before.
    Lost(u64),
}

impl Parser {
    pub(crate) fn new() -> Self {
        Self {
            offset: 0,
            state: State::Header,
            block: Vec::with_capacity(BLOCK),
            found: VecDeque::new(),
            foreign: false,
            lenient: false,
            pack: false,
            root: None,
            global: PaxRecords::default(),
            next: Next::default(),
            zeros: false,
        }
    }

    /// Makes a parser that reads a pack as an archive of another program, without an index.
    pub(crate) fn foreign() -> Self {
        Self { foreign: true, ..Self::new() }
    }

    /// After blocks of zeros, which can be damage, too, goes on with the next header of an archive without an index.
    pub(crate) fn searching_on(self) -> Self {
        Self { lenient: true, ..self }
    }

    pub(crate) fn is_pack(&self) -> bool {
        self.pack
    }

    /// Returns the name of a pack's root, after the root's entry was read.
    pub(crate) fn root(&self) -> Option<&[u8]> {
        self.root.as_deref()
    }

    /// Checks that the archive is complete if no bytes follow. A pack must end with two blocks of zeros, but an archive
    /// of another program may end without them.
    pub(crate) fn end(&self) -> Result<Option<Oddity>, Error> {
        let between = self.block.is_empty() && self.next.begin.is_none() && self.offset > 0;
        match self.state {
            State::Ended => Ok(None),
            State::Lost(_) => Ok(None),
            // The archive consists of a single block of zeros.
            State::Ending if between && !self.pack && self.offset == block::BLOCK => Ok(Some(Oddity::Empty)),
            State::Header | State::Ending if between && !self.pack => Ok(Some(Oddity::NoEnd)),
            _ => Err(Error::Truncated),
        }
    }

    /// Whether the content of the last entry is not complete.
    pub(crate) fn is_within(&self) -> bool {
        matches!(self.state, State::NewMap { .. } | State::Content { .. })
    }

    /// Goes on after an error: skips the rest of the block that was being read, and then all blocks up to the next
    /// header. The content of a damaged entry may contain a header, too.
    pub(crate) fn lose(&mut self) {
        self.block.clear();
        self.next = Next::default();
        self.zeros = false;
        self.state = State::Lost(block::BLOCK - self.offset % block::BLOCK);
    }

    /// Returns how many of the next bytes are content and padding. The caller may skip these bytes with [`Self::skip`].
    pub(crate) fn skippable(&self) -> u64 {
        match &self.state {
            State::NewMap { seen, stored, .. } | State::Content { seen, length: stored, .. } => {
                (stored - seen) + filling(self.offset + (stored - seen))
            }
            State::Padding(left) => *left,
            _ => 0,
        }
    }

    /// Skips the bytes that [`Self::skippable`] counts, and continues as if the parser had read them.
    pub(crate) fn skip(&mut self) {
        let bytes = self.skippable();
        if bytes > 0 {
            self.offset += bytes;
            self.state = State::Header;
        }
    }

    /// Returns the next event in `bytes`, beginning at offset `at`, and increases `at` by the number of bytes that were
    /// read. Returns `None` if more bytes are needed.
    pub(crate) fn next(&mut self, bytes: &[u8], at: &mut usize) -> Result<Option<Event>, Error> {
        loop {
            if let Some(event) = self.found.pop_front() {
                return Ok(Some(event));
            }
            let rest = &bytes[*at..];
            if rest.is_empty() {
                return Ok(None);
            }
            let (used, event) = self.step(rest, *at)?;
            *at += used;
            self.offset += used as u64;
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    /// Parses some bytes of `rest`, which is not empty and begins at offset `at` of the caller's bytes.
    fn step(&mut self, rest: &[u8], at: usize) -> Result<(usize, Option<Event>), Error> {
        let most = |left: u64| usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
        match &mut self.state {
            State::Lost(left) if *left > 0 => {
                let used = most(*left);
                *left -= used as u64;
                Ok((used, None))
            }
            State::Header | State::Ending | State::OldMap { .. } | State::Lost(_) => self.gather(rest),
            State::Long { length, bytes, .. } => {
                let used = most(*length - bytes.len() as u64);
                bytes.extend_from_slice(&rest[..used]);
                if bytes.len() as u64 == *length {
                    self.long()?;
                }
                Ok((used, None))
            }
            State::NewMap { reading, seen, stored, real_size } => {
                let from = *seen;
                let mut used = 0;
                let mut last = false;
                while used < most(*stored - from) && !last {
                    last = reading.put(rest[used])?;
                    used += 1;
                }
                *seen += used as u64;
                let (seen, length) = (*seen, *stored);
                if last {
                    let map = std::mem::take(reading).finish(seen, length, *real_size)?;
                    self.found.push_back(Event::Map(map));
                    self.state = State::Content { seen, length, wanted: true };
                } else if seen == length {
                    return Err(Error::damaged("the map of a file with holes is longer than its content"));
                }
                Ok((used, Some(Event::Content { offset: from, range: at..at + used })))
            }
            State::Content { seen, length, wanted } => {
                let used = most(*length - *seen);
                let event = wanted.then_some(Event::Content { offset: *seen, range: at..at + used });
                *seen += used as u64;
                let (seen, length) = (*seen, *length);
                if seen == length {
                    self.after_content(length);
                }
                Ok((used, event))
            }
            State::Padding(left) => {
                let used = most(*left);
                *left -= used as u64;
                if *left == 0 {
                    self.state = State::Header;
                }
                Ok((used, None))
            }
            State::Ended => Ok((rest.len(), Some(Event::Tail(at..at + rest.len())))),
        }
    }

    fn after_content(&mut self, length: u64) {
        let filling = filling(length);
        self.state = if filling == 0 { State::Header } else { State::Padding(filling) };
    }

    fn gather(&mut self, rest: &[u8]) -> Result<(usize, Option<Event>), Error> {
        if self.block.is_empty()
            && let Some(block) = rest.first_chunk::<BLOCK>()
        {
            return self.whole(block).map(|event| (BLOCK, event));
        }
        let used = rest.len().min(BLOCK - self.block.len());
        self.block.extend_from_slice(&rest[..used]);
        let Some(block) = self.block.first_chunk::<BLOCK>().copied() else { return Ok((used, None)) };
        self.block.clear();
        self.whole(&block).map(|event| (used, event))
    }

    fn whole(&mut self, block: &[u8; BLOCK]) -> Result<Option<Event>, Error> {
        // If earlier calls collected some bytes of this block, `self.offset` already includes these bytes.
        let begin = self.offset - self.offset % block::BLOCK;
        if let State::OldMap { pieces, .. } = &mut self.state {
            pieces.add_old(&block[..504])?;
            return if block[504] == 0 { self.old_map_read() } else { Ok(None) };
        }
        let is_lenient = self.lenient && !self.pack;
        if matches!(self.state, State::Lost(_)) || is_lenient && matches!(self.state, State::Ending) {
            let Ok(header) = Header::new(block, begin) else {
                self.state = State::Lost(0);
                return Ok(None);
            };
            if std::mem::take(&mut self.zeros) {
                self.found.push_back(Event::GoesOn(begin));
            }
            self.state = State::Header;
            return self.header(&header, begin);
        }
        let zeros = block.iter().all(|byte| *byte == 0);
        match (zeros, matches!(self.state, State::Ending)) {
            (true, true) => {
                if begin == block::BLOCK {
                    self.found.push_back(Event::Odd(Oddity::Empty));
                }
                self.state = State::Ended;
                Ok(Some(Event::End(begin + block::BLOCK)))
            }
            (true, false) if self.next.begin.is_some() => {
                Err(Error::damaged("the archive ends after the headers of an entry"))
            }
            (true, false) => {
                self.zeros = true;
                self.state = State::Ending;
                Ok(None)
            }
            (false, true) if self.pack => {
                Err(Error::damaged(format!("at byte {begin} the archive goes on after its end")))
            }
            (false, true) => {
                self.found.push_back(Event::Odd(Oddity::LoneZeroBlock));
                self.state = State::Ended;
                Ok(Some(Event::End(begin + block::BLOCK)))
            }
            (false, false) => self.header(&Header::new(block, begin)?, begin),
        }
    }

    fn header(&mut self, header: &Header<'_>, begin: u64) -> Result<Option<Event>, Error> {
        let kind = header.kind();
        if !matches!(kind, b'x' | b'X' | b'g' | b'L' | b'K') {
            return self.member(header, begin);
        }
        let longest = if matches!(kind, b'L' | b'K') { LONGEST_NAME } else { LONGEST_PAX };
        let length = header
            .size()
            .and_then(|size| u64::try_from(size).ok())
            .ok_or_else(|| Error::damaged("a header has no size"))?;
        if length > longest {
            return Err(Error::damaged(format!("a header of {length} bytes is longer than the {longest} that may be")));
        }
        if kind == b'g' && self.next.begin.is_some() && self.pack {
            return Err(Error::damaged("a global header stands between an entry's headers"));
        }
        if kind != b'g' {
            self.next.begin.get_or_insert(begin);
        }
        // The buffer grows only as bytes arrive, so a false length in the header takes no memory.
        self.state = State::Long { kind, begin: begin + block::BLOCK, length, bytes: Vec::new() };
        if length == 0 { self.long().map(|()| None) } else { Ok(None) }
    }

    /// Reads the contents of an extended header.
    fn long(&mut self) -> Result<(), Error> {
        let State::Long { kind, begin, length, bytes } = std::mem::replace(&mut self.state, State::Header) else {
            return Ok(());
        };
        self.after_content(length);
        let twice = match kind {
            b'g' => return self.global(&bytes, begin),
            b'L' => self.next.path.replace(up_to_zero(bytes)).is_some(),
            b'K' => self.next.target.replace(up_to_zero(bytes)).is_some(),
            _ => self.next.records.replace(PaxRecords::of_entry(&bytes, &self.global)?).is_some(),
        };
        if twice && self.pack {
            return Err(Error::damaged("an entry has the same header twice"));
        }
        if twice {
            self.found.push_back(Event::Odd(Oddity::Repeated));
        }
        Ok(())
    }

    fn global(&mut self, bytes: &[u8], begin: u64) -> Result<(), Error> {
        let Some((place, comment)) = self.global.global(bytes)? else { return Ok(()) };
        if !self.foreign && begin == block::BLOCK && comment.starts_with(b"deadpan pack ") {
            if comment != MARKER {
                return Err(Flaw::Newer.into());
            }
            // The global header with the marker has no other records.
            self.pack = bytes == MARKER_RECORD;
        }
        self.found.push_back(Event::Comment { offset: begin + place as u64, bytes: comment });
        Ok(())
    }

    /// Continues with content. If `wanted` is set, the parser returns the content to the caller; otherwise the content
    /// is skipped.
    fn content(&mut self, length: u64, wanted: bool) {
        self.state = if length == 0 { State::Header } else { State::Content { seen: 0, length, wanted } };
    }
}

fn up_to_zero(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
    bytes
}

#[cfg(test)]
#[allow(clippy::print_stderr)] // Tests that are skipped say so.
mod tests;
