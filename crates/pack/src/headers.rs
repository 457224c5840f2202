//! Reads the headers of single entries of a pack, and compares the headers with the index.

use std::io::{Read, Seek};

use crate::entry::Entry;
use crate::error::{Change, Error, Flaw};
use crate::frame::Frame;
use crate::index::fill;
use crate::shown::shown;
use crate::tar::{Event, Parser};

/// The maximum number of bytes of an entry's headers: enough for a pax header of a megabyte and several other headers.
const LONGEST_HEADERS: u64 = 4 << 20;

/// Compares the headers of entries with the index. The first compared entry must be the root, because the headers of
/// the root contain the name with which the paths of all other headers begin.
#[derive(Debug)]
pub(crate) struct HeaderCheck(Parser);

impl HeaderCheck {
    /// Makes a check that has read the marker of a pack. `frame` is a new frame.
    pub(crate) fn new(frame: &Frame) -> Self {
        let (mut parser, mut at) = (Parser::new(), 0);
        // This crate wrote the marker, so parsing the marker cannot fail.
        while let Ok(Some(_)) = parser.next(frame.ready(), &mut at) {}
        Self(parser)
    }

    /// Reads the headers of an entry, and compares the headers with the entry's record in the index.
    pub(crate) fn read(&mut self, input: &mut (impl Read + Seek), entry: &Entry) -> Result<Vec<u8>, Error> {
        let length = entry.content.saturating_sub(entry.begin);
        if length > LONGEST_HEADERS {
            return Err(Error::damaged(format!("the headers of {} are too long: {length} bytes", shown(&entry.path))));
        }
        let mut headers = vec![0; length as usize];
        fill(input, entry.begin, &mut headers)?;
        self.compare(entry, &headers)?;
        Ok(headers)
    }

    /// Refuses headers that differ from the index. Wrong headers could describe an entry that was not selected, and
    /// such an entry could replace a file before the check at the end of unpacking.
    pub(crate) fn compare(&mut self, entry: &Entry, bytes: &[u8]) -> Result<(), Error> {
        let Self(parser) = self;
        let mut at = 0;
        let same = match parser.next(bytes, &mut at)? {
            // The positions are not compared, because an entry has another position in an excerpt than in the pack.
            // The hash is not compared, because headers contain no hash.
            Some(Event::Member(member)) if at == bytes.len() => {
                Entry { begin: entry.begin, content: entry.content, hash: entry.hash, ..member.entry } == *entry
            }
            _ => false,
        };
        parser.skip();
        if same {
            return Ok(());
        }
        Err(Flaw::Changed { path: shown(&entry.path), change: Change::Headers }.into())
    }
}
