//! Names as they are shown: a name may hold anything, and a terminal obeys escape sequences.

use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A path for a message: control characters and bytes that are not text are escaped.
pub fn shown(path: impl AsRef<Path>) -> String {
    bytes(path.as_ref().as_os_str().as_bytes())
}

/// A name for a message.
pub fn bytes(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            if is_plain(character) {
                text.push(character);
            } else {
                text.extend(character.escape_default());
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    text
}

/// Whether a character does nothing but stand there: no control, no change of the direction of writing, which can make a name look like
/// another.
pub fn is_plain(character: char) -> bool {
    !character.is_control()
        && !matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        assert_eq!(bytes(b"plain name.txt"), "plain name.txt");
        assert_eq!(bytes("z\u{e4}h".as_bytes()), "z\u{e4}h");
        assert_eq!(bytes(b"\x1b[2Jx\n"), "\\u{1b}[2Jx\\n");
        assert_eq!(bytes("a\u{202e}b".as_bytes()), "a\\u{202e}b");
        assert_eq!(bytes(b"\xff\xfe"), "\\xff\\xfe");
    }
}
