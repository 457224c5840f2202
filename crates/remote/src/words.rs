//! Texts from outside in messages.

use std::fmt;

/// The maximum number of characters that a message shows if it contains a text from outside.
const MOST: usize = 300;

/// A text from outside: a message of a store, or a name that somebody chose. `Display` shows the text as one line of at
/// most 300 characters. `Display` escapes control characters and invisible characters in the same way as
/// [`shown`](crate::shown), so that no store controls a terminal or forges a line of a message.
///
/// ```
/// use deadpan_remote::Words;
///
/// assert_eq!(Words::new("no\x1b[2J\nerror: yes").to_string(), r"no\u{1b}[2J\nerror: yes");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Words(String);

impl Words {
    /// Makes a value from a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text without any change. The text may contain any character, so do not print it in messages.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Whether the text contains these words.
    #[must_use]
    pub fn contains(&self, words: &str) -> bool {
        self.0.contains(words)
    }

    /// Whether the text is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A message shows at most 300 characters of its escaped text. An escape is longer than its character, so later
        // characters of the plain text never show.
        let end = self.0.char_indices().nth(MOST).map_or(self.0.len(), |(end, _)| end);
        let text = crate::shown(&self.0.as_bytes()[..end]);
        match text.char_indices().nth(MOST) {
            Some((end, _)) => write!(f, "{}…", &text[..end]),
            None if end < self.0.len() => write!(f, "{text}…"),
            None => f.write_str(&text),
        }
    }
}

impl fmt::Debug for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Words({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_one_line_of_bounded_length() {
        let shown = |text: &str| Words::new(text).to_string();
        assert_eq!(shown("a b\u{e4}"), "a b\u{e4}");
        assert_eq!(shown("a\r\nerror: b\u{202e}\u{200b}\u{9b}2J"), r"a\r\nerror: b\u{202e}\u{200b}\u{9b}2J");
        for text in ["x".repeat(240_000), "\u{1b}".repeat(400), "\u{e4}".repeat(301)] {
            assert_eq!(shown(&text).chars().count(), MOST + 1, "{}", &text[..9]);
            assert!(shown(&text).ends_with('…'));
        }
        assert_eq!(shown(&"\u{e4}".repeat(MOST)), "\u{e4}".repeat(MOST));
    }
}
