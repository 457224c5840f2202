//! Reads stanzas from a stream of bytes, and makes the text of stanzas. The length of each stanza is checked before the
//! stanza is parsed.

use super::error::Reason;
use crate::format::age::AgeStanza;
use deadpan_base64::STANDARD_NO_PAD;
use deadpan_ct::{Wipe, Wiped};

/// The maximum number of bytes in the text of a stanza.
pub(super) const LONGEST: usize = 64 << 10;
/// The number of columns in a full line of a body. A shorter line is the last line of its stanza.
const COLUMNS: usize = 64;
const START: &[u8] = b"-> ";

/// Bytes that were received but are not used yet. The bytes may contain keys, so they are wiped.
pub(super) struct Frames {
    bytes: Wiped<Vec<u8>>,
    /// The number of bytes in the complete lines of the first stanza.
    lines: usize,
}

impl Frames {
    pub(super) fn new() -> Self {
        // The vector has its full capacity from the start, because a vector that grows leaves a copy of its contents
        // behind.
        Self { bytes: Wiped::new(Vec::with_capacity(2 * LONGEST)), lines: 0 }
    }

    /// Returns the maximum number of bytes that may be added now.
    pub(super) fn room(&self) -> usize {
        self.bytes.capacity() - self.bytes.len()
    }

    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Returns the next stanza, or `None` if more bytes are needed.
    pub(super) fn next(&mut self) -> Result<Option<AgeStanza>, Reason> {
        let begins = self.bytes.len().min(START.len());
        if self.bytes[..begins] != START[..begins] {
            return Err(Reason::Protocol("a line that is not a stanza"));
        }
        while let Some(length) = self.bytes[self.lines..].iter().position(|byte| *byte == b'\n') {
            let is_first = self.lines == 0;
            self.lines += length + 1;
            if self.lines > LONGEST {
                break;
            }
            if is_first || length == COLUMNS {
                continue;
            }
            let text = &self.bytes[..self.lines];
            let stanza = parse(text).ok_or(Reason::Protocol("a stanza that is not well formed"));
            let end = std::mem::take(&mut self.lines);
            let rest = self.bytes.len() - end;
            self.bytes.copy_within(end.., 0);
            self.bytes[rest..].wipe();
            self.bytes.truncate(rest);
            return stanza.map(Some);
        }
        if self.bytes.len() > LONGEST { Err(Reason::Flood("a stanza of more than 64 KiB")) } else { Ok(None) }
    }
}

/// Reads a stanza whose text ends at the first line that is not full. The body may be a key, so decoding leaves no copy
/// of the body behind.
fn parse(text: &[u8]) -> Option<AgeStanza> {
    let mut lines = text.strip_suffix(b"\n")?.split(|byte| *byte == b'\n');
    let first = [lines.next()?, b"\n\n"].concat();
    let mut stanza = AgeStanza::read(&first[..]).ok()??;
    stanza.body.reserve_exact(text.len());
    for line in lines {
        if line.len() > COLUMNS {
            return None;
        }
        stanza.body.extend_from_slice(&Wiped::new(STANDARD_NO_PAD.decode(line).ok()?));
    }
    Some(stanza)
}

/// Returns the text of a stanza whose first line has these words. May leak: the words, and the length of the body.
pub(super) fn stanza(words: &[&[u8]], body: &[u8]) -> Wiped<Vec<u8>> {
    let columns = COLUMNS / 4 * 3;
    let lines =
        words.iter().map(|word| word.len() + 1).sum::<usize>() + body.len().div_ceil(3) * 4 + body.len() / columns;
    let mut text = Wiped::new(Vec::with_capacity(START.len() + lines + 2));
    text.extend_from_slice(b"->");
    for word in words {
        text.push(b' ');
        text.extend_from_slice(word);
    }
    text.push(b'\n');
    for line in body.chunks(columns) {
        STANDARD_NO_PAD.encode_onto(line, &mut text);
        text.push(b'\n');
    }
    if body.len().is_multiple_of(columns) {
        text.push(b'\n');
    }
    text
}
