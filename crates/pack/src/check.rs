//! Compares the headers of entries with the index.

use std::io::{Read, Seek};

use crate::entry::Entry;
use crate::error::{Change, Error, Flaw};
use crate::frame::Frame;
use crate::index::fill;
use crate::shown::shown;
use crate::tar::{Event, Parser};

/// The maximum number of bytes of an entry's headers: enough for a pax header of a megabyte and several other headers.
const LONGEST_HEADERS: u64 = 4 << 20;

/// Parses the headers of entries, and compares them with the records in the index. The first entry must be the root.
/// After an error, the parser may have stopped in the middle of an entry, and must not be used again.
#[derive(Debug)]
pub(crate) struct HeaderCheck(Parser);

impl Default for HeaderCheck {
    fn default() -> Self {
        let (frame, mut parser, mut at) = (Frame::new(), Parser::new(), 0);
        // This crate wrote the marker, so parsing the marker cannot fail.
        while let Ok(Some(_)) = parser.next(frame.ready(), &mut at) {}
        Self(parser)
    }
}

impl HeaderCheck {
    /// Reads the headers of an entry, and compares them with the entry's record in the index.
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
        let mut at = 0;
        let same = match self.0.next(bytes, &mut at)? {
            // The positions are not compared, because an entry has another position in an excerpt than in the pack. The
            // hash is not compared, because headers contain no hash.
            Some(Event::Member(member)) if at == bytes.len() => {
                Entry { begin: entry.begin, content: entry.content, hash: entry.hash, ..member.entry } == *entry
            }
            _ => false,
        };
        self.0.skip();
        if same {
            return Ok(());
        }
        Err(Flaw::Changed { path: shown(&entry.path), change: Change::Headers }.into())
    }
}
