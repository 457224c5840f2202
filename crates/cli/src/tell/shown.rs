//! Names and numbers in messages. A name may contain any byte, and a terminal obeys escape sequences, so control
//! characters and bytes that are not UTF-8 are escaped.
//!
//! Escaping happens at two levels. First, messages for people show paths and texts from outside (as [`Foreign`]) only
//! in their escaped form. Second, [`guarded`] escapes control characters in every text that the command line writes to
//! a terminal. The functions that write call [`guarded`], and `clippy.toml` forbids other ways to write.

use std::borrow::Cow;
use std::fmt;
use std::path::Path;

use deadpan_disk::Planted;
use deadpan_pack::is_plain as is_plain_character;

/// Returns a path for a message. Control characters and bytes that are not UTF-8 are escaped.
pub fn shown(path: impl AsRef<Path>) -> String {
    deadpan_pack::shown_path(path.as_ref())
}

/// Returns a name for a message. Control characters and bytes that are not UTF-8 are escaped.
pub fn bytes(name: &[u8]) -> String {
    deadpan_pack::shown(name)
}

/// A text that somebody else chose: the name of a signer, an address in a store, the message of a program. The text is
/// shown in its escaped form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foreign(String);

impl Foreign {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text itself, for comparisons and for JSON.
    pub fn raw(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&bytes(self.0.as_bytes()))
    }
}

/// Returns a text for people. Escapes all characters that a terminal would obey, or that hide or change other
/// characters. Does not escape backslashes, since texts from outside are escaped already. If `lines` is true, the text
/// has several lines, and line feeds are not escaped.
pub fn guarded(text: &str, lines: bool) -> Cow<'_, str> {
    let stays = |character: char| {
        matches!(character, ' '..='~') || lines && matches!(character, '\n' | '\t') || is_plain_character(character)
    };
    if text.chars().all(stays) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if stays(character) { safe.push(character) } else { safe.extend(character.escape_default()) }
    }
    Cow::Owned(safe)
}

/// Whether no character of a name needs an escape, except for backslashes.
pub fn is_plain(name: &[u8]) -> bool {
    str::from_utf8(name).is_ok_and(|text| bytes(name) == text.replace('\\', r"\\"))
}

/// Returns a number with its noun, in the singular or the plural.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

pub fn planted_by(planted: &Planted) -> String {
    let kind = if planted.is_link { "link" } else { "folder" };
    format!("{} is a {kind} of another user (number {})", shown(&planted.path), planted.owner)
}

#[cfg(test)]
mod tests {
    use super::{Foreign, bytes, count, guarded, is_plain};

    #[test]
    fn one_is_singular_and_none_is_plural() {
        let entries = |number| count(number, "entry", "entries");
        assert_eq!([entries(0), entries(1), entries(2)], ["0 entries", "1 entry", "2 entries"]);
    }

    /// [`guarded`], the second level of escaping, escapes the characters that the first level missed, and escapes
    /// nothing twice.
    #[test]
    fn the_second_net_escapes_what_a_terminal_obeys_or_hides() {
        for plain in ["plain name.txt \u{2026}", "z\u{e4}h \u{5d0}\u{5d1} \u{1f600}", r"a\\b\u{1b}", "e\u{301}"] {
            assert_eq!(guarded(plain, false), plain);
        }
        for hidden in ['\u{1b}', '\u{7f}', '\u{9b}', '\r', '\0', '\u{202e}', '\u{200b}', '\u{2066}', '\u{feff}'] {
            let expected = format!("a{}b", hidden.escape_default());
            assert_eq!(guarded(&format!("a{hidden}b"), false), expected);
            assert_eq!(guarded(&format!("a{hidden}b"), true), expected);
        }
        assert_eq!([guarded("a\nb", false), guarded("a\nb", true)], [r"a\nb", "a\nb"]);
    }

    #[test]
    fn a_text_from_outside_is_shown_escaped() {
        let name = Foreign::new("al\u{202e}ice\n\\");
        assert_eq!((name.to_string().as_str(), name.raw()), (r"al\u{202e}ice\n\\", "al\u{202e}ice\n\\"));
    }

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        assert_eq!(bytes(b"plain name.txt"), "plain name.txt");
        assert_eq!(bytes("z\u{e4}h".as_bytes()), "z\u{e4}h");
        assert_eq!(bytes(b"\x1b[2Jx\n"), "\\u{1b}[2Jx\\n");
        assert_eq!(bytes("a\u{202e}b".as_bytes()), "a\\u{202e}b");
        assert_eq!(bytes(b"\xff\xfe"), "\\xff\\xfe");
        assert_eq!([bytes(b"a\nb"), bytes(br"a\nb")], [r"a\nb", r"a\\nb"]);
        assert!(is_plain(br"a\nb") && !is_plain(b"a\\n\n"));
        assert!(is_plain("z\u{e4}h".as_bytes()) && !is_plain(b"\xff") && !is_plain("a\u{61c}b".as_bytes()));
    }
}
