//! Names as they are shown: a name may hold anything, and a terminal obeys escape sequences.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path for a message: control characters and bytes that are not text are escaped.
pub fn shown(path: impl AsRef<Path>) -> String {
    bytes(path.as_ref().as_os_str().as_bytes())
}

/// A name for a message, as names in archives are shown.
pub fn bytes(name: &[u8]) -> String {
    deadpan_pack::shown(name)
}

/// Whether a name is shown as it is.
pub fn is_plain(name: &[u8]) -> bool {
    bytes(name).as_bytes() == name
}

#[cfg(test)]
mod tests {
    use super::{bytes, is_plain};

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        assert_eq!(bytes(b"plain name.txt"), "plain name.txt");
        assert_eq!(bytes("z\u{e4}h".as_bytes()), "z\u{e4}h");
        assert_eq!(bytes(b"\x1b[2Jx\n"), "\\u{1b}[2Jx\\n");
        assert_eq!(bytes("a\u{202e}b".as_bytes()), "a\\u{202e}b");
        assert_eq!(bytes(b"\xff\xfe"), "\\xff\\xfe");
        assert!(is_plain("z\u{e4}h".as_bytes()) && !is_plain(b"\xff") && !is_plain("a\u{61c}b".as_bytes()));
    }
}
