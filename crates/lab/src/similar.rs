//! Finds names that are similar to a name that does not exist. Messages suggest these names.

/// Returns the smallest number of letters that must be inserted, removed or replaced to turn one name into the other.
#[cfg(unix)]
pub(crate) fn distance(a: &str, b: &str) -> usize {
    rows(a, b, false).last().copied().unwrap_or_default()
}

/// Returns the smallest distance between a pattern and any part of a name.
pub(crate) fn distance_to_part(pattern: &str, name: &str) -> usize {
    rows(pattern, name, true).into_iter().min().unwrap_or_default()
}

/// For each prefix of `b`, returns the distance between `a` and the prefix. If `part` is true, each result is instead
/// the smallest distance between `a` and any suffix of the prefix.
fn rows(a: &str, b: &str, part: bool) -> Vec<usize> {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).map(|at| if part { 0 } else { at }).collect();
    for (i, x) in a.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = before + usize::from(x != *y);
            before = row[j + 1];
            row[j + 1] = replaced.min(before + 1).min(row[j] + 1);
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn similar_names_have_a_small_distance() {
        assert_eq!(distance("compare", "compare"), 0);
        assert_eq!(distance("compare", "compre"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }

    #[test]
    fn a_pattern_is_compared_with_parts_of_a_name() {
        assert_eq!(distance_to_part("bse64", "codec.base64.decoding"), 1);
        assert_eq!(distance_to_part("eq", "ct.eq.u32"), 0);
        assert_eq!(distance_to_part("xyz", "a"), 3);
    }
}
