//! age's identities and recipients, which are one line each.
//!
//! ```text
//! AGE-SECRET-KEY-1…      X25519: 32 bytes of scalar      age1…      its public key
//! AGE-SECRET-KEY-PQ-1…   X-Wing: 32 bytes of seed        age1pq1…   its public key
//! ```
//!
//! May leak: the prefixes before the data, the lengths of the lines, where white space stands, and whether each line
//! is valid.

use super::bech32::{self, Case};
use super::error::Trouble;
use super::text::{SPACE, is, starts_with};
use super::{Found, Unsupported};
use crate::kem::Material;
use crate::{Kem, PrivateKey, PublicKey, Secret};
use deadpan_ct::declassify_bytes;

/// A kind of key that age knows, and the prefixes of its lines.
struct Kind {
    kem: Kem,
    identity: &'static str,
    recipient: &'static str,
}

const KINDS: [Kind; 2] = [
    Kind { kem: Kem::X25519, identity: "AGE-SECRET-KEY-", recipient: "age" },
    Kind { kem: Kem::XWing, identity: "AGE-SECRET-KEY-PQ-", recipient: "age1pq" },
];

/// The prefix of all identities except those of plugins.
pub(super) const IDENTITY: &[u8] = b"AGE-SECRET-KEY-";

pub(super) fn recipient(key: &PublicKey) -> Option<String> {
    let kind = KINDS.iter().find(|kind| kind.kem == key.kem())?;
    let text = bech32::encode(kind.recipient, Case::Lower, key.as_bytes());
    String::from_utf8(text.to_vec()).ok()
}

pub(super) fn identity(key: &PrivateKey) -> Option<Secret> {
    let kind = KINDS.iter().find(|kind| kind.kem == key.kem())?;
    match key.material() {
        Material::Seed(seed) => Some(bech32::encode(kind.identity, Case::Upper, seed)),
        Material::Expanded(_) => None,
    }
}

/// Returns the key in a line, or `None` if the line has no known prefix.
pub(super) fn key(line: &[u8]) -> Result<Option<Found>, Trouble> {
    if starts_with(line, IDENTITY) || starts_with(line, &IDENTITY.to_ascii_lowercase()) {
        check_alone(line)?;
        return private_key(line).map(|key| Some(Found::Private(key)));
    }
    for (start, what) in REFUSED {
        if starts_with(line, start.as_bytes()) {
            return Err(what.clone().into());
        }
    }
    if starts_with(line, b"age1") || starts_with(line, b"AGE1") {
        check_alone(line)?;
        // Recipients are public.
        return public_key(declassify_bytes(line)).map(|key| Some(Found::Public(key)));
    }
    Ok(None)
}

/// Prefixes of lines that are refused by name, and the names.
const REFUSED: &[(&str, Unsupported)] = &[
    ("AGE-PLUGIN-", Unsupported::AgePluginIdentity),
    ("age1tagpq1", Unsupported::AgeTagged),
    ("age1tag1", Unsupported::AgeTagged),
    ("age-encryption.org/", Unsupported::AgeFile),
    ("ssh-", SSH),
    ("ecdsa-sha2-", SSH),
    ("sk-ssh-", SSH),
    ("---- BEGIN SSH2", SSH),
    ("sk-ecdsa-", SSH),
];
const SSH: Unsupported = Unsupported::Signing("an SSH key");

/// Refuses a line with white space in it: a key has none.
fn check_alone(line: &[u8]) -> Result<(), Trouble> {
    if line.iter().any(|byte| is(*byte, SPACE)) { Err(Trouble::Crowded) } else { Ok(()) }
}

fn private_key(line: &[u8]) -> Result<PrivateKey, Trouble> {
    const DAMAGED: Trouble = Trouble::Malformed("the age identity is damaged");
    // The longer prefixes come first, because they begin with the shorter ones.
    for kind in KINDS.iter().rev() {
        for case in [Case::Upper, Case::Lower] {
            let mut words = kind.identity.to_owned() + "1";
            if case == Case::Lower {
                words.make_ascii_lowercase();
            }
            if starts_with(line, words.as_bytes()) {
                let seed = bech32::decode(kind.identity, case, &line[words.len()..]).ok_or(DAMAGED)?;
                if seed.len() != kind.kem.private_len() {
                    return Err(DAMAGED);
                }
                return PrivateKey::from_seed(kind.kem, &seed).map_err(|_| DAMAGED);
            }
        }
    }
    Err(Unsupported::AgeIdentity.into())
}

fn public_key(line: &[u8]) -> Result<PublicKey, Trouble> {
    const DAMAGED: Trouble = Trouble::Malformed("the age recipient is damaged");
    // BIP 173: the last `1` is the separator, because the data have no `1`.
    let separator = line.iter().rposition(|byte| *byte == b'1').ok_or(DAMAGED)?;
    let (prefix, data) = (&line[..separator], &line[separator + 1..]);
    let case = Case::of(prefix).ok_or(DAMAGED)?;
    let name = str::from_utf8(prefix).map_err(|_| DAMAGED)?.to_ascii_lowercase();
    let Some(kind) = KINDS.iter().find(|kind| kind.recipient == name) else {
        return Err(Unsupported::AgePluginRecipient.into());
    };
    let bytes = bech32::decode(&name, case, data).ok_or(DAMAGED)?;
    if bytes.len() != kind.kem.public_len() {
        return Err(DAMAGED);
    }
    PublicKey::from_bytes(kind.kem, &bytes).map_err(|_| DAMAGED)
}
