//! Paths as text for people.

use std::ops::RangeInclusive;
use std::path::Path;

use unicode_normalization::char::is_combining_mark;

/// Returns a path as text for people. Escapes invalid UTF-8, control characters and invisible characters, so that no
/// name controls the terminal or looks like another name. A combining mark at the beginning of a name is escaped too,
/// because it would change the text before the name.
#[must_use]
pub fn shown(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    // Whether the previous character can be combined with a combining mark.
    let mut carries = false;
    for chunk in path.utf8_chunks() {
        for character in chunk.valid().chars() {
            // A backslash begins an escape, so it is escaped too.
            if is_plain(character) && character != '\\' && (carries || !is_combining_mark(character)) {
                text.push(character);
                carries = character != '/';
            } else {
                text.extend(character.escape_default());
                carries = false;
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
            carries = false;
        }
    }
    text
}

/// Returns a path of this system as text for people. On Windows, the backslashes between folders stay.
#[must_use]
pub fn shown_path(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    if cfg!(windows) {
        bytes.split(|byte| *byte == b'\\').map(shown).collect::<Vec<_>>().join("\\")
    } else {
        shown(bytes)
    }
}

/// Returns the beginning of a path as text for people: a long path would fill the screen.
pub(crate) fn beginning(path: &[u8]) -> String {
    const MOST: usize = 200;
    match path.split_at_checked(MOST) {
        Some((beginning, rest)) if !rest.is_empty() => shown(beginning) + "…",
        _ => shown(path),
    }
}

/// Whether a character is visible and, unlike control characters and direction marks, does not move or change other
/// characters.
#[must_use]
pub fn is_plain(character: char) -> bool {
    // The last two code points of each Unicode plane are not characters.
    let none = u32::from(character) & 0xfffe == 0xfffe;
    !character.is_control() && !none && HIDDEN.iter().all(|range| !range.contains(&character))
}

/// All characters that are invisible, that move or change other characters, or that have no distinct shape, sorted by
/// code point.
///
/// The list contains `Default_Ignorable_Code_Point` of Unicode 16 (with the variation selectors and the Hangul
/// fillers), line and paragraph separators, direction marks, annotation marks, private use characters, and the blank
/// Braille pattern.
const HIDDEN: [RangeInclusive<char>; 20] = [
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{e000}'..='\u{f8ff}',
    '\u{fdd0}'..='\u{fdef}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{ffff}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{10ffff}',
];

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_obey() {
        for plain in
            ["plain name.txt", "z\u{e4}h", "e\u{301}", "\u{5d0}\u{5d1}", "\u{1f600}", "\u{2027}\u{202f}\u{2070}"]
        {
            assert_eq!(shown(plain.as_bytes()), plain);
        }
        for hidden in ['\0', '\u{1b}', '\u{7f}', '\u{9b}'] {
            assert_eq!(shown(format!("a{hidden}b").as_bytes()), format!("a{}b", hidden.escape_default()));
        }
        assert_eq!(shown(b"\x1b[2Jx\n"), "\\u{1b}[2Jx\\n");
        assert_eq!(shown(b"\xff\xfe"), "\\xff\\xfe");
    }

    /// A combining mark at the beginning of a name would change the text before the name.
    #[test]
    fn combining_marks_without_a_character_are_escaped() {
        for mark in ['\u{300}', '\u{301}', '\u{36f}', '\u{488}', '\u{93e}', '\u{20e3}', '\u{302a}', '\u{fe20}'] {
            let escape = mark.escape_default();
            assert_eq!(shown(format!("{mark}a").as_bytes()), format!("{escape}a"));
            assert_eq!(shown(format!("{mark}{mark}a").as_bytes()), format!("{escape}{escape}a"));
            assert_eq!(shown(format!("a/{mark}b").as_bytes()), format!("a/{escape}b"));
            assert_eq!(shown(format!("a\u{202e}{mark}b").as_bytes()), format!("a\\u{{202e}}{escape}b"));
            assert_eq!(shown(&[b"a\xff", format!("{mark}b").as_bytes()].concat()), format!("a\\xff{escape}b"));
            for plain in [format!("a{mark}"), format!("a{mark}{mark}"), format!(" {mark}b")] {
                assert_eq!(shown(plain.as_bytes()), plain);
            }
        }
    }

    /// If a name contains one of these characters, it looks like a name without the character.
    #[test]
    fn characters_that_hide_are_escaped() {
        for hidden in [
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{1160}',
            '\u{17b4}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{200d}',
            '\u{2028}',
            '\u{202e}',
            '\u{2060}',
            '\u{2065}',
            '\u{2066}',
            '\u{206f}',
            '\u{2800}',
            '\u{3164}',
            '\u{e000}',
            '\u{fdd0}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{fffc}',
            '\u{1fffe}',
            '\u{1bca0}',
            '\u{1d173}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e007f}',
            '\u{e0100}',
            '\u{f0000}',
            '\u{10fffd}',
        ] {
            assert_eq!(shown(format!("a{hidden}b").as_bytes()), format!("a{}b", hidden.escape_default()));
        }
        let neighbors = [
            '\u{ac}',
            '\u{ae}',
            '\u{34e}',
            '\u{350}',
            '\u{61b}',
            '\u{115e}',
            '\u{1161}',
            '\u{180a}',
            '\u{1810}',
            '\u{200a}',
            '\u{2010}',
            '\u{2027}',
            '\u{202f}',
            '\u{205f}',
            '\u{2070}',
            '\u{27ff}',
            '\u{2801}',
            '\u{3163}',
            '\u{3165}',
            '\u{d7ff}',
            '\u{f900}',
            '\u{fdcf}',
            '\u{fdf0}',
            '\u{fe10}',
            '\u{fefe}',
            '\u{ff9f}',
            '\u{ffa1}',
            '\u{ffef}',
            '\u{10000}',
            '\u{1f600}',
            '\u{dfffd}',
        ];
        for plain in neighbors {
            assert_eq!(shown(format!("a{plain}b").as_bytes()), format!("a{plain}b"));
        }
    }
}
