//! Bech32 (BIP 173) as age uses it: without the length limit of BIP 173.
//!
//! The characters of an identity encode a private key. The decoder therefore compares each character with all 32
//! possible characters, computes the checksum without a table, and reports only whether the whole text is valid.

use crate::Secret;
use deadpan_ct::{Choice, CtEq, CtZero, lookup};

const LOWER: &[u8; 32] = b"qpzry9x8gf2tvdw0s3jn54khce6mua7l";
const UPPER: &[u8; 32] = b"QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L";
/// The number of characters in the checksum.
const CHECK: usize = 6;

/// The case of a text. All letters of the text have the same case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Case {
    Lower,
    Upper,
}

impl Case {
    const fn letters(self) -> &'static [u8; 32] {
        match self {
            Self::Lower => LOWER,
            Self::Upper => UPPER,
        }
    }

    /// Returns the case of a text. The public prefix of the text, such as `AGE-SECRET-KEY-`, determines the case.
    /// Returns `None` if the prefix has letters of both cases or no letters.
    pub(crate) fn from_prefix(prefix: &[u8]) -> Option<Self> {
        match (prefix.iter().any(u8::is_ascii_lowercase), prefix.iter().any(u8::is_ascii_uppercase)) {
            (true, false) => Some(Self::Lower),
            (false, true) => Some(Self::Upper),
            _ => None,
        }
    }
}

/// Returns the text of `prefix` and `data`, with all letters in this case. May leak: the prefix and the length.
pub(crate) fn encode(prefix: &str, case: Case, data: &[u8]) -> Secret {
    let count = (data.len() * 8).div_ceil(5);
    let mut text = Secret::zeroed(prefix.len() + 1 + count + CHECK);
    let (head, tail) = text.split_at_mut(prefix.len() + 1);
    head[..prefix.len()].copy_from_slice(prefix.as_bytes());
    head[prefix.len()] = b'1';
    let mut sum = Checksum::after_prefix(prefix);
    for (place, character) in tail.iter_mut().enumerate() {
        let value = if place < count {
            let value = five_bits(data, place * 5);
            sum.add(value);
            value
        } else {
            // BIP 173: the checksum is the remainder of the text followed by six zeros, XOR 1. The remainder of the
            // text with its checksum is therefore 1.
            (sum.over_zeros() >> (5 * (CHECK - 1 - (place - count))) & 31) as u8
        };
        *character = lookup(case.letters(), usize::from(value)).unwrap_or(0);
    }
    text
}

/// Decodes `text`, which follows `prefix` and `1`. Returns `None` if a character or the checksum is wrong. May leak:
/// the prefix, the length, and whether the result is `None`.
pub(crate) fn decode(prefix: &str, case: Case, text: &[u8]) -> Option<Secret> {
    let count = text.len().checked_sub(CHECK)?;
    // After the last whole byte, fewer than five bits may remain. If five or more bits remained, the last character
    // would contain no data.
    if count * 5 % 8 >= 5 {
        return None;
    }
    let mut data = Secret::zeroed(count * 5 / 8);
    let mut sum = Checksum::after_prefix(prefix);
    let mut good = Choice::TRUE;
    let mut left_over = 0;
    for (place, character) in text.iter().enumerate() {
        let (value, known) = value_of(*character, case);
        good &= known;
        sum.add(value);
        if place < count {
            left_over |= put_five_bits(&mut data, place * 5, value);
        }
    }
    good &= left_over.ct_is_zero() & sum.0.ct_eq(&1);
    good.declassify().then_some(data)
}

/// Returns the value of a character, and whether the character is valid.
fn value_of(character: u8, case: Case) -> (u8, Choice) {
    let (mut value, mut known) = (0, Choice::FALSE);
    for (number, letter) in (0..).zip(case.letters()) {
        let here = character.ct_eq(letter);
        value = here.select(number, value);
        known |= here;
    }
    (value, known)
}

/// Bits after the end of `data` are zero.
fn five_bits(data: &[u8], start: usize) -> u8 {
    let byte = |place: usize| u16::from(data.get(place).copied().unwrap_or(0));
    let window = byte(start / 8) << 8 | byte(start / 8 + 1);
    (window >> (11 - start % 8) & 31) as u8
}

/// Writes the five bits of `value`, and returns those bits that are beyond the end of `data`.
fn put_five_bits(data: &mut [u8], start: usize, value: u8) -> u8 {
    let window = (u16::from(value) << (11 - start % 8)).to_be_bytes();
    let mut behind = 0;
    for (place, bits) in (start / 8..).zip(window) {
        match data.get_mut(place) {
            Some(byte) => *byte |= bits,
            None => behind |= bits,
        }
    }
    behind
}

/// The state of the checksum, which is a remainder modulo BIP 173's polynomial over GF(32).
struct Checksum(u32);

impl Checksum {
    /// The checksum is computed over the prefix in lower case.
    fn after_prefix(prefix: &str) -> Self {
        let mut sum = Self(1);
        let bytes = || prefix.bytes().map(|byte| byte.to_ascii_lowercase());
        bytes().for_each(|byte| sum.add(byte >> 5));
        sum.add(0);
        bytes().for_each(|byte| sum.add(byte & 31));
        sum
    }

    fn add(&mut self, value: u8) {
        const POLYNOMIAL: [u32; 5] = [0x3b6a_57b2, 0x2650_8e6d, 0x1ea1_19fa, 0x3d42_33dd, 0x2a14_62b3];
        let top = self.0 >> 25;
        self.0 = (self.0 & 0x01ff_ffff) << 5 ^ u32::from(value);
        for (bit, term) in POLYNOMIAL.into_iter().enumerate() {
            self.0 ^= term & (top >> bit & 1).wrapping_neg();
        }
    }

    /// Returns the value that the six characters of the checksum must have.
    fn over_zeros(&self) -> u32 {
        let mut sum = Self(self.0);
        (0..CHECK).for_each(|_| sum.add(0));
        sum.0 ^ 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a text at the separator of BIP 173. Returns its prefix and its data.
    fn read(text: &str) -> Option<(String, Secret)> {
        let (prefix, rest) = text.rsplit_once('1')?;
        let case = Case::from_prefix(text.as_bytes())?;
        decode(prefix, case, rest.as_bytes()).map(|data| (prefix.to_owned(), data))
    }

    #[test]
    fn texts_of_bip_173() {
        let good = [
            ("A12UEL5L", 0),
            ("a12uel5l", 0),
            ("an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs", 0),
            ("abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw", 20),
        ];
        for (text, length) in good {
            let (prefix, data) = read(text).expect(text);
            assert_eq!(data.len(), length, "{text}");
            assert_eq!(&*encode(&prefix, Case::from_prefix(text.as_bytes()).unwrap(), &data), text.as_bytes());
        }
        let bad = [
            "A1G7SGD8",
            "x1b4n0q5v",
            "li1dgmt3",
            "de1lg7wt\u{ff}",
            "a12UEL5L",
            "A12uel5l",
            "abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxq",
            "abcdef1Qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw",
        ];
        for text in bad {
            assert!(read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn every_length_comes_back() {
        for length in [0, 1, 2, 3, 4, 5, 6, 31, 32, 33, 1216] {
            let data = Secret::random(length).unwrap();
            for (prefix, case) in [("age", Case::Lower), ("AGE-SECRET-KEY-", Case::Upper)] {
                let text = encode(prefix, case, &data);
                let rest = &text[prefix.len() + 1..];
                assert!(decode(prefix, case, rest).is_some_and(|back| back.same(&data)), "{length}");
                for place in 0..rest.len().min(60) {
                    let mut changed = rest.to_vec();
                    changed[place] =
                        if changed[place] == case.letters()[0] { case.letters()[1] } else { case.letters()[0] };
                    assert!(decode(prefix, case, &changed).is_none());
                    changed[place] ^= 0x20;
                    assert!(decode(prefix, case, &changed).is_none());
                }
            }
        }
    }

    #[test]
    fn bits_left_over_must_be_zero() {
        // Two characters encode one byte, and two of their bits are unused. A text in which an unused bit is set can
        // have a valid checksum.
        let mut sum = Checksum::after_prefix("age");
        sum.add(31);
        sum.add(1);
        let check = sum.over_zeros();
        let mut text = vec![LOWER[31], LOWER[1]];
        text.extend((0..CHECK).map(|place| LOWER[(check >> (5 * (CHECK - 1 - place)) & 31) as usize]));
        assert!(decode("age", Case::Lower, &text).is_none());
    }
}
