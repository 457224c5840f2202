//! PEM line by line.

use super::base64;
use crate::Rules;
use deadpan_base64::pem::Error;
use deadpan_base64::{Alphabet, Padding};

const BODY: Rules = Rules {
    alphabet: Alphabet::Standard,
    padding: Padding::Required,
    skip_white_space: true,
    ignore_trailing_bits: false,
};

/// Returns the label and the contents of the first block of `text`.
pub fn decode(text: &[u8]) -> Result<(String, Vec<u8>), Error> {
    let mut lines =
        text.split(|byte| matches!(byte, b'\n' | b'\r')).skip_while(|line| !line.starts_with(b"-----BEGIN "));
    let label = label(lines.next().ok_or(Error::Missing)?, "-----BEGIN ").ok_or(Error::Begin)?;
    let mut body = Vec::new();
    for line in lines {
        if line.starts_with(b"-----BEGIN ") {
            break;
        }
        if line.starts_with(b"-----END ") {
            if self::label(line, "-----END ").as_ref() != Some(&label) {
                break;
            }
            let wrong = if body.contains(&b':') { Error::Headers } else { Error::Body };
            return base64::decode(BODY, &body).map(|contents| (label, contents)).ok_or(wrong);
        }
        body.extend_from_slice(line);
    }
    Err(Error::End)
}

/// Returns whether the RFC allows a label. A label is empty, or consists of words with one space or hyphen between
/// them.
#[must_use]
pub fn is_label(label: &str) -> bool {
    let is_word = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
    label.is_empty() || label.split([' ', '-']).all(is_word)
}

fn label(line: &[u8], keyword: &str) -> Option<String> {
    let line = String::from_utf8(line.to_vec()).ok()?;
    let line = line.trim_end_matches([' ', '\t', '\x0b', '\x0c']);
    let label = line.strip_prefix(keyword)?.strip_suffix("-----")?;
    is_label(label).then(|| label.to_owned())
}
