//! Unicode forms of a passphrase: sealing uses one form, and opening tries up to three forms.
//!
//! `é` is one character on most keyboards, but two characters (`e` and an accent) in text from macOS. The bytes of the
//! two forms differ, so the derived keys would differ, too. docs/format-seal.md specifies which form sealing uses and
//! which forms opening tries.
//!
//! May leak: whether the passphrase is ASCII, whether it is UTF-8, whether it is already in a Unicode form, and its
//! length in each form. Lookups in the Unicode tables may also leak information about the passphrase's characters
//! beyond ASCII to programs that share the processor's caches.

use unicode_normalization::UnicodeNormalization;

use crate::{Passphrase, Secret};

/// A form of a passphrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// The bytes as the user typed them.
    Typed,
    /// Unicode NFC: the form to seal with.
    Composed,
    /// Unicode NFD.
    Decomposed,
}

impl Passphrase {
    /// Returns the passphrase in a form. If the bytes are not UTF-8, returns them unchanged.
    pub(crate) fn in_form(&self, form: Form) -> Self {
        let Some(text) = self.text_beyond_ascii() else { return self.clone() };
        match form {
            Form::Typed => self.clone(),
            Form::Composed => Self { bytes: collect(|| text.nfc()), ..*self },
            Form::Decomposed => Self { bytes: collect(|| text.nfd()), ..*self },
        }
    }

    /// Returns the forms that a reader tries: as typed, NFC, NFD. If two forms are equal, returns them only once, as
    /// NFC or NFD and not as the typed form, so that a session finds the hash that it computed for sealing.
    pub(crate) fn forms(&self) -> Vec<Form> {
        if self.text_beyond_ascii().is_none() {
            return vec![Form::Composed];
        }
        let [composed, decomposed] = [Form::Composed, Form::Decomposed].map(|form| self.in_form(form));
        let same = |one: &Self, other: &Self| one.bytes.same(other.as_bytes());
        match (same(self, &composed), same(self, &decomposed)) {
            (true, true) => vec![Form::Composed],
            (true, false) => vec![Form::Composed, Form::Decomposed],
            (false, true) => vec![Form::Decomposed, Form::Composed],
            (false, false) if same(&composed, &decomposed) => vec![Form::Typed, Form::Composed],
            (false, false) => vec![Form::Typed, Form::Composed, Form::Decomposed],
        }
    }

    /// Returns the passphrase as text if it may have more than one form, that is, if it is UTF-8 with characters beyond
    /// ASCII.
    fn text_beyond_ascii(&self) -> Option<&str> {
        if self.as_bytes().is_ascii() { None } else { str::from_utf8(self.as_bytes()).ok() }
    }
}

/// Writes characters as UTF-8. Counts the bytes of the characters first, because a string that grows leaves a copy of
/// its old contents in memory. The iterator itself holds a few characters at a time; these characters are not wiped.
fn collect<I: Iterator<Item = char>>(characters: impl Fn() -> I) -> Secret {
    let mut text = Secret::zeroed(characters().map(char::len_utf8).sum());
    let mut length = 0;
    for character in characters() {
        length += character.encode_utf8(&mut text[length..]).len();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &[u8]) -> Vec<Vec<u8>> {
        let passphrase = Passphrase::new(text);
        passphrase.forms().into_iter().map(|form| passphrase.in_form(form).as_bytes().to_vec()).collect()
    }

    #[test]
    fn passphrases_are_tried_as_typed_then_nfc_then_nfd() {
        let (composed, decomposed) = ("caf\u{e9} \u{1e69}".as_bytes(), "cafe\u{301} s\u{323}\u{307}".as_bytes());
        assert_eq!(forms(composed), [composed, decomposed], "typed in NFC");
        assert_eq!(forms(decomposed), [decomposed, composed], "typed in NFD");
        // This text is neither NFC nor NFD, because Unicode changes the order of its accents.
        let mixed = "caf\u{e9} s\u{307}\u{323}".as_bytes();
        assert_eq!(forms(mixed), [mixed, composed, decomposed], "typed in neither form");
        // NFC and NFD are the same for a text without accents.
        for text in ["", "correct horse", "\u{df} \u{4e00}"].map(str::as_bytes) {
            assert_eq!(forms(text), [text], "one form");
        }
        // NFC and NFD replace the ohm sign with another character.
        assert_eq!(forms("\u{2126}".as_bytes()), ["\u{2126}".as_bytes(), "\u{3a9}".as_bytes()]);
        // NFC and NFD keep compatibility characters: they do not split a ligature into two letters.
        assert_eq!(forms("\u{fb01}".as_bytes()), ["\u{fb01}".as_bytes()]);
        // Unicode composes Hangul by computation, not by a table.
        assert_eq!(forms("\u{d55c}".as_bytes()), ["\u{d55c}".as_bytes(), "\u{1112}\u{1161}\u{11ab}".as_bytes()]);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_taken_as_they_are() {
        for text in [&b"caf\xe9"[..], b"e\xcc\x81\xff", b"\x80"] {
            assert_eq!(forms(text), [text]);
            assert_eq!(Passphrase::new(text).in_form(Form::Decomposed).as_bytes(), text);
        }
    }

    #[test]
    fn a_long_passphrase_has_forms_too() {
        let text = "e\u{301}\u{323}\u{302}\u{308}\u{30a}".repeat(500);
        let expected: String = text.nfc().collect();
        assert_eq!(Passphrase::new(text.as_bytes()).in_form(Form::Composed).as_bytes(), expected.as_bytes());
    }
}
