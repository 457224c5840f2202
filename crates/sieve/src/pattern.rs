//! A single pattern.

use crate::wild::{Wild, is_special};

/// A pattern of `.gitignore`. Paths and patterns are bytes.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: Box<[u8]>,
    /// Whether the pattern begins with `!`.
    takes_back: bool,
    /// Whether the pattern ends with a slash.
    only_folders: bool,
    /// Whether the pattern is compared with the whole path. Otherwise the pattern is compared with the last name.
    is_path: bool,
    /// The bytes before the first wildcard.
    begin: Box<[u8]>,
    rest: Rest,
}

/// The part of a pattern from its first wildcard on.
#[derive(Clone, Debug)]
enum Rest {
    Nothing,
    /// A `*`, and then these bytes.
    Ending(Box<[u8]>),
    Wild(Wild),
    /// The pattern matches nothing.
    Wrong,
}

impl Pattern {
    /// Reads a pattern that stands alone, such as an argument. All its bytes count: `#` begins no comment, and spaces
    /// at the end are a part of it. A `./` at the beginning means the top folder, like a slash.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let (sign, body) = if text.starts_with(b"!") { text.split_at(1) } else { (&b""[..], text) };
        match body.strip_prefix(b".") {
            Some(rest) if rest.starts_with(b"/") => Self { text: text.into(), ..Self::read(&[sign, rest].concat()) },
            _ => Self::read(text),
        }
    }

    /// Reads a line of a file such as `.gitignore`, without its end. Returns `None` for an empty line and a comment.
    #[must_use]
    pub fn of_line(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        // In git, a line ends at a byte 0, too.
        let line = line.split(|byte| *byte == 0).next().unwrap_or_default();
        let line = without_spaces(line);
        (!line.is_empty() && line[0] != b'#').then(|| Self::read(line))
    }

    fn read(text: &[u8]) -> Self {
        let (takes_back, body) = match text.strip_prefix(b"!") {
            Some(body) => (true, body),
            None => (false, text),
        };
        let (only_folders, body) = match body.strip_suffix(b"/") {
            Some(body) => (true, body),
            None => (false, body),
        };
        let is_path = body.contains(&b'/');
        let body = body.strip_prefix(b"/").filter(|_| is_path).unwrap_or(body);
        let (begin, rest) = body.split_at(body.iter().position(|byte| is_special(*byte)).unwrap_or(body.len()));
        let rest = match rest {
            [] => Rest::Nothing,
            [b'*', ending @ ..] if !is_path && !ending.iter().any(|byte| is_special(*byte)) => {
                Rest::Ending(ending.into())
            }
            rest => Wild::new(rest, is_path).map_or(Rest::Wrong, Rest::Wild),
        };
        Self { text: text.into(), takes_back, only_folders, is_path, begin: begin.into(), rest }
    }

    /// Returns the pattern as it was given.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Whether the pattern is a valid one. An invalid pattern matches nothing, as in git: it is empty, a set in it
    /// lacks its `]` or names an unknown class, or a backslash is its last byte.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        match self.rest {
            Rest::Nothing => !self.begin.is_empty(),
            Rest::Wrong => false,
            Rest::Ending(_) | Rest::Wild(_) => true,
        }
    }

    /// Whether the pattern begins with `!`, so that it takes back what earlier patterns have matched.
    #[must_use]
    pub fn takes_back(&self) -> bool {
        self.takes_back
    }

    /// Returns the path, or the beginning of a path, that all matches and everything below them begin with.
    #[must_use]
    pub fn beginning(&self) -> &[u8] {
        if self.is_path { &self.begin } else { b"" }
    }

    /// Whether the pattern has a wildcard or an escape.
    #[must_use]
    pub fn is_wild(&self) -> bool {
        !matches!(self.rest, Rest::Nothing)
    }

    /// Whether the pattern matches this very path, which has neither a slash at its beginning nor at its end. A pattern
    /// that matches a folder does not match the files in it.
    #[must_use]
    pub fn matches(&self, path: &[u8], is_folder: bool) -> bool {
        self.has(path, name(path), is_folder)
    }

    /// Like [`matches`](Self::matches), with the last name of the path.
    pub(crate) fn has(&self, path: &[u8], name: &[u8], is_folder: bool) -> bool {
        if path.is_empty() || self.only_folders && !is_folder {
            return false;
        }
        let text = if self.is_path { path } else { name };
        let Some(rest) = text.strip_prefix(&*self.begin) else { return false };
        match &self.rest {
            Rest::Nothing => rest.is_empty(),
            Rest::Ending(ending) => rest.ends_with(ending),
            Rest::Wild(wild) => wild.matches(rest),
            Rest::Wrong => false,
        }
    }
}

/// Returns the last name of a path.
pub(crate) fn name(path: &[u8]) -> &[u8] {
    &path[path.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1)..]
}

/// Returns a line without spaces at its end. A backslash keeps the byte after it.
fn without_spaces(line: &[u8]) -> &[u8] {
    let (mut end, mut at) = (0, 0);
    while at < line.len() {
        match line[at] {
            b' ' => {}
            b'\\' => {
                at += 1;
                end = line.len().min(at + 1);
            }
            _ => end = at + 1,
        }
        at += 1;
    }
    &line[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_and_others() {
        for (pattern, matches, others) in [
            ("a", &["a", "x/a", "x/y/a"][..], &["ab", "a/b", "A"][..]),
            ("/a", &["a"], &["x/a"]),
            ("./a", &["a"], &["x/a"]),
            ("x/a", &["x/a"], &["y/x/a", "a"]),
            ("*.o", &["a.o", ".o", "x/a.o"], &["a.ob", "o"]),
            ("/*.o", &["a.o"], &["x/a.o"]),
            ("x/*.o", &["x/a.o"], &["x/y/a.o"]),
            ("**/a", &["a", "x/a", "x/y/a"], &["ba"]),
            ("a/**", &["a/b", "a/b/c"], &["a", "x/a/b"]),
            ("/**", &["a", "a/b"], &[""]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["ab", "a/xb"]),
            ("a?c", &["abc", "x/a.c"], &["a/c", "ac", "a\u{e4}c"]),
            ("[a-c]x", &["ax", "bx"], &["dx"]),
            ("\\!a", &["!a"], &["a"]),
            ("#a", &["#a"], &["a"]),
            ("a ", &["a "], &["a"]),
            ("a\\", &[], &["a", "a\\"]),
            ("[a", &[], &["[a", "a"]),
            ("{a,b}", &["{a,b}"], &["a", "b"]),
            ("", &[], &["", "a"]),
            ("/", &[], &["", "a"]),
            ("a//", &[], &["a"]),
        ] {
            let read = Pattern::new(pattern.as_bytes());
            assert_eq!(read.text(), pattern.as_bytes());
            matches.iter().for_each(|path| assert!(read.matches(path.as_bytes(), false), "{pattern}: {path}"));
            others.iter().for_each(|path| assert!(!read.matches(path.as_bytes(), false), "{pattern}: {path}"));
        }
        let folders = Pattern::new(b"a/");
        assert!(folders.matches(b"x/a", true) && !folders.matches(b"x/a", false));
        assert!(Pattern::new(b"\xff*").matches(b"x/\xff\xfe", false), "bytes that are no text");
        assert!(Pattern::new(b"!./a").takes_back() && Pattern::new(b"!./a").matches(b"a", false));
    }

    #[test]
    fn invalid_patterns() {
        for wrong in ["", "!", "/", "!/", "//", "a\\", "!a\\", "[a", "x/[!a", "*[", "[[:word:]]", "**/[a-"] {
            assert!(!Pattern::new(wrong.as_bytes()).is_valid(), "{wrong}");
        }
        for right in ["a", "!a", "/a", "./a", "a/", "*", "**", "?", "]", "a\\\\", "\\!", "[]]", "[[:digit:]]", "a]"] {
            assert!(Pattern::new(right.as_bytes()).is_valid(), "{right}");
        }
    }

    #[test]
    fn lines() {
        let text = |line: &[u8]| Pattern::of_line(line).map(|pattern| pattern.text().to_vec());
        for (line, pattern) in [
            (&b"a"[..], &b"a"[..]),
            (b"a\r", b"a"),
            (b"a  ", b"a"),
            (b"a \\ ", b"a \\ "),
            (b"a\\ b  ", b"a\\ b"),
            (b"a\t", b"a\t"),
            (b" a", b" a"),
            (b"\\#a", b"\\#a"),
            (b"a\0b", b"a"),
        ] {
            assert_eq!(text(line).as_deref(), Some(pattern), "{}", line.escape_ascii());
        }
        for none in [&b""[..], b"#a", b"   ", b"\r", b"\0a"] {
            assert_eq!(text(none), None, "{}", none.escape_ascii());
        }
    }

    #[test]
    fn the_beginning_of_all_matches() {
        for (pattern, beginning) in [("a", ""), ("/a", "a"), ("a/b*", "a/b"), ("*", ""), ("/a/", "a")] {
            assert_eq!(Pattern::new(pattern.as_bytes()).beginning(), beginning.as_bytes(), "{pattern}");
        }
    }
}
