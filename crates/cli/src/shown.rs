//! Names and numbers in messages. A name may contain any byte, and a terminal obeys escape sequences, so control
//! characters and bytes that are not UTF-8 are escaped.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns a path for a message. Control characters and bytes that are not UTF-8 are escaped.
pub fn shown(path: impl AsRef<Path>) -> String {
    bytes(path.as_ref().as_os_str().as_bytes())
}

/// Returns a name for a message. Control characters and bytes that are not UTF-8 are escaped.
pub fn bytes(name: &[u8]) -> String {
    deadpan_pack::shown(name)
}

/// Whether a name is shown without escapes, except for backslashes.
pub fn is_plain(name: &[u8]) -> bool {
    str::from_utf8(name).is_ok_and(|text| bytes(name) == text.replace('\\', r"\\"))
}

/// Returns a number with its noun, in the singular or the plural.
pub fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::{bytes, count, is_plain};

    #[test]
    fn one_is_singular_and_none_is_plural() {
        let entries = |number| count(number, "entry", "entries");
        assert_eq!([entries(0), entries(1), entries(2)], ["0 entries", "1 entry", "2 entries"]);
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
