//! Finds the name that the user probably meant.

/// Returns the name that is closest to `word`, if at most a third of its letters differ. Two adjacent letters in the
/// wrong order count as one difference.
pub fn closest(word: &str, names: impl IntoIterator<Item = String>) -> Option<String> {
    let word = word.to_lowercase();
    let allowed = (word.chars().count() / 3).max(1);
    let distance = |name: &String| strsim::damerau_levenshtein(&word, &name.to_lowercase());
    names
        .into_iter()
        .map(|name| (distance(&name), name))
        .filter(|(distance, name)| *distance <= allowed && *distance < name.chars().count())
        .min()
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::closest;

    #[test]
    fn one_slip_is_forgiven_and_another_word_is_not() {
        let meant = |word| closest(word, ["alice", "bob", "ecc", "hybrid-p256"].map(String::from));
        for word in ["alcie", "alic", "Alice", "alicee"] {
            assert_eq!(meant(word).as_deref(), Some("alice"), "{word}");
        }
        assert_eq!(meant("bbo").as_deref(), Some("bob"));
        assert_eq!(meant("hybird-p265").as_deref(), Some("hybrid-p256"));
        for word in ["", "x", "zoe", "malcolm", "note.txt"] {
            assert_eq!(meant(word), None, "{word}");
        }
    }
}
