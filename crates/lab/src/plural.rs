//! Chooses the singular or plural of a word in a message, depending on a count.

/// Returns `one` if `count` is 1, and `many` otherwise.
pub(crate) fn plural<'w>(count: u64, one: &'w str, many: &'w str) -> &'w str {
    if count == 1 { one } else { many }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_count_one_is_singular() {
        assert_eq!([0, 1, 2].map(|count| plural(count, "pair", "pairs")), ["pairs", "pair", "pairs"]);
    }
}
