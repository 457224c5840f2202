//! Makes text from other sources safe to show on the terminal and on pages. Such text comes from a library's debug
//! information, from a worker, or from a record. The text may contain control characters, which could move the cursor
//! or change text that is already shown.

use std::borrow::Cow;

/// Returns the text in which escape sequences such as `\u{1b}` replace all control characters. The function also
/// replaces characters that change the direction of text.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    text.chars().map(|c| if hidden(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Returns the text in which escape sequences replace control characters. Line ends stay unchanged.
#[cfg(feature = "harness")]
pub(crate) fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<_>>().join("\n")
}

fn hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_obeys_are_written_out() {
        assert_eq!(visible("\x1b[31m\r\u{9b}\u{202e}ß\t\n"), r"\u{1b}[31m\r\u{9b}\u{202e}ß\t\n");
        assert_eq!(visible("±0.3\u{a0}ns, 2\u{202f}µs"), "±0.3\u{a0}ns, 2\u{202f}µs");
        #[cfg(feature = "harness")]
        assert_eq!(visible_lines("a\n\x07b\n"), "a\n\\u{7}b\n");
    }
}
