//! Random words, and keys as words (BIP 39).

use crate::tell::failure::Failure;
use deadpan_seal::random::Generator;
use deadpan_seal::{Passphrase, Secret};

/// The list of BIP 39 for English: 2048 words in alphabetical order, each of which begins with four letters of its own.
const LIST: &str = include_str!("words.txt");
/// The bits that a word stands for.
const BITS: usize = 11;
const LONGEST_WORD: usize = 8;
/// The number of words of an offered passphrase: 110 bits, as in age.
const OFFERED: usize = 10;

/// Returns the words of the list.
fn list() -> Vec<&'static str> {
    LIST.lines().collect()
}

/// Returns random words with `between` between them. May leak which words these are to programs that share the
/// processor's caches.
pub fn random(count: usize, between: char) -> Result<Secret, Failure> {
    let list = list();
    let mut indices = Secret::zeroed(2 * count);
    let filled = Generator::new().and_then(|mut generator| generator.fill(&mut indices));
    filled.map_err(|error| Failure::seal("random words", error))?;
    // Words have different lengths, so the text is written into memory with room for the longest.
    let mut text = Secret::zeroed(count * (LONGEST_WORD + 1));
    let mut length = 0;
    for pair in indices.chunks_exact(2) {
        let word = list[usize::from(u16::from_le_bytes([pair[0], pair[1]])) % (1 << BITS)];
        text[length..length + word.len()].copy_from_slice(word.as_bytes());
        text[length + word.len()] = between as u8;
        length += word.len() + 1;
    }
    Ok(Secret::copy_of(&text[..length.saturating_sub(1)]))
}

/// Returns a passphrase to offer to a user who types none.
pub fn offered() -> Result<Passphrase, Failure> {
    random(OFFERED, '-').map(|text| Passphrase::new(&text))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn the_list_is_that_of_bip_39() {
        assert_eq!(list(), bip39::Language::English.word_list());
        assert!(list().iter().all(|word| word.len() <= LONGEST_WORD));
    }

    #[test]
    fn all_words_are_drawn_and_none_is_cut() {
        let list: HashSet<_> = list().into_iter().collect();
        let text = random(40_000, ' ').unwrap();
        let words: Vec<_> = str::from_utf8(&text).unwrap().split(' ').collect();
        assert_eq!(words.len(), 40_000);
        assert!(words.iter().all(|word| list.contains(word)));
        // The chance that a word is missing is about one in 160 000.
        assert_eq!(words.into_iter().collect::<HashSet<_>>().len(), 2048);
        assert!(random(0, ' ').unwrap().is_empty());
        assert_ne!(*random(10, '-').unwrap(), *random(10, '-').unwrap());
    }
}
