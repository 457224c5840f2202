//! Random words, and keys as words (BIP 39).

pub mod share;

use aws_lc_rs::digest::{SHA256, digest};

use crate::tell::failure::Failure;
use crate::tell::suggest::closest;
use deadpan_seal::{Passphrase, Secret};

/// The English word list of BIP 39: 2048 words in alphabetical order. No two words begin with the same four letters.
const LIST: &str = include_str!("words.txt");
/// The number of bits that one word encodes.
const BITS: usize = 11;
const LONGEST_WORD: usize = 8;
/// The number of words in an offered passphrase. Ten words have 110 bits, as in age.
const OFFERED: usize = 10;

/// Returns the words of the list.
fn list() -> Vec<&'static str> {
    all().collect()
}

pub fn all() -> impl Iterator<Item = &'static str> {
    LIST.lines()
}

/// Returns random words, separated by `between`. May leak the words to programs that share the processor's caches.
pub fn random(count: usize, between: char) -> Result<Secret, Failure> {
    let list = list();
    let indices = Secret::random(2 * count).map_err(|error| Failure::seal("random words", error))?;
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

/// The number of words for 32 bytes. The last word also contains a checksum.
pub const WORDS: usize = 24;
/// The number of bytes that [`WORDS`] words encode.
pub const PART: usize = 32;

/// Encodes 32 bytes as words. May leak the bytes to programs that share the processor's caches.
pub fn of_bytes(bytes: &[u8; PART]) -> Vec<&'static str> {
    let mut bits = Secret::zeroed(PART + 1);
    bits[..PART].copy_from_slice(bytes);
    bits[PART] = checksum(bytes);
    encode(&bits)
}

/// Decodes 24 words. The first four letters of each word are enough.
pub fn to_bytes(words: &[&str]) -> Result<Secret, String> {
    let bits = decode(words)?;
    let bytes = bits.first_chunk().filter(|_| words.len() == WORDS).ok_or("a key has 24 or 48 words")?;
    if bits[PART] != checksum(bytes) {
        return Err(CHANGED.into());
    }
    Ok(Secret::copy_of(bytes))
}

/// The fault of words with a wrong checksum.
const CHANGED: &str = "one of the words is another word of the list, or two were swapped";

/// Encodes bits as words, without a checksum. Each word encodes 11 bits; the number of bits must be divisible by 11.
fn encode(bits: &[u8]) -> Vec<&'static str> {
    let list = list();
    let words = 0..bits.len() * 8 / BITS;
    words.map(|word| list[(0..BITS).fold(0, |index, bit| index << 1 | bit_of(bits, word * BITS + bit))]).collect()
}

/// Decodes words to bits. Zeros fill the last byte.
fn decode(words: &[&str]) -> Result<Secret, String> {
    let list = list();
    let mut bits = Secret::zeroed((words.len() * BITS).div_ceil(8));
    for (number, text) in words.iter().enumerate() {
        let known = |word: &&str| {
            word.eq_ignore_ascii_case(text)
                || text.len() == 4 && word.get(..4).is_some_and(|it| it.eq_ignore_ascii_case(text))
        };
        let Some(index) = list.iter().position(known) else {
            let hint = match closest(text, list.iter().map(|word| (*word).to_owned())) {
                Some(word) => format!("; did you mean {word}?"),
                None => String::new(),
            };
            return Err(format!("word {} is not in the list of words{hint}", number + 1));
        };
        for bit in 0..BITS {
            let at = number * BITS + bit;
            bits[at / 8] |= ((index >> (BITS - 1 - bit) & 1) as u8) << (7 - at % 8);
        }
    }
    Ok(bits)
}

fn bit_of(bytes: &[u8], bit: usize) -> usize {
    usize::from(bytes[bit / 8] >> (7 - bit % 8) & 1)
}

fn checksum(bytes: &[u8; PART]) -> u8 {
    digest(&SHA256, bytes).as_ref()[0]
}

/// Returns a random passphrase for a user who typed no passphrase.
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
    fn bytes_become_the_words_of_bip_39_and_come_back() {
        for byte in 0..=255 {
            let bytes = std::array::from_fn(|index| (index as u8).wrapping_mul(byte) ^ byte);
            let words = of_bytes(&bytes);
            let expected = bip39::Mnemonic::from_entropy(&bytes).unwrap();
            assert_eq!(words, expected.words().collect::<Vec<_>>());
            assert_eq!(*to_bytes(&words).unwrap(), bytes);
            let short: Vec<_> = words.iter().map(|word| &word[..word.len().min(4)]).collect();
            assert_eq!(*to_bytes(&short).unwrap(), bytes);
            // One in 256 other lists of words has the same checksum.
            let refused = (0..20).filter(|at| {
                let mut changed = words.clone();
                changed[*at] = if words[*at] == "zoo" { "abandon" } else { "zoo" };
                to_bytes(&changed).is_err()
            });
            assert!(refused.count() > 15);
        }
        let words = of_bytes(&[7; 32]);
        assert!(to_bytes(&words[..23]).unwrap_err().contains("24 or 48"));
        let mut wrong = words.clone();
        wrong[6] = "abandn";
        assert_eq!(to_bytes(&wrong).unwrap_err(), "word 7 is not in the list of words; did you mean abandon?");
        wrong[6] = "aban";
        wrong[7] = "aba";
        assert!(to_bytes(&wrong).unwrap_err().starts_with("word 8 "));
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
