//! The choice of objects by `--include` and `--exclude`.

use std::sync::Arc;

use deadpan_sieve::{Patterns, Rules};

/// Chooses objects by their names.
///
/// The patterns are those of `.gitignore`. A pattern that matches a folder also matches everything in the folder. If
/// there is no pattern to include, everything is included. An excluded object is skipped even if a pattern includes
/// it.
///
/// ```
/// use deadpan_fleet::{Filter, Pattern, Patterns, Rules};
///
/// let patterns = |texts: &[&str]| Patterns::new(texts.iter().map(|text| Pattern::new(text.as_bytes()))).into();
/// let rules = Rules { exclude: patterns(&["draft*", "tmp/"]), ..Rules::default() };
/// let filter = Filter::new(patterns(&["*.csv", "2026/**"]), rules);
/// assert!(filter.takes("old/a.csv") && filter.takes("2026/x/photo.jpg"));
/// assert!(!filter.takes("old/photo.jpg") && !filter.takes("2026/draft.csv") && !filter.takes("2026/tmp/x/y"));
/// assert!(filter.takes_either(&["old/a.csv.dpn", "old/a.csv"]));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: Arc<Patterns>,
    rules: Rules,
}

impl Filter {
    /// Takes what one of the patterns selects, or everything if there is no pattern, except for what the rules leave
    /// out. The rules for files and folders apply to folders on this machine only.
    #[must_use]
    pub fn new(include: Arc<Patterns>, rules: Rules) -> Self {
        Self { include, rules }
    }

    /// Whether the filter takes an object with this name.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        self.takes_either(&[name])
    }

    /// Whether the filter takes an empty folder that the rules do not leave out.
    pub(crate) fn takes_folder(&self, name: &str) -> bool {
        self.include.is_empty() || self.include.selects(plain(name), true)
    }

    /// Whether the patterns take a folder that does not exist.
    pub(crate) fn takes_missing_folder(&self, name: &str) -> bool {
        self.takes_folder(name) && !self.rules.exclude.excludes(plain(name), true)
    }

    /// Returns whether there is a pattern that excludes every file in a folder.
    pub(crate) fn excludes_folder(&self, name: &str) -> bool {
        // The two names lie at different depths, and no real file has one of these names. So only a pattern that
        // matches every name in the folder matches both of these names.
        let inside = [format!("{name}/\u{1}\u{2}"), format!("{name}/\u{1}\u{2}/\u{1}\u{2}")];
        inside.iter().all(|inside| excludes(&self.rules.exclude, inside))
    }

    /// Returns whether the filter takes an object that has several names. A pattern matches the object if it matches
    /// one of the names.
    #[must_use]
    pub fn takes_either(&self, names: &[&str]) -> bool {
        let selects = |name: &&str| self.include.selects(plain(name), false);
        // All names are tried, so that the patterns remember what they have matched.
        let is_included = self.include.is_empty() || names.iter().filter(|name| selects(name)).count() > 0;
        let is_excluded = names.iter().filter(|name| excludes(&self.rules.exclude, name)).count() > 0;
        is_included && !is_excluded
    }

    /// Returns the patterns that have matched no object so far.
    #[must_use]
    pub fn idle(&self) -> Vec<Vec<u8>> {
        let idle = self.include.idle().chain(self.rules.exclude.idle());
        idle.map(|pattern| pattern.text().to_vec()).collect()
    }

    /// Returns what is left out of folders on this machine.
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }
}

/// A key may begin with slashes.
fn plain(name: &str) -> &[u8] {
    name.trim_start_matches('/').as_bytes()
}

fn excludes(patterns: &Patterns, name: &str) -> bool {
    patterns.excludes(plain(name), false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadpan_sieve::Pattern;

    fn patterns(texts: &[&str]) -> Arc<Patterns> {
        Patterns::new(texts.iter().map(|text| Pattern::new(text.as_bytes()))).into()
    }

    fn filter(include: &[&str], exclude: &[&str]) -> Filter {
        Filter::new(patterns(include), Rules { exclude: patterns(exclude), ..Rules::default() })
    }

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
        for (include, matched) in [
            (&["*.log"][..], &["a.log", "x/a.log", "x/keep.log"][..]),
            (&["/*.log"], &["a.log"]),
            (&["./*.log"], &["a.log"]),
            (&["tmp/"], &["tmp/a", "x/tmp/a/b", "/x/tmp/a", "x//tmp/a"]),
            (&["tmp"], &["tmp/a", "x/tmp/a/b", "/x/tmp/a", "x//tmp/a", "tmp"]),
            (&["/tmp"], &["tmp/a", "tmp"]),
            (&["x/*.log"], &["x/a.log", "x/keep.log"]),
            (&["x/**"], &["x/a.log", "x/tmp/a/b", "/x/tmp/a", "x//tmp/a", "x/keep.log"]),
            (&["*.log", "!keep.log"], &["a.log", "x/a.log"]),
            (&["#*"], &["#a"]),
            (&["\\!a"], &["!a"]),
        ] {
            let filter = filter(include, &[]);
            let found: Vec<_> = names.iter().filter(|name| filter.takes(name)).copied().collect();
            assert_eq!(found, matched, "{include:?}");
            assert!(filter.idle().is_empty(), "{include:?}");
        }
        let filter = filter(&["*.log"], &["node_modules/", "!none", "a.log"]);
        assert!(!filter.takes("x/a.log") && filter.takes("x/keep.log"));
        assert_eq!(filter.idle(), [&b"node_modules/"[..], b"!none"]);
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
            assert_eq!(filter(&[], &[pattern]).excludes_folder("tmp"), is_excluded, "{pattern}");
        }
    }
}
