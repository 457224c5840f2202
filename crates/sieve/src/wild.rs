//! Wildcards, with the meaning that git gives them. Patterns and names are bytes, so `?` stands for one byte.

use crate::class::{Class, class};

/// A part of a pattern.
#[derive(Clone, Debug)]
enum Token {
    Byte(u8),
    /// `?`: any byte but a slash.
    Any,
    /// `[a-z]`.
    Class(Box<Class>),
    /// `*`: any bytes but slashes.
    Star,
    /// `**`: any bytes.
    Deep,
    /// `**/`: any number of folders.
    Folders,
}

impl Token {
    fn takes(&self, byte: u8) -> bool {
        match self {
            Self::Byte(wanted) => *wanted == byte,
            Self::Any => byte != b'/',
            Self::Class(class) => class.has(byte),
            Self::Star | Self::Deep | Self::Folders => false,
        }
    }
}

/// The part of a pattern that begins with its first wildcard.
#[derive(Clone, Debug)]
pub(crate) struct Wild(Box<[Token]>);

/// Whether a byte is a wildcard, begins a wildcard, or makes the next byte literal.
pub(crate) fn is_special(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'\\')
}

impl Wild {
    /// Reads a pattern. In a pattern for whole paths, `**` can stand for folders. Returns `None` if the pattern matches
    /// nothing, because a set lacks its `]` or a backslash is the last byte.
    ///
    /// Before this function, git compares the bytes in front of the first wildcard, so `**` counts as the beginning of
    /// a path component at the beginning of `pattern`, too.
    pub(crate) fn new(pattern: &[u8], is_path: bool) -> Option<Self> {
        let (mut tokens, mut at) = (Vec::new(), 0);
        while let Some(&byte) = pattern.get(at) {
            let begin = at;
            at += 1;
            tokens.push(match byte {
                b'\\' => {
                    at += 1;
                    Token::Byte(*pattern.get(begin + 1)?)
                }
                b'?' => Token::Any,
                b'[' => {
                    let (class, length) = class(&pattern[at..])?;
                    at += length;
                    Token::Class(Box::new(class))
                }
                b'*' => {
                    at += pattern[at..].iter().take_while(|byte| **byte == b'*').count();
                    let rest = &pattern[at..];
                    let begins = begin == 0 || pattern[begin - 1] == b'/';
                    let ends = rest.is_empty() || rest[0] == b'/' || rest.starts_with(b"\\/");
                    match rest.first() {
                        _ if !is_path || at - begin < 2 || !begins || !ends => Token::Star,
                        Some(b'/') => {
                            at += 1;
                            Token::Folders
                        }
                        _ => Token::Deep,
                    }
                }
                byte => Token::Byte(byte),
            });
        }
        Some(Self(tokens.into()))
    }

    /// Whether the pattern matches the whole text.
    ///
    /// After a mismatch, the last `*` takes one more byte, and if this byte is a slash, the last `**` does. Wildcards
    /// before the last `**` need no second try, so the time is at most the product of the lengths, and the length of
    /// the text once more with `**`.
    pub(crate) fn matches(&self, text: &[u8]) -> bool {
        let (mut token, mut at) = (0, 0);
        let (mut star, mut deep) = (None, None);
        loop {
            match self.0.get(token) {
                None if at == text.len() => return true,
                Some(Token::Star) => {
                    token += 1;
                    star = Some((token, at));
                    continue;
                }
                Some(kind @ (Token::Deep | Token::Folders)) => {
                    token += 1;
                    star = None;
                    if matches!(kind, Token::Deep) && token == self.0.len() {
                        return true;
                    }
                    deep = Some((token, at, matches!(kind, Token::Folders)));
                    continue;
                }
                Some(other) if text.get(at).is_some_and(|byte| other.takes(*byte)) => {
                    (token, at) = (token + 1, at + 1);
                    continue;
                }
                _ => {}
            }
            if let Some((next, from)) = star
                && text.get(from).is_some_and(|byte| *byte != b'/')
            {
                star = Some((next, from + 1));
                (token, at) = (next, from + 1);
                continue;
            }
            let Some((next, from, is_folders)) = deep else { return false };
            let step = if is_folders { text[from..].iter().position(|byte| *byte == b'/') } else { Some(0) };
            let Some(from) = step.map(|step| from + step + 1).filter(|from| *from <= text.len()) else { return false };
            (star, deep) = (None, Some((next, from, is_folders)));
            (token, at) = (next, from);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tries all ways to match `*` and `?`.
    fn slowly(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) if rest.first() == Some(&b'*') => slowly(rest, text),
            Some((b'*', rest)) => {
                let most = text.iter().position(|byte| *byte == b'/').unwrap_or(text.len());
                (0..=most).any(|length| slowly(rest, &text[length..]))
            }
            Some((b'?', rest)) => text.first().is_some_and(|byte| *byte != b'/') && slowly(rest, &text[1..]),
            Some((byte, rest)) => text.first() == Some(byte) && slowly(rest, &text[1..]),
        }
    }

    fn words(alphabet: &[u8], longest: usize) -> Vec<Vec<u8>> {
        let mut all = vec![Vec::new()];
        for begin in 0.. {
            if all[begin].len() == longest {
                return all;
            }
            for byte in alphabet {
                all.push([&all[begin][..], &[*byte]].concat());
            }
        }
        all
    }

    #[test]
    fn all_short_patterns_match_as_if_all_ways_were_tried() {
        let texts = words(b"ab/", 5);
        for pattern in words(b"ab*?", 4) {
            let wild = Wild::new(&pattern, false).expect("a pattern");
            for text in &texts {
                let (pattern, shown) = (&pattern, text.escape_ascii());
                assert_eq!(wild.matches(text), slowly(pattern, text), "{} {shown}", pattern.escape_ascii());
            }
        }
    }

    /// A matcher that tries all ways would need longer than the age of the universe.
    #[test]
    fn hostile_patterns_cost_little() {
        let text = b"a/".repeat(2000);
        for pattern in [b"**/*a*a*a*".repeat(50), b"**/a/".repeat(300), b"*a".repeat(500), b"*/".repeat(2001)] {
            let pattern = [&pattern[..], b"b"].concat();
            assert!(!Wild::new(&pattern, true).expect("a pattern").matches(&text));
        }
    }
}
