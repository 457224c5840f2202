//! Makes texts of a plugin harmless for a terminal and for logs.

use std::ops::RangeInclusive;

/// The maximum number of characters of a text; a longer text is cut.
const LONGEST: usize = 2048;

/// Characters that are invisible, or that move or change the characters around them.
const HIDDEN: [RangeInclusive<char>; 9] = [
    '\u{ad}'..='\u{ad}',
    '\u{61c}'..='\u{61c}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
    '\u{fff0}'..='\u{ffff}',
    '\u{e0000}'..='\u{10ffff}',
];

/// Returns a text that may have several lines. Control characters and hidden characters are escaped.
pub(super) fn lines(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let mut shown = String::new();
    for (number, character) in text.trim().chars().enumerate() {
        if number == LONGEST {
            shown.push('…');
            break;
        }
        let plain =
            character == '\n' || !character.is_control() && HIDDEN.iter().all(|range| !range.contains(&character));
        if plain { shown.push(character) } else { shown.extend(character.escape_default()) }
    }
    shown
}

/// Returns a text in one line, for an error.
pub(super) fn line(bytes: &[u8]) -> String {
    let words = lines(bytes).split_whitespace().collect::<Vec<_>>().join(" ");
    if words.is_empty() { "it gave no reason".into() } else { words }
}
