//! An archive as it comes, cut anywhere.

mod member;

pub(crate) use member::Member;

use super::header::Header;
use super::pax::Records;
use super::sparse::{Map, Pieces, Reading};
use super::{BLOCK, LONGEST_PAX, MARKER};
use crate::Error;
use std::collections::VecDeque;
use std::ops::Range;

/// The longest name in a GNU header for long names, with its zero byte.
const LONGEST_NAME: u64 = 65_536;

/// No content is larger; so no sum of offsets overflows.
const LARGEST: u64 = 1 << 60;

/// What stands in an archive.
#[derive(Debug)]
pub(crate) enum Event {
    /// An entry; if it has content, that follows.
    Member(Box<Member>),
    /// An entry that nobody should unpack: a device, or a path that leads elsewhere. Its content is passed over.
    Refused {
        /// Its path as it stands there.
        path: Vec<u8>,
        /// Why.
        error: Error,
    },
    /// Where the pieces of the last entry belong, which has holes. It comes before the first piece, but maybe after content that is the map itself.
    Map(Map),
    /// Content of the last entry.
    Content {
        /// Where it begins in the content.
        offset: u64,
        /// Where it lies in the bytes given.
        range: Range<usize>,
    },
    /// The comment of a global header: the marker, a part of the index, or somebody's remark.
    Comment {
        /// Where it begins in the archive.
        offset: u64,
        /// What it says.
        bytes: Vec<u8>,
    },
    /// The archive ends before this byte.
    End(u64),
    /// What follows the end, where it lies in the bytes given.
    Tail(Range<usize>),
}

/// Reads an archive.
#[derive(Debug)]
pub(crate) struct Parser {
    /// Where the next byte lies in the archive.
    offset: u64,
    state: State,
    /// A block of which only a part came.
    block: Vec<u8>,
    /// What was found and not yet handed out.
    found: VecDeque<Event>,
    pack: bool,
    root: Option<Vec<u8>>,
    global: Records,
    next: Next,
}

/// What headers said of the entry that follows them.
#[derive(Debug, Default)]
struct Next {
    /// Where the first of them begins.
    begin: Option<u64>,
    records: Option<Records>,
    path: Option<Vec<u8>>,
    target: Option<Vec<u8>>,
}

#[derive(Debug)]
enum State {
    Header,
    /// The contents of a header that is longer than a block.
    Long {
        kind: u8,
        begin: u64,
        length: u64,
        bytes: Vec<u8>,
    },
    /// Old GNU: more blocks with lines of the map.
    OldMap {
        member: Box<Member>,
        pieces: Pieces,
    },
    /// The map at the beginning of a content.
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
    /// Of so many bytes.
    Padding(u64),
    /// One block of zeros was there.
    Ending,
    Ended,
}

impl Parser {
    pub(crate) fn new() -> Self {
        Self {
            offset: 0,
            state: State::Header,
            block: Vec::with_capacity(BLOCK),
            found: VecDeque::new(),
            pack: false,
            root: None,
            global: Records::default(),
            next: Next::default(),
        }
    }

    /// Whether the archive is a pack: it began with the marker.
    pub(crate) fn is_pack(&self) -> bool {
        self.pack
    }

    /// The name of a pack's root, once its entry came.
    pub(crate) fn root(&self) -> Option<&[u8]> {
        self.root.as_deref()
    }

    /// Whether the end of the archive came.
    pub(crate) fn ended(&self) -> bool {
        matches!(self.state, State::Ended)
    }

    /// How many bytes from here on are content, or what fills its last block: who does not need them may [`Self::skip`] them.
    pub(crate) fn skippable(&self) -> u64 {
        match &self.state {
            State::NewMap { seen, stored, .. } | State::Content { seen, length: stored, .. } => {
                (stored - seen) + filling(self.offset + (stored - seen))
            }
            State::Padding(left) => *left,
            _ => 0,
        }
    }

    /// Goes on after all that is skippable, as if it had been given.
    pub(crate) fn skip(&mut self) {
        let bytes = self.skippable();
        if bytes > 0 {
            self.offset += bytes;
            self.state = State::Header;
        }
    }

    /// What comes next in `bytes`, from `at` on, which is moved past what was read. `None`: more bytes are needed.
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

    /// Takes some of `rest`, which is not empty and begins at `at` of the bytes given.
    fn step(&mut self, rest: &[u8], at: usize) -> Result<(usize, Option<Event>), Error> {
        let most = |left: u64| usize::try_from(left).unwrap_or(usize::MAX).min(rest.len());
        match &mut self.state {
            State::Header | State::Ending | State::OldMap { .. } => self.gather(rest),
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

    /// Puts a block together, and reads it once it is whole.
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
        // What was gathered before has been counted already.
        let begin = self.offset - self.offset % crate::BLOCK;
        if let State::OldMap { pieces, .. } = &mut self.state {
            pieces.add_old(&block[..504])?;
            return if block[504] == 0 { self.old_map_read() } else { Ok(None) };
        }
        let zeros = block.iter().all(|byte| *byte == 0);
        match (zeros, matches!(self.state, State::Ending)) {
            (true, true) => {
                self.state = State::Ended;
                Ok(Some(Event::End(begin + crate::BLOCK)))
            }
            (true, false) if self.next.begin.is_some() => Err(Error::damaged("the archive ends after the headers of an entry")),
            (true, false) => {
                self.state = State::Ending;
                Ok(None)
            }
            (false, true) => Err(Error::damaged(format!("at byte {begin} the archive goes on after its end"))),
            (false, false) => self.header(&Header::new(block, begin)?, begin),
        }
    }

    fn header(&mut self, header: &Header<'_>, begin: u64) -> Result<Option<Event>, Error> {
        let kind = header.kind();
        if !matches!(kind, b'x' | b'X' | b'g' | b'L' | b'K') {
            return self.member(header, begin);
        }
        let longest = if matches!(kind, b'L' | b'K') { LONGEST_NAME } else { LONGEST_PAX };
        let length = header.size().and_then(|size| u64::try_from(size).ok()).ok_or_else(|| Error::damaged("a header has no size"))?;
        if length > longest {
            return Err(Error::damaged(format!("a header of {length} bytes is longer than the {longest} that may be")));
        }
        if kind == b'g' && self.next.begin.is_some() {
            return Err(Error::damaged("a global header stands between an entry's headers"));
        }
        if kind != b'g' {
            self.next.begin.get_or_insert(begin);
        }
        // What is not there yet is not believed to come.
        self.state = State::Long { kind, begin: begin + crate::BLOCK, length, bytes: Vec::new() };
        if length == 0 { self.long().map(|()| None) } else { Ok(None) }
    }

    /// The contents of a long header are there.
    fn long(&mut self) -> Result<(), Error> {
        let State::Long { kind, begin, length, bytes } = std::mem::replace(&mut self.state, State::Header) else { return Ok(()) };
        self.after_content(length);
        let twice = match kind {
            b'g' => return self.global(&bytes, begin),
            b'L' => self.next.path.replace(up_to_zero(bytes)).is_some(),
            b'K' => self.next.target.replace(up_to_zero(bytes)).is_some(),
            _ => self.next.records.replace(Records::of_entry(&bytes, &self.global)?).is_some(),
        };
        if twice { Err(Error::damaged("an entry has the same header twice")) } else { Ok(()) }
    }

    fn global(&mut self, bytes: &[u8], begin: u64) -> Result<(), Error> {
        let Some((place, comment)) = self.global.global(bytes)? else { return Ok(()) };
        if begin == crate::BLOCK && comment.starts_with(b"deadpan pack ") {
            if comment != MARKER {
                let hint = "use a newer deadpan, or tar, which unpacks it without checking";
                return Err(Error::Archive { what: "the folder was packed by a newer deadpan".into(), hint });
            }
            self.pack = true;
        }
        self.found.push_back(Event::Comment { offset: begin + place as u64, bytes: comment });
        Ok(())
    }

    /// Content comes, and is wanted or not.
    fn content(&mut self, length: u64, wanted: bool) {
        self.state = if length == 0 { State::Header } else { State::Content { seen: 0, length, wanted } };
    }
}

fn up_to_zero(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.truncate(bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()));
    bytes
}

/// What fills the last block of so many bytes.
fn filling(length: u64) -> u64 {
    length.next_multiple_of(crate::BLOCK) - length
}

#[cfg(test)]
#[allow(clippy::print_stderr)] // Tests that are skipped say so.
mod tests;
