//! PEM, the text form of keys and certificates: RFC 7468 with the constant-time codec.
//!
//! ```
//! use deadpan_base64::pem;
//!
//! let text = pem::encode("PRIVATE KEY", &[7; 49])?;
//! assert_eq!(text.lines().map(str::len).max(), Some(64));
//!
//! let document = pem::decode(text.as_bytes())?;
//! assert_eq!(document.label, "PRIVATE KEY");
//! assert_eq!(*document.contents, [7; 49]);
//! # Ok::<(), pem::Error>(())
//! ```
//!
//! Writing is strict: the text has `\n` line ends and 64 columns, and nothing comes before or after the block. Reading
//! accepts everything that the RFC requires of parsers: text before and after the block, line ends `\r\n` and `\r`,
//! lines of any length, and white space in the body. If a block has headers inside, such as `Proc-Type: 4,ENCRYPTED`
//! (from before PKCS#8) or `Comment: …`, reading fails with a separate error.
//!
//! What may leak: the length of everything, the label, the positions of line ends and white space, and whether the
//! block was valid. Only the constant-time codec examines the body.

use alloc::{string::String, vec::Vec};
use core::fmt;

use crate::{STANDARD, imp};
use deadpan_ct::{Choice, CtEq, Wiped, declassify_bytes};

/// The number of bytes in a full line of 64 symbols.
const LINE_BYTES: usize = 48;
/// The parts of `BEGIN` and `END` lines around a label.
const BEGIN: &str = "-----BEGIN ";
const END: &str = "-----END ";
const DASHES: &str = "-----";
const BODY: crate::Base64 = STANDARD.skipping_white_space();

/// A PEM block: its label and its contents. The contents are wiped on drop.
#[derive(Debug)]
pub struct Document<'a> {
    /// The words after `BEGIN`, such as `PRIVATE KEY`.
    pub label: &'a str,
    /// The decoded body.
    pub contents: Wiped<Vec<u8>>,
}

/// The reason why a PEM text could not be written or read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The input has no `BEGIN` line.
    Missing,
    /// A `BEGIN` line of the input is not well formed.
    Begin,
    /// The `END` line of a block is missing or has another label.
    End,
    /// A block has headers inside, that is, lines with a colon. Keys in the encrypted format from before PKCS#8 have
    /// headers.
    Headers,
    /// The body of a block is not valid. The error has no detail, since the body may be a secret.
    Body,
    /// The RFC does not allow the caller's label.
    Label,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "no PEM block found",
            Self::Begin => "the BEGIN line of a PEM block is not well formed",
            Self::End => "the END line of a PEM block is missing or has another label",
            Self::Headers => "a PEM block with headers inside is not supported",
            Self::Body => "the body of a PEM block is not valid",
            Self::Label => "not a PEM label",
        })
    }
}

impl core::error::Error for Error {}

/// Writes one block with lines of 64 columns that end in `\n`. May leak: the length.
///
/// # Errors
/// If the RFC does not allow `label`.
pub fn encode(label: &str, contents: &[u8]) -> Result<String, Error> {
    if !is_label(label) {
        return Err(Error::Label);
    }
    let lines = contents.chunks(LINE_BYTES);
    let edges = BEGIN.len() + END.len() + 2 * (label.len() + DASHES.len() + 1);
    // The text is allocated once with the right size, because a string that grows leaves copies of its contents in
    // memory.
    let mut text = Vec::with_capacity(edges + contents.len().div_ceil(3) * 4 + lines.len());
    for part in [BEGIN, label, DASHES, "\n"] {
        text.extend_from_slice(part.as_bytes());
    }
    for line in lines {
        STANDARD.encode_onto(line, &mut text);
        text.push(b'\n');
    }
    for part in [END, label, DASHES, "\n"] {
        text.extend_from_slice(part.as_bytes());
    }
    Ok(imp::string(text))
}

/// Reads the first block of `text`.
///
/// # Errors
/// If there is no block, or if the block is not valid.
pub fn decode(text: &[u8]) -> Result<Document<'_>, Error> {
    documents(text).next().unwrap_or(Err(Error::Missing))
}

/// Reads all blocks of `text`, in order. After a bad block, the search for the next block continues where the reading
/// of the bad block stopped.
#[must_use]
pub fn documents(text: &[u8]) -> Documents<'_> {
    Documents { rest: text }
}

/// Returns the label of a `BEGIN` line, such as `PRIVATE KEY`; `None` if the line is not well formed.
///
/// Use this function to recognize a block before its body is decoded. May leak: the label, and the positions of white
/// space and of pairs of hyphens.
///
/// ```
/// # use deadpan_base64::pem;
/// assert_eq!(pem::label(b"-----BEGIN CERTIFICATE-----"), Some("CERTIFICATE"));
/// assert_eq!(pem::label(b"-----BEGIN CERTIFICATE"), None);
/// ```
#[must_use]
pub fn label(line: &[u8]) -> Option<&str> {
    if starts_with(line, BEGIN) { label_of(line, BEGIN) } else { None }
}

/// The blocks of a text.
#[derive(Clone)]
pub struct Documents<'a> {
    rest: &'a [u8],
}

impl fmt::Debug for Documents<'_> {
    /// The debug output does not contain the text, since logs are public.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Documents(..)")
    }
}

impl<'a> Iterator for Documents<'a> {
    type Item = Result<Document<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let line = self.line()?;
            if starts_with(line, BEGIN) {
                return Some(self.block(line));
            }
        }
    }
}

impl<'a> Documents<'a> {
    fn line(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = self.rest.split_at(imp::space::line_end(self.rest));
        // `\r\n` is read as two line ends with an empty line between them, and the empty line changes nothing.
        self.rest = rest.get(1..).unwrap_or_default();
        Some(line)
    }

    fn block(&mut self, line: &'a [u8]) -> Result<Document<'a>, Error> {
        let label = label_of(line, BEGIN).ok_or(Error::Begin)?;
        let start = self.rest;
        loop {
            let before = self.rest;
            let line = self.line().ok_or(Error::End)?;
            if starts_with(line, BEGIN) {
                self.rest = before;
                return Err(Error::End);
            }
            if starts_with(line, END) {
                let body = &start[..start.len() - before.len()];
                return match label_of(line, END) {
                    Some(end) if end == label => open(label, body),
                    _ => Err(Error::End),
                };
            }
        }
    }
}

fn open<'a>(label: &'a str, body: &[u8]) -> Result<Document<'a>, Error> {
    let contents = BODY.decode(body).map_err(|_| if has_headers(body) { Error::Headers } else { Error::Body })?;
    Ok(Document { label, contents: Wiped::new(contents) })
}

/// Returns whether a body that is not base64 has headers, that is, lines with a colon. A colon is not a symbol of
/// base64. The body leaks nothing else.
fn has_headers(body: &[u8]) -> bool {
    body.iter().fold(Choice::FALSE, |found, byte| found | byte.ct_eq(&b':')).declassify()
}

/// Returns whether a line begins with the text `words`. Whether the texts are equal becomes public, but the function
/// examines nothing else of the line.
fn starts_with(line: &[u8], words: &str) -> bool {
    line.get(..words.len()).is_some_and(|start| start.ct_eq(words.as_bytes()).declassify())
}

/// Returns the label of a `BEGIN` or `END` line, if the line is well formed. White space may follow the line. For any
/// other line, such as a line that contains a whole block, only the positions of white space and of pairs of hyphens
/// leak.
fn label_of<'a>(line: &'a [u8], keyword: &str) -> Option<&'a str> {
    let label = line.get(keyword.len()..imp::space::trimmed_len(line))?;
    let (label, dashes) = label.split_at_checked(label.len().checked_sub(DASHES.len())?)?;
    let pairs = label.windows(2).fold(Choice::FALSE, |pairs, pair| pairs | pair.ct_eq(b"--"));
    if (!dashes.ct_eq(DASHES.as_bytes()) | pairs).declassify() {
        return None;
    }
    core::str::from_utf8(declassify_bytes(label)).ok().filter(|label| is_label(label))
}

/// Returns whether a text is a label of RFC 7468 section 3: printable characters, with single spaces or hyphens between
/// them. A label may be empty.
fn is_label(label: &str) -> bool {
    let is_link = |byte: u8| byte == b' ' || byte == b'-';
    let bytes = label.as_bytes();
    let printable = bytes.iter().all(|byte| matches!(byte, b' '..=b'~'));
    let ends = bytes.first().is_none_or(|first| !is_link(*first)) && bytes.last().is_none_or(|last| !is_link(*last));
    let single = bytes.windows(2).all(|pair| !(is_link(pair[0]) && is_link(pair[1])));
    printable && ends && single
}
