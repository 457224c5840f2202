//! A name for a public key. The name is short enough for a person to read it aloud.

use aws_lc_rs::digest;

use super::spki;
use crate::PublicKey;
use crate::key::sign::VerifyingKey;

/// The alphabet of RFC 4648's base32 in lower case. The alphabet of base32 has no digit that looks like a letter.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// The number of characters between two hyphens of a fingerprint.
const GROUP: usize = 4;
/// The beginning of the comment that holds the fingerprint of a protected key.
const COMMENT: &str = "# fingerprint: ";
/// The beginning of the comment that holds the fingerprint of a protected signing key.
const SIGNING: &str = "# signing key, fingerprint: ";

pub(super) fn for_key(key: &PublicKey) -> String {
    from_digest(digest::digest(&digest::SHA256, &spki::encode(key)).as_ref())
}

/// A key in hardware has no SPKI form, so its fingerprint is computed from its SSH form.
pub(super) fn for_signing_key(key: &VerifyingKey) -> String {
    let bytes = spki::encode_signing(key).unwrap_or_else(|| key.to_ssh());
    from_digest(digest::digest(&digest::SHA256, &bytes).as_ref())
}

/// Returns the name for a digest. The name encodes the first 16 bytes of the digest.
pub(crate) fn from_digest(digest: &[u8]) -> String {
    let (first, _) = digest.split_at(16);
    let number = first.iter().fold(0, |number: u128, byte| number << 8 | u128::from(*byte));
    // 26 characters hold 130 bits, so two zero bits follow the 128 bits of the digest.
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

pub(super) fn comment(key: &PublicKey) -> String {
    format!("{COMMENT}{}\n", for_key(key))
}

pub(super) fn signing_comment(key: &VerifyingKey) -> String {
    format!("{SIGNING}{}\n", for_signing_key(key))
}

/// Returns the fingerprint in a comment, and whether the comment belongs to a signing key. Returns `None` if the
/// comment holds no fingerprint.
pub(super) fn in_comment(line: &str) -> Option<(&str, bool)> {
    let (name, signs) = match line.strip_prefix(SIGNING) {
        Some(name) => (name, true),
        None => (line.strip_prefix(COMMENT)?, false),
    };
    let groups: Vec<_> = name.split('-').map(str::len).collect();
    let is_letter = |letter: u8| letter == b'-' || LETTERS.contains(&letter);
    (groups == [4, 4, 4, 4, 4, 4, 2] && name.bytes().all(is_letter)).then_some((name, signs))
}
