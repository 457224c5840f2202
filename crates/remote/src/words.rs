//! Text of others in messages.

use std::fmt;

/// The most characters that a message takes of a text of others.
const MOST: usize = 300;

/// Text of others: a store's own words, or a name that somebody has given. `Display` shows it as one line of at most
/// 300 characters, in which control characters and invisible characters are escaped as [`shown`](crate::shown) does, so
/// that no store controls a terminal or forges a line of a message.
///
/// ```
/// use deadpan_remote::Words;
///
/// assert_eq!(Words::new("no\x1b[2J\nerror: yes").to_string(), r"no\u{1b}[2J\nerror: yes");
/// ```
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct Words(String);

impl Words {
    /// Makes words of a text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Returns the text as it came. It may hold anything, and is not for messages.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Whether these words are in the text.
    #[must_use]
    pub fn contains(&self, words: &str) -> bool {
        self.0.contains(words)
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An escape has more characters than what it stands for, so nothing behind the first 300 characters is shown.
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
