//! File names that are valid on every operating system.

use std::collections::HashSet;

use super::Chart;

/// Returns `text` as a file name of lower-case letters, digits and single hyphens.
pub(super) fn slug(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() {
            out.push(character.to_ascii_lowercase());
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out.truncate(60);
    out.truncate(out.trim_end_matches('-').len());
    if out.is_empty() { "unnamed".to_owned() } else { out }
}

/// Returns a target's name as a file name of lower-case letters, digits, single hyphens, and the name's dots.
pub(super) fn dotted(target: &str) -> String {
    target.split('.').map(slug).collect::<Vec<_>>().join(".")
}

/// Makes the names of all charts different. If several charts have the same name, the second name gets the ending `-2`,
/// and the third name gets `-3`.
pub(super) fn make_unique(charts: &mut [Chart]) {
    let mut taken = HashSet::new();
    for chart in charts {
        let first = chart.name.clone();
        let mut number = 2;
        while !taken.insert(chart.name.clone()) {
            chart.name = format!("{first}-{number}");
            number += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_have_letters_digits_hyphens_and_the_dots_of_targets() {
        assert_eq!(slug("First byte wrong / <last>"), "first-byte-wrong-last");
        assert_eq!(slug("../.."), "unnamed");
        assert_eq!(dotted("base64.encoding"), "base64.encoding");
        assert_eq!(dotted("a..b"), "a.unnamed.b");
    }
}
