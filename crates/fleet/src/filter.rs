//! Which objects are meant: `--include` and `--exclude`.

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// Chooses objects by their names.
///
/// In a pattern, `*` stands for any characters but a slash, `**` for any characters, `?` for one character. A pattern
/// without a slash is compared with the last part of a name, any other with the whole name. Without a pattern to
/// include, everything is included; what is excluded is out in any case.
///
/// ```
/// use deadpan_fleet::Filter;
///
/// let filter = Filter::new(&["*.csv", "2026/**"], &["draft*"])?;
/// assert!(filter.takes("old/a.csv") && filter.takes("2026/x/photo.jpg"));
/// assert!(!filter.takes("old/photo.jpg") && !filter.takes("2026/draft.csv"));
/// assert!(filter.takes_either(&["old/a.csv.dpn", "old/a.csv"]));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Filter {
    include: Option<[GlobSet; 2]>,
    exclude: Option<[GlobSet; 2]>,
}

impl Filter {
    /// Reads patterns.
    ///
    /// # Errors
    /// The text says what is wrong with which pattern.
    pub fn new<S: AsRef<str>>(include: &[S], exclude: &[S]) -> Result<Self, String> {
        Ok(Self { include: sets(include)?, exclude: sets(exclude)? })
    }

    /// Whether an object with this name is meant.
    #[must_use]
    pub fn takes(&self, name: &str) -> bool {
        self.takes_either(&[name])
    }

    /// Returns whether `--exclude` has a pattern that matches every file in a folder.
    pub(crate) fn excludes_folder(&self, name: &str) -> bool {
        // No file has these names, so only a pattern for all names matches both, at two depths.
        let inside = [format!("{name}/\u{1}"), format!("{name}/\u{1}/\u{1}")];
        self.exclude.as_ref().is_some_and(|[_, wholes]| inside.iter().all(|inside| wholes.is_match(inside)))
    }

    /// Returns whether the filter takes an object that has several names. A pattern matches the object if it matches
    /// one of the names.
    #[must_use]
    pub fn takes_either(&self, names: &[&str]) -> bool {
        let matches = |[lasts, wholes]: &[GlobSet; 2]| {
            names.iter().any(|name| lasts.is_match(name.rsplit('/').next().unwrap_or(name)) || wholes.is_match(name))
        };
        self.include.as_ref().is_none_or(matches) && !self.exclude.as_ref().is_some_and(matches)
    }
}

/// Returns the patterns for last parts, and those for whole names; `None` without a pattern.
fn sets<S: AsRef<str>>(patterns: &[S]) -> Result<Option<[GlobSet; 2]>, String> {
    if patterns.is_empty() {
        return Ok(None);
    }
    let mut sets = [GlobSetBuilder::new(), GlobSetBuilder::new()];
    for pattern in patterns {
        let pattern = pattern.as_ref();
        let wrong = |error: globset::Error| format!("{pattern}: {}", error.kind());
        let trimmed = pattern.trim_start_matches("./").trim_start_matches('/');
        // A folder stands for all that lies in it.
        let whole = if trimmed.ends_with('/') { format!("{trimmed}**") } else { trimmed.to_owned() };
        let glob = GlobBuilder::new(&whole).literal_separator(true).build().map_err(wrong)?;
        sets[usize::from(pattern.contains('/'))].add(glob);
    }
    let [names, paths] = sets;
    let built = |set: GlobSetBuilder| set.build().map_err(|error| error.to_string());
    Ok(Some([built(names)?, built(paths)?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_excluded_with_all_that_lies_in_it() {
        for (pattern, is_excluded) in [
            ("tmp/", true),
            ("tmp/**", true),
            ("**", false),
            ("*/**", true),
            ("tmp/*", false),
            ("**/.*", false),
            ("tmp/?", false),
            ("tmp", false),
        ] {
            let filter = Filter::new(&[], &[pattern]).expect("a pattern");
            assert_eq!(filter.excludes_folder("tmp"), is_excluded, "{pattern}");
        }
    }
}
