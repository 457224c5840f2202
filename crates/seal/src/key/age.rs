//! age's identities and recipients. Each identity or recipient is one line.
//!
//! ```text
//! AGE-SECRET-KEY-1…      X25519: 32 bytes of scalar      age1…      its public key
//! AGE-SECRET-KEY-PQ-1…   X-Wing: 32 bytes of seed        age1pq1…   its public key
//! AGE-PLUGIN-NAME-1…     what a plugin needs             age1NAME1…
//!                        P-256                           age1tag1…  a public key, usually of hardware
//!                        ML-KEM-768+P-256                age1tagpq1…
//! ```
//!
//! May leak: the prefixes before the data, the lengths of the lines, the places of white space, and whether each line
//! is valid.

use super::bech32::{self, Case};
use super::error::Trouble;
use super::plugin::{InvalidName, PluginIdentity, PluginRecipient};
use super::text::{SPACE, is, starts_with};
use super::{Found, Unsupported};
use crate::primitive::imp::p256;
use crate::primitive::kem::Material;
use crate::{Kem, PrivateKey, PublicKey, Secret};
use deadpan_ct::declassify_bytes;

/// A kind of key in age, with the prefixes of the lines that hold such keys.
struct AgeKind {
    kem: Kem,
    /// The prefix of identities. The prefix is `None` if the private keys stay in hardware, because such keys have no
    /// text form.
    identity: Option<&'static str>,
    recipient: &'static str,
}

const KINDS: [AgeKind; 4] = [
    AgeKind { kem: Kem::X25519, identity: Some("AGE-SECRET-KEY-"), recipient: "age" },
    AgeKind { kem: Kem::XWing, identity: Some("AGE-SECRET-KEY-PQ-"), recipient: "age1pq" },
    AgeKind { kem: Kem::P256, identity: None, recipient: "age1tag" },
    AgeKind { kem: Kem::MlKem768P256, identity: None, recipient: "age1tagpq" },
];

/// The prefix of all identities except plugin identities.
pub(super) const IDENTITY: &[u8] = b"AGE-SECRET-KEY-";

/// The prefix of plugin identities.
pub(super) const PLUGIN: &[u8] = b"AGE-PLUGIN-";

pub(super) fn recipient(key: &PublicKey) -> Option<String> {
    let kind = KINDS.iter().find(|kind| kind.kem == key.kem())?;
    let bytes = match key.as_bytes().as_array() {
        Some(point) if key.kem() == Kem::P256 => p256::compress(point).to_vec(),
        _ => key.as_bytes().to_vec(),
    };
    let text = bech32::encode(kind.recipient, Case::Lower, &bytes);
    String::from_utf8(text.to_vec()).ok()
}

pub(super) fn identity(key: &PrivateKey) -> Option<Secret> {
    let kind = KINDS.iter().find(|kind| kind.kem == key.kem())?;
    match key.material() {
        Material::Seed(seed) => Some(bech32::encode(kind.identity?, Case::Upper, seed)),
        Material::Expanded(_) | Material::Held => None,
    }
}

/// Returns the key in a line, or `None` if the line has no known prefix.
pub(super) fn key(line: &[u8]) -> Result<Option<Found>, Trouble> {
    if starts_with(line, IDENTITY) || starts_with(line, &IDENTITY.to_ascii_lowercase()) {
        check_alone(line)?;
        return private_key(line).map(|key| Some(Found::Private(key)));
    }
    if starts_with(line, PLUGIN) || starts_with(line, &PLUGIN.to_ascii_lowercase()) {
        check_alone(line)?;
        return PluginIdentity::parse(line).map(|it| Some(Found::PluginIdentity(it))).map_err(of_plugin);
    }
    for (start, what) in REFUSED {
        if starts_with(line, start.as_bytes()) {
            return Err(what.clone().into());
        }
    }
    if starts_with(line, b"age1") || starts_with(line, b"AGE1") {
        check_alone(line)?;
        // Recipients are public.
        return recipient_line(declassify_bytes(line)).map(Some);
    }
    Ok(None)
}

/// The prefixes of lines that the reader refuses. Each prefix has a name that the error message shows.
const REFUSED: &[(&str, Unsupported)] = &[
    ("age-encryption.org/", Unsupported::AgeFile),
    ("ssh-", SSH),
    ("ecdsa-sha2-", SSH),
    ("sk-ssh-", SSH),
    ("---- BEGIN SSH2", SSH),
    ("sk-ecdsa-", SSH),
];
const SSH: Unsupported = Unsupported::Signing("an SSH key");

/// Refuses a line that contains white space, because no key contains white space.
fn check_alone(line: &[u8]) -> Result<(), Trouble> {
    if line.iter().any(|byte| is(*byte, SPACE)) { Err(Trouble::Crowded) } else { Ok(()) }
}

fn private_key(line: &[u8]) -> Result<PrivateKey, Trouble> {
    const DAMAGED: Trouble = Trouble::Malformed("the age identity is damaged");
    // The longer prefixes come first, because a longer prefix can begin with a shorter prefix.
    for (kem, identity) in KINDS.iter().rev().filter_map(|kind| Some((kind.kem, kind.identity?))) {
        for case in [Case::Upper, Case::Lower] {
            let mut words = identity.to_owned() + "1";
            if case == Case::Lower {
                words.make_ascii_lowercase();
            }
            if starts_with(line, words.as_bytes()) {
                let seed = bech32::decode(identity, case, &line[words.len()..]).ok_or(DAMAGED)?;
                if seed.len() != kem.private_len() {
                    return Err(DAMAGED);
                }
                return PrivateKey::from_seed(kem, &seed).map_err(|_| DAMAGED);
            }
        }
    }
    Err(Unsupported::AgeIdentity.into())
}

fn of_plugin(error: InvalidName) -> Trouble {
    match error {
        InvalidName::Name => Trouble::Malformed("the name of the plugin is not valid"),
        _ => Trouble::Malformed("the line of the plugin is damaged"),
    }
}

fn recipient_line(line: &[u8]) -> Result<Found, Trouble> {
    const DAMAGED: Trouble = Trouble::Malformed("the age recipient is damaged");
    // BIP 173: the last `1` of the line is the separator, because the data contain no `1`.
    let separator = line.iter().rposition(|byte| *byte == b'1').ok_or(DAMAGED)?;
    let (prefix, data) = (&line[..separator], &line[separator + 1..]);
    let case = Case::from_prefix(prefix).ok_or(DAMAGED)?;
    let name = str::from_utf8(prefix).map_err(|_| DAMAGED)?.to_ascii_lowercase();
    let Some(kind) = KINDS.iter().find(|kind| kind.recipient == name) else {
        let text = str::from_utf8(line).map_err(|_| DAMAGED)?;
        return PluginRecipient::parse(text).map(Found::PluginRecipient).map_err(of_plugin);
    };
    let mut bytes = bech32::decode(&name, case, data).ok_or(DAMAGED)?.to_vec();
    if kind.kem == Kem::P256 {
        let point = bytes.as_array().ok_or(DAMAGED)?;
        bytes = p256::decompress(point).map_err(|_| DAMAGED)?.ok_or(DAMAGED)?.to_vec();
    }
    if bytes.len() != kind.kem.public_len() {
        return Err(DAMAGED);
    }
    PublicKey::from_bytes(kind.kem, &bytes).map(Found::Public).map_err(|_| DAMAGED)
}
