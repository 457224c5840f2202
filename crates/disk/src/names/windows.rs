//! The names that files cannot have on Windows. The rules are code for all systems, so that their tests run everywhere.

/// The reason why a file on Windows cannot have a name, or why programs there would not find it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Flaw {
    /// The bytes are not UTF-8.
    #[error("is not Unicode")]
    NotUnicode,
    /// A character that separates folders, names a stream of a file, is a wildcard, or controls a terminal.
    #[error("contains {0:?}")]
    Character(char),
    /// A dot or a space at the end, which the system drops.
    #[error("ends with a dot or a space")]
    Ending,
    /// The name of a device.
    #[error("is the name of a device")]
    Device,
    /// More than 255 units of UTF-16.
    #[error("is too long")]
    TooLong,
}

/// The most units of UTF-16 in a name.
const LONGEST: usize = 255;
/// The characters that no name has.
const REFUSED: &str = "<>:\"/\\|?*";
/// The names of devices. A digit follows the last two: one of 1 to 9, or a superscript 1, 2 or 3.
const DEVICES: [&str; 6] = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"];
const NUMBERED: [&str; 2] = ["COM", "LPT"];

/// Returns the reason why a file on Windows cannot have this name, or `None` if it can.
#[must_use]
pub fn flaw(name: &[u8]) -> Option<Flaw> {
    let Ok(name) = str::from_utf8(name) else { return Some(Flaw::NotUnicode) };
    if let Some(refused) = name.chars().find(|character| REFUSED.contains(*character) || *character < ' ') {
        return Some(Flaw::Character(refused));
    }
    if name.ends_with(['.', ' ']) {
        return Some(Flaw::Ending);
    }
    if is_device(name) {
        return Some(Flaw::Device);
    }
    (name.encode_utf16().count() > LONGEST).then_some(Flaw::TooLong)
}

/// Whether a name would lead to something else than one file in one folder: it has a separator, or a colon, behind
/// which a stream is named, or a zero.
#[must_use]
pub fn is_path(name: &[u8]) -> bool {
    name.iter().any(|byte| matches!(byte, b'/' | b'\\' | b':' | 0))
}

/// Whether the name is one of a device. With an extension, it is one too.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_ascii_uppercase();
    let is_numbered = |prefix: &&str| {
        let number = stem.strip_prefix(*prefix).unwrap_or_default();
        let mut characters = number.chars();
        matches!((characters.next(), characters.next()), (Some('1'..='9' | '\u{b9}' | '\u{b2}' | '\u{b3}'), None))
    };
    DEVICES.contains(&&*stem) || NUMBERED.iter().any(is_numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_windows_cannot_have() {
        for device in [
            "CON",
            "con",
            "Nul",
            "aux",
            "PRN",
            "nul.txt",
            "NUL.tar.gz",
            "COM1",
            "com9.log",
            "LPT1",
            "COM\u{b9}",
            "lpt\u{b3}.x",
            "CONIN$",
            "conout$",
            "NUL .txt",
            "con  .a",
        ] {
            assert_eq!(flaw(device.as_bytes()), Some(Flaw::Device), "{device}");
        }
        for (name, character) in [
            ("a:b", ':'),
            ("a.txt:stream", ':'),
            ("C:", ':'),
            ("C:\\x", ':'),
            ("a\\b", '\\'),
            ("..\\x", '\\'),
            ("\\\\server\\share", '\\'),
            ("\\\\?\\C:", '\\'),
            ("\\\\.\\pipe", '\\'),
            ("a*", '*'),
            ("a?", '?'),
            ("a<b", '<'),
            ("a>b", '>'),
            ("a|b", '|'),
            ("a\"b", '"'),
            ("a\nb", '\n'),
            ("a\0", '\0'),
            ("\u{1f}", '\u{1f}'),
            ("a/b", '/'),
        ] {
            assert_eq!(flaw(name.as_bytes()), Some(Flaw::Character(character)), "{name:?}");
        }
        for ending in ["a.", "a ", "a. .", "..", ".", " ", "a.txt..", "NUL."] {
            assert_eq!(flaw(ending.as_bytes()), Some(Flaw::Ending), "{ending:?}");
        }
        assert_eq!(flaw(b"\xff"), Some(Flaw::NotUnicode));
        assert_eq!(flaw(b"\xed\xa0\x80"), Some(Flaw::NotUnicode), "a lone surrogate");
        assert_eq!(flaw("x".repeat(256).as_bytes()), Some(Flaw::TooLong));
        assert_eq!(flaw("\u{1f600}".repeat(128).as_bytes()), Some(Flaw::TooLong));
        for name in [
            "a",
            "a.txt",
            ".hidden",
            "CONSOLE",
            "NULL",
            "COM",
            "COM0",
            "COM10",
            "LPTX",
            "com1x",
            "a b",
            " a",
            "a.b.c",
            "\u{e4}\u{f6}",
            "LONGNA~1.TXT",
            "$Recycle",
            "xnul",
            "a.nul",
        ] {
            assert_eq!(flaw(name.as_bytes()), None, "{name}");
            assert!(!is_path(name.as_bytes()), "{name}");
        }
        assert_eq!(flaw("x".repeat(255).as_bytes()), None);
        assert_eq!(flaw("\u{1f600}".repeat(127).as_bytes()), None);
        for path in ["a/b", "a\\b", "a:b", "C:", "a\0"] {
            assert!(is_path(path.as_bytes()), "{path:?}");
        }
    }
}
