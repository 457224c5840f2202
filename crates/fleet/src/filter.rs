//! The choice of objects by `--include` and `--exclude`.

use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use parking_lot::Mutex;

/// Chooses objects by their names.
///
/// The patterns are the patterns of `.gitignore`. `*` stands for any characters except a slash, `**` stands for any
/// characters, and `?` stands for one character. A pattern without a slash, or with a slash only at its end, matches at
/// any depth. Any other pattern is compared with the whole path from the top folder. A pattern that matches a folder
/// also matches everything in the folder. A pattern with a slash at its end matches only folders. A pattern after `!`
/// cancels matches of the patterns before it. If there is no pattern to include, everything is included. An excluded
/// object is skipped even if a pattern includes it.
///
/// ```
/// use deadpan_fleet::Filter;
///
/// let filter = Filter::new(&["*.csv", "2026/**"], &["draft*", "tmp/"])?;
/// assert!(filter.takes("old/a.csv") && filter.takes("2026/x/photo.jpg"));
/// assert!(!filter.takes("old/photo.jpg") && !filter.takes("2026/draft.csv") && !filter.takes("2026/tmp/x/y"));
/// assert!(filter.takes_either(&["old/a.csv.dpn", "old/a.csv"]));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: Option<Gitignore>,
    exclude: Option<Gitignore>,
    /// The patterns that have matched nothing so far.
    idle: Arc<Mutex<Vec<(String, Gitignore)>>>,
}

impl Filter {
    /// Reads patterns.
    ///
    /// # Errors
    /// If a pattern is wrong. The error text states the pattern and what is wrong with it.
    pub fn new<S: AsRef<str>>(include: &[S], exclude: &[S]) -> Result<Self, String> {
        let all = include.iter().chain(exclude).map(AsRef::as_ref);
        let idle = all.map(|pattern| {
            let positive = pattern.strip_prefix('!').unwrap_or(pattern);
            Ok((pattern.to_owned(), matcher(&[positive])?))
        });
        let idle = Arc::new(Mutex::new(idle.collect::<Result<_, String>>()?));
        let several = |patterns: &[S]| if patterns.is_empty() { Ok(None) } else { matcher(patterns).map(Some) };
        Ok(Self { include: several(include)?, exclude: several(exclude)?, idle })
    }

    /// Whether the filter takes an object with this name.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        self.takes_either(&[name])
    }

    /// Returns whether `--exclude` has a pattern that matches every file in a folder.
    pub(crate) fn excludes_folder(&self, name: &str) -> bool {
        // The two names lie at different depths, and no real file has one of these names. So only a pattern that
        // matches every name in the folder matches both of these names.
        let inside = [format!("{name}/\u{1}\u{2}"), format!("{name}/\u{1}\u{2}/\u{1}\u{2}")];
        self.exclude.as_ref().is_some_and(|exclude| inside.iter().all(|inside| matches(exclude, inside)))
    }

    /// Returns whether the filter takes an object that has several names. A pattern matches the object if it matches
    /// one of the names.
    #[must_use]
    pub fn takes_either(&self, names: &[&str]) -> bool {
        let one = |patterns: &Gitignore| names.iter().any(|name| matches(patterns, name));
        self.idle.lock().retain(|(_, pattern)| !one(pattern));
        self.include.as_ref().is_none_or(one) && !self.exclude.as_ref().is_some_and(one)
    }

    /// Returns the patterns that have matched no object so far.
    #[must_use]
    pub fn idle(&self) -> Vec<String> {
        let idle = self.idle.lock();
        idle.iter().map(|(pattern, _)| pattern.clone()).collect()
    }
}

/// Whether the patterns match this file. The last pattern that matches the file decides. If no pattern matches the
/// file, the last pattern that matches a folder above the file decides. If the deciding pattern begins with `!`, the
/// result is false.
fn matches(patterns: &Gitignore, name: &str) -> bool {
    // A key may begin with slashes, or have parts that are not valid names of files.
    patterns.matched_path_or_any_parents(Path::new(name.trim_start_matches('/')), false).is_ignore()
}

fn matcher<S: AsRef<str>>(patterns: &[S]) -> Result<Gitignore, String> {
    let mut builder = GitignoreBuilder::new("");
    for pattern in patterns {
        let pattern = pattern.as_ref();
        let wrong = |error: ignore::Error| match error {
            ignore::Error::Glob { err, .. } => format!("{pattern}: {err}"),
            error => format!("{pattern}: {error}"),
        };
        // In a list of patterns, a line that begins with # is a comment.
        let line = if pattern.starts_with('#') { format!("\\{pattern}") } else { pattern.to_owned() };
        let line = line.strip_prefix("./").unwrap_or(&line);
        builder.add_line(None, line).map_err(wrong)?;
    }
    builder.build().map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_gitignore() {
        let names = [
            "a.log",
            "x/a.log",
            "tmp/a",
            "x/tmp/a/b",
            "tmp2/a",
            "/x/tmp/a",
            "x//tmp/a",
            "#a",
            "!a",
            "x/keep.log",
            "tmp",
        ];
        for (patterns, matched) in [
            (&["*.log"][..], &["a.log", "x/a.log", "x/keep.log"][..]),
            (&["/*.log"], &["a.log"]),
            (&["./*.log"], &["a.log", "x/a.log", "x/keep.log"]),
            (&["tmp/"], &["tmp/a", "x/tmp/a/b", "/x/tmp/a", "x//tmp/a"]),
            (&["tmp"], &["tmp/a", "x/tmp/a/b", "/x/tmp/a", "x//tmp/a", "tmp"]),
            (&["/tmp"], &["tmp/a", "tmp"]),
            (&["x/*.log"], &["x/a.log", "x/keep.log"]),
            (&["x/**"], &["x/a.log", "x/tmp/a/b", "/x/tmp/a", "x//tmp/a", "x/keep.log"]),
            (&["*.log", "!keep.log"], &["a.log", "x/a.log"]),
            (&["#*"], &["#a"]),
            (&["\\!a"], &["!a"]),
        ] {
            let filter = Filter::new(patterns, &[]).expect("patterns");
            let found: Vec<_> = names.iter().filter(|name| filter.takes(name)).copied().collect();
            assert_eq!(found, matched, "{patterns:?}");
            assert_eq!(filter.idle(), [""; 0], "{patterns:?}");
        }
        let filter = Filter::new(&["*.log"], &["node_modules/", "!none", "a.log"]).expect("patterns");
        assert!(!filter.takes("x/a.log") && filter.takes("x/keep.log"));
        assert_eq!(filter.idle(), ["node_modules/", "!none"]);
        assert!(Filter::new(&["{a"], &[]).expect_err("a list").starts_with("{a: unclosed alternate group"));
    }

    #[test]
    fn a_folder_is_excluded_with_all_that_lies_in_it() {
        for (pattern, is_excluded) in [
            ("tmp/", true),
            ("tmp/**", true),
            ("**", true),
            ("*/**", true),
            ("tmp/*", true),
            ("**/.*", false),
            ("tmp/?", false),
            ("tmp", true),
            ("other", false),
        ] {
            let filter = Filter::new(&[], &[pattern]).expect("a pattern");
            assert_eq!(filter.excludes_folder("tmp"), is_excluded, "{pattern}");
        }
    }
}
