//! A name for a public key that is short enough to read out.

use super::spki;
use crate::PublicKey;
use aws_lc_rs::digest;

/// RFC 4648's base32, in lower case: no digit that looks like a letter.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Letters between two hyphens.
const GROUP: usize = 4;

pub(super) fn of(key: &PublicKey) -> String {
    let digest = digest::digest(&digest::SHA256, &spki::encode(key));
    let (first, _) = digest.as_ref().split_at(16);
    let number = first.iter().fold(0, |number: u128, byte| number << 8 | u128::from(*byte));
    // 26 letters hold 130 bits: two zero bits follow the last of the number's.
    let letter = |place: usize| {
        let shifted = if place < 25 { number >> (123 - 5 * place) } else { number << 2 };
        char::from(LETTERS[(shifted & 31) as usize])
    };
    let mut name = String::new();
    for place in 0..26 {
        if place > 0 && place % GROUP == 0 {
            name.push('-');
        }
        name.push(letter(place));
    }
    name
}
