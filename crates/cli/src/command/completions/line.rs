//! Splits a command line into words as a shell does. Interprets quotes and backslashes, but expands nothing.

/// Returns the words of a line after the program's name. The last word is the word at the cursor, and is empty after a
/// space.
pub fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut escaped, mut begun) = (None, false, false);
    for character in line.chars() {
        let is_space = character.is_whitespace() && quote.is_none() && !escaped;
        if is_space {
            if begun {
                words.push(String::new());
            }
            begun = false;
            continue;
        }
        begun = true;
        let is_quote = matches!(character, '\'' | '"') && quote.is_none_or(|quote| quote == character);
        if std::mem::take(&mut escaped) {
            words.last_mut().into_iter().for_each(|word| word.push(character));
        } else if character == '\\' && quote != Some('\'') {
            escaped = true;
        } else if is_quote {
            quote = if quote.is_none() { Some(character) } else { None };
        } else {
            words.last_mut().into_iter().for_each(|word| word.push(character));
        }
    }
    // Assignments of shell variables may stand before the program's name.
    let is_assignment = |word: &String| {
        word.split_once('=').is_some_and(|(name, _)| {
            !name.is_empty() && name.chars().all(|letter| letter == '_' || letter.is_ascii_alphanumeric())
        })
    };
    let program = words.iter().position(|word| !is_assignment(word)).unwrap_or(0);
    words.split_off((program + 1).min(words.len()))
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn words_are_split_as_a_shell_does() {
        for (line, expected) in [
            ("deadpan ", &[""][..]),
            ("deadpan se", &["se"]),
            ("A=1 ./deadpan seal  a ", &["seal", "a", ""]),
            ("deadpan seal a\\ b \"c d\" 'e\\f' \"g\\\"h", &["seal", "a b", "c d", "e\\f", "g\"h"]),
            ("deadpan seal '' x", &["seal", "", "x"]),
            ("deadpan", &[]),
        ] {
            assert_eq!(words(line), expected, "{line:?}");
        }
    }
}
