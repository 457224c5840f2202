//! age's identities and recipients: one in a line, with `#` comments.
//!
//! ```text
//! AGE-SECRET-KEY-1…      X25519: 32 bytes of scalar      age1…      its public key
//! AGE-SECRET-KEY-PQ-1…   X-Wing: 32 bytes of seed        age1pq1…   its public key
//! ```
//!
//! What may leak: what stands before the data, the lengths of the lines, and whether each is valid.

use super::bech32::{self, Case};
use super::error::{Place, Trouble};
use super::{Found, KeyError};
use crate::kem::Material;
use crate::{Kem, PrivateKey, PublicKey, Secret};
use deadpan_ct::{CtEq, declassify_bytes};

/// A kind of key that age knows, and the words before its data.
struct Kind {
    kem: Kem,
    identity: &'static str,
    recipient: &'static str,
}

const KINDS: [Kind; 2] = [
    Kind { kem: Kem::X25519, identity: "AGE-SECRET-KEY-", recipient: "age" },
    Kind { kem: Kem::XWing, identity: "AGE-SECRET-KEY-PQ-", recipient: "age1pq" },
];

/// What all identities begin with, those of plugins apart.
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

/// All keys in a text of lines.
pub(super) fn read(text: &[u8]) -> Result<Vec<Found>, KeyError> {
    let mut found = Vec::new();
    for (number, line) in (1..).zip(lines(text)) {
        if line.is_empty() || starts_with(line, b"#") {
            continue;
        }
        match key(line) {
            Ok(Some(key)) => found.push(key),
            // A text that does not begin with a key is something else altogether.
            Ok(None) if found.is_empty() => return Err(KeyError::Unknown),
            Ok(None) => return Err(Trouble::Malformed("neither an age identity nor a recipient").at(Place::Line(number))),
            Err(trouble) => return Err(trouble.at(Place::Line(number))),
        }
    }
    if found.is_empty() { Err(KeyError::Unknown) } else { Ok(found) }
}

/// The lines of a text, without their ends. Where those stand is public.
pub(super) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| byte.ct_eq(&b'\n').declassify()).map(|line| match line {
        [start @ .., last] if last.ct_eq(&b'\r').declassify() => start,
        line => line,
    })
}

/// Whether a line starts with certain words, which is public; nothing else about the line is looked at.
pub(super) fn starts_with(line: &[u8], words: &[u8]) -> bool {
    line.get(..words.len()).is_some_and(|start| start.ct_eq(words).declassify())
}

/// The key in a line; none if it looks like nothing that is known.
fn key(line: &[u8]) -> Result<Option<Found>, Trouble> {
    if starts_with(line, IDENTITY) || starts_with(line, &IDENTITY.to_ascii_lowercase()) {
        return private_key(line).map(|key| Some(Found::Private(key)));
    }
    for (start, name, hint) in REFUSED {
        if starts_with(line, start.as_bytes()) {
            return Err(Trouble::unsupported(*name, hint));
        }
    }
    if starts_with(line, b"age1") || starts_with(line, b"AGE1") {
        // Recipients are public.
        return public_key(declassify_bytes(line)).map(|key| Some(Found::Public(key)));
    }
    Ok(None)
}

/// Lines that are something else by their first characters: what, and what to do.
const REFUSED: &[(&str, &str, &str)] = &[
    ("AGE-PLUGIN-", "an identity of an age plugin", "open the file with age and the plugin"),
    ("age1tagpq1", "a tagged age recipient (hardware key)", "ask its owner for an age1… or age1pq1… recipient"),
    ("age1tag1", "a tagged age recipient (hardware key)", "ask its owner for an age1… or age1pq1… recipient"),
    ("age-encryption.org/", "a file sealed by age (perhaps an identity file with a passphrase)", "open it first with `age -d`"),
    ("ssh-", "an SSH key", SSH),
    ("ecdsa-sha2-", "an SSH key", SSH),
    ("sk-ssh-", "an SSH key", SSH),
    ("sk-ecdsa-", "an SSH key", SSH),
];
const SSH: &str = "SSH keys sign, they do not seal; make one for sealing with Deadpan";

fn private_key(line: &[u8]) -> Result<PrivateKey, Trouble> {
    const DAMAGED: Trouble = Trouble::Malformed("the age identity is damaged");
    // The longer words first: they begin with the shorter ones.
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
    Err(Trouble::unsupported("an age identity of an unknown kind", "a newer deadpan may read it"))
}

fn public_key(line: &[u8]) -> Result<PublicKey, Trouble> {
    const DAMAGED: Trouble = Trouble::Malformed("the age recipient is damaged");
    // BIP 173: the last `1` is the separator, since data have none.
    let separator = line.iter().rposition(|byte| *byte == b'1').ok_or(DAMAGED)?;
    let (prefix, data) = (&line[..separator], &line[separator + 1..]);
    let case = Case::of(prefix).ok_or(DAMAGED)?;
    let name = str::from_utf8(prefix).map_err(|_| DAMAGED)?.to_ascii_lowercase();
    let Some(kind) = KINDS.iter().find(|kind| kind.recipient == name) else {
        let hint = "seal to it with age and the plugin, or ask its owner for an age1… or age1pq1… recipient";
        return Err(Trouble::unsupported("a recipient of an age plugin", hint));
    };
    let bytes = bech32::decode(&name, case, data).ok_or(DAMAGED)?;
    if bytes.len() != kind.kem.public_len() {
        return Err(DAMAGED);
    }
    PublicKey::from_bytes(kind.kem, &bytes).map_err(|_| DAMAGED)
}
