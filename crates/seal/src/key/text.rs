//! A text with keys: PEM blocks and age lines in any order, with comments and empty lines between the keys.
//!
//! Every line of another kind is an error. A reader that skips unknown lines could lose a recipient silently.
//!
//! May leak: the places where lines begin and end, the prefix of each line, and whether each line holds a key.

use super::error::{Place, Trouble};
use super::{
    Found, KeyError, PRIVATE, PROTECTED, PUBLIC, ProtectedKey, age, fingerprint, foreign, openssh, pbes2, pkcs8, spki,
    ssh,
};
use deadpan_base64::pem;
use deadpan_ct::{CtEq, declassify_bytes};

/// The greatest number of protected keys in one text. A check of one passphrase may take seconds for each key.
const MOST_PROTECTED: usize = 16;
/// The greatest length of a text.
const MAX_LEN: usize = 1 << 20;
/// The byte order mark, which some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];
const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";

pub(super) fn read(text: &[u8]) -> Result<Vec<Found>, KeyError> {
    if text.len() > MAX_LEN {
        return Err(KeyError::TooLong);
    }
    let mut lines = Lines { rest: if starts_with(text, BYTE_ORDER_MARK) { &text[3..] } else { text }, number: 0 };
    let (mut found, mut blocks, mut protected) = (Vec::new(), 0, 0);
    // The comment in the previous line.
    let mut comment = None;
    while let Some((line, from)) = lines.next() {
        let number = lines.number;
        let before = comment.take();
        if starts_with(line, b"#") {
            // Comments are public.
            comment = str::from_utf8(declassify_bytes(line)).ok();
        }
        if line.is_empty() || starts_with(line, b"#") {
            continue;
        }
        if starts_with(from, BEGIN) {
            blocks += 1;
            let place = Place::Block(blocks);
            let mut key = block(line, lines.block(from), place)?;
            if let Found::Protected(key) = &mut key {
                let said = before.and_then(fingerprint::in_comment);
                key.fingerprint = said.map(|(name, _)| name.to_owned());
                key.signs = said.is_some_and(|(_, signs)| signs);
                protected += 1;
            } else if let Found::OpenSsh(file) = &key {
                protected += usize::from(file.is_protected());
            }
            found.push(key);
            if protected > MOST_PROTECTED {
                return Err(KeyError::Limit {
                    place,
                    what: "more than 16 protected keys, each with its own passphrase",
                });
            }
            continue;
        }
        let place = Place::Line(number);
        match line_key(line).map_err(|trouble| trouble.at(place))? {
            Some(key) => found.push(key),
            // If no line of the text is a key, the text is not a key file, so the error does not contain the number of
            // a line.
            None if found.is_empty() && !lines.any(|(line, _)| begins_key(line)) => return Err(KeyError::Unknown),
            None => return Err(KeyError::NotAKey { place }),
        }
    }
    if found.is_empty() { Err(KeyError::Unknown) } else { Ok(found) }
}

/// Returns the key in a PEM block that begins with `line`.
fn block(line: &[u8], text: &[u8], place: Place) -> Result<Found, KeyError> {
    let armor = |error| match error {
        pem::Error::Body => KeyError::Malformed { place, what: "its base64 is not valid" },
        error => KeyError::Armor { place, error },
    };
    // If a block is of another kind, the error contains the label of the block, even if the body is not valid.
    let label = pem::label(line).ok_or_else(|| armor(pem::Error::Begin))?;
    if ![PRIVATE, PROTECTED, PUBLIC, openssh::LABEL].contains(&label) {
        return Err(foreign(label).at(place));
    }
    let contents = pem::decode(text).map_err(armor)?.contents;
    let key = match label {
        PRIVATE => pkcs8::decode(&contents).map(Found::from),
        PROTECTED => pbes2::Sealed::decode(&contents)
            .map(|sealed| Found::Protected(ProtectedKey { sealed, place, fingerprint: None, signs: false })),
        openssh::LABEL => openssh::PrivateFile::decode(&contents, place).map(Found::OpenSsh),
        _ => spki::decode(&contents).map(Found::from),
    };
    key.map_err(|trouble: Trouble| trouble.at(place))
}

/// Returns the key in a line, or `None` if the line has no known prefix.
fn line_key(line: &[u8]) -> Result<Option<Found>, Trouble> {
    match ssh::key(line)? {
        None => age::key(line),
        found => Ok(found),
    }
}

fn begins_key(line: &[u8]) -> bool {
    let known = [BEGIN, age::IDENTITY, age::PLUGIN, b"age1", b"ssh-", b"sk-ssh-"];
    known.iter().any(|words| starts_with(line, words))
}

/// Returns whether a line starts with the bytes `words`. The answer is public. The function does not read the rest of
/// the line.
pub(super) fn starts_with(line: &[u8], words: &[u8]) -> bool {
    line.get(..words.len()).is_some_and(|start| start.ct_eq(words).declassify())
}

/// The lines of a text, without the white space around each line. Each line ends in LF, CR LF or CR.
struct Lines<'a> {
    rest: &'a [u8],
    /// The number of lines that the iterator has returned or skipped.
    number: usize,
}

impl<'a> Iterator for Lines<'a> {
    /// A trimmed line, and the rest of the text, which begins with the untrimmed line.
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let text = self.rest;
        if text.is_empty() {
            return None;
        }
        let length = text.iter().position(|byte| is(*byte, b"\n\r")).unwrap_or(text.len());
        let end = if starts_with(&text[length..], b"\r\n") { 2 } else { 1 };
        self.rest = text.get(length + end..).unwrap_or_default();
        self.number += 1;
        let begin = text[..length].iter().position(|byte| !is(*byte, SPACE)).unwrap_or(length);
        let after =
            text[begin..length].iter().rposition(|byte| !is(*byte, SPACE)).map_or(begin, |last| begin + last + 1);
        Some((&text[begin..after], text))
    }
}

impl<'a> Lines<'a> {
    /// Returns a block whose first line was already read, and moves to the line after the block. A block without an
    /// `END` line ends at the next block, or at the end of the text.
    fn block(&mut self, from: &'a [u8]) -> &'a [u8] {
        loop {
            let before = self.rest;
            let number = self.number;
            match self.next() {
                Some((_, text)) if starts_with(text, BEGIN) => {
                    (self.rest, self.number) = (before, number);
                    return &from[..from.len() - before.len()];
                }
                Some((_, text)) if starts_with(text, END) => return &from[..from.len() - self.rest.len()],
                Some(_) => {}
                None => return from,
            }
        }
    }
}

/// The bytes that the reader treats as white space within a line.
pub(super) const SPACE: &[u8] = b" \t\x0b\x0c";

/// Returns whether `byte` is one of the bytes in `these`. The answer is public.
pub(super) fn is(byte: u8, these: &[u8]) -> bool {
    these.iter().fold(deadpan_ct::Choice::FALSE, |found, this| found | byte.ct_eq(this)).declassify()
}
