//! A list of patterns.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::pattern::{Pattern, name};

/// Patterns in order. Of the patterns that match a path, the last one decides.
#[derive(Debug, Default)]
pub struct Patterns {
    list: Vec<Pattern>,
    /// For each pattern, whether it has matched a path; empty if nobody asks for it.
    seen: Vec<AtomicBool>,
}

impl Patterns {
    /// Returns a list that remembers which patterns have matched a path.
    pub fn new(patterns: impl IntoIterator<Item = Pattern>) -> Self {
        let list: Vec<_> = patterns.into_iter().collect();
        Self { seen: list.iter().map(|_| AtomicBool::new(false)).collect(), list }
    }

    /// Reads the patterns in a file such as `.gitignore`.
    pub fn lines(text: &[u8]) -> impl Iterator<Item = Pattern> {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        text.split(|byte| *byte == b'\n').filter_map(Pattern::of_line)
    }

    /// Reads a file such as `.gitignore`.
    #[must_use]
    pub fn of_file(text: &[u8]) -> Self {
        Self { list: Self::lines(text).collect(), seen: Vec::new() }
    }

    /// Whether the list has no pattern.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns the patterns.
    #[must_use]
    pub fn list(&self) -> &[Pattern] {
        &self.list
    }

    /// Returns true if the last pattern that matches this very path is a plain one, false if this pattern begins with
    /// `!`, and `None` if no pattern matches.
    #[must_use]
    pub fn verdict(&self, path: &[u8], is_folder: bool) -> Option<bool> {
        let name = name(path);
        let mut verdict = None;
        for (number, pattern) in self.list.iter().enumerate().rev() {
            let is_new = self.seen.get(number).filter(|seen| !seen.load(Ordering::Relaxed));
            if (verdict.is_none() || is_new.is_some()) && pattern.has(path, name, is_folder) {
                verdict = verdict.or(Some(!pattern.takes_back()));
                is_new.into_iter().for_each(|seen| seen.store(true, Ordering::Relaxed));
            }
            if verdict.is_some() && self.seen.is_empty() {
                break;
            }
        }
        verdict
    }

    /// Whether the patterns exclude a path, as git does it: the folders above the path are looked at first, and nothing
    /// in an excluded folder can be taken back.
    #[must_use]
    pub fn excludes(&self, path: &[u8], is_folder: bool) -> bool {
        let mut folders = slashes(path).map(|end| &path[..end]);
        folders.any(|folder| self.verdict(folder, true) == Some(true)) || self.verdict(path, is_folder) == Some(true)
    }

    /// Whether the patterns select a path: the path itself is looked at first, and then the folders above it, up to the
    /// first one that a pattern matches. So a `!` takes back a file in a folder that is selected. If the first pattern
    /// begins with `!`, everything else is selected.
    #[must_use]
    pub fn selects(&self, path: &[u8], is_folder: bool) -> bool {
        let above = slashes(path).rev().map(|end| self.verdict(&path[..end], true));
        std::iter::once(self.verdict(path, is_folder))
            .chain(above)
            .flatten()
            .next()
            .unwrap_or(self.list.first().is_some_and(Pattern::takes_back))
    }

    /// Returns the patterns that have matched nothing so far.
    pub fn idle(&self) -> impl Iterator<Item = &Pattern> {
        let idle = self.list.iter().zip(&self.seen).filter(|(_, seen)| !seen.load(Ordering::Relaxed));
        idle.map(|(pattern, _)| pattern)
    }
}

/// Returns the offsets of the slashes in a path.
fn slashes(path: &[u8]) -> impl DoubleEndedIterator<Item = usize> {
    path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patterns(texts: &[&str]) -> Patterns {
        Patterns::new(texts.iter().map(|text| Pattern::new(text.as_bytes())))
    }

    #[test]
    fn nothing_in_an_excluded_folder_is_taken_back() {
        let list = patterns(&["/out", "!keep", "*.o", "!main.o"]);
        for (path, is_excluded) in
            [("out/keep", true), ("a.o", true), ("main.o", false), ("x/main.o", false), ("keep", false), ("out", true)]
        {
            assert_eq!(list.excludes(path.as_bytes(), false), is_excluded, "{path}");
        }
    }

    #[test]
    fn files_in_a_selected_folder_can_be_taken_back() {
        let list = patterns(&["photos/", "!*.raw", "photos/best/"]);
        for (path, is_selected) in [
            ("photos/a.jpg", true),
            ("photos/a.raw", false),
            ("photos/best/b.raw", false),
            ("photos", false),
            ("notes/photos/x", true),
            ("a.raw", false),
        ] {
            assert_eq!(list.selects(path.as_bytes(), false), is_selected, "{path}");
        }
        let list = patterns(&["!*.raw"]);
        assert!(list.selects(b"a.jpg", false) && !list.selects(b"a.raw", false));
    }

    #[test]
    fn patterns_without_a_match_are_remembered() {
        let list = patterns(&["*.o", "a.o", "none", "!b.o"]);
        let idle =
            || list.idle().map(|pattern| String::from_utf8_lossy(pattern.text()).into_owned()).collect::<Vec<_>>();
        assert!(list.excludes(b"a.o", false));
        assert_eq!(idle(), ["none", "!b.o"], "a pattern before the one that decides has matched, too");
        assert!(!list.excludes(b"b.o", false));
        assert_eq!(idle(), ["none"]);
    }

    #[test]
    fn a_file_of_patterns() {
        let list = Patterns::of_file(b"\xef\xbb\xbf# comment\r\n*.o\r\n\n!a.o \n/b");
        assert_eq!(list.list().len(), 3);
        assert!(list.excludes(b"x.o", false) && !list.excludes(b"a.o", false) && list.excludes(b"b/c", false));
        assert_eq!(list.idle().count(), 0);
    }
}
