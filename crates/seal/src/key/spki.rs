//! Public keys in the form `SubjectPublicKeyInfo` of RFC 5280: an algorithm identifier, and the key as HPKE serializes
//! it.

use super::Unsupported;
use super::algorithm::{self, AlgorithmKind};
use super::der::{BIT_STRING, DerReader, Item, SEQUENCE};
use super::error::Trouble;
use crate::key::sign::{Scheme, VerifyingKey};
use crate::{Kem, PublicKey};

/// Returns the public key as DER.
pub(super) fn encode(key: &PublicKey) -> Vec<u8> {
    let algorithm = Item::Tagged(SEQUENCE, &[algorithm::inside(key.kem())]);
    let bits = [Item::Raw(&[0]), Item::Raw(key.as_bytes())];
    Item::Tagged(SEQUENCE, &[algorithm, Item::Tagged(BIT_STRING, &bits)]).encode().to_vec()
}

/// Returns a verifying key as DER, or `None` if the kind of key has no DER form.
pub(super) fn encode_signing(key: &VerifyingKey) -> Option<Vec<u8>> {
    let algorithm = Item::Tagged(SEQUENCE, &[Item::Raw(algorithm::signing(key.scheme())?)]);
    let bits = [Item::Raw(&[0]), Item::Raw(key.as_bytes())];
    Some(Item::Tagged(SEQUENCE, &[algorithm, Item::Tagged(BIT_STRING, &bits)]).encode().to_vec())
}

pub(super) enum Public {
    Sealing(PublicKey),
    Signing(VerifyingKey),
}

pub(super) fn decode(der: &[u8]) -> Result<Public, Trouble> {
    let mut outside = DerReader::new(der);
    let mut inside = outside.sequence()?;
    outside.end()?;
    let identifier = inside.take(SEQUENCE)?;
    let bits = inside.bit_string()?;
    inside.end()?;
    match algorithm::kind_of(identifier)? {
        AlgorithmKind::Sealing(kem) => public_key(kem, bits).map(Public::Sealing),
        AlgorithmKind::Signing(scheme) => verifying_key(scheme, bits).map(Public::Signing),
    }
}

/// Reads a verifying key from the contents of a bit string.
pub(super) fn verifying_key(scheme: Scheme, bytes: &[u8]) -> Result<VerifyingKey, Trouble> {
    if bytes.len() != scheme.public_len() {
        return Err(Trouble::Malformed("the public key has a wrong length or form"));
    }
    VerifyingKey::from_bytes(scheme, bytes)
        .map_err(|_| Trouble::Malformed("the public key is not a valid one of its kind"))
}

/// Reads a sealing key from the contents of a bit string.
pub(super) fn public_key(kem: Kem, bytes: &[u8]) -> Result<PublicKey, Trouble> {
    if kem == Kem::P256 && matches!(bytes, [2 | 3, ..]) {
        return Err(Unsupported::CompressedPoint.into());
    }
    if bytes.len() != kem.public_len() || (kem == Kem::P256 && bytes.first() != Some(&4)) {
        return Err(Trouble::Malformed("the public key has a wrong length or form"));
    }
    PublicKey::from_bytes(kem, bytes).map_err(|_| Trouble::Malformed("the public key is not a valid one of its kind"))
}
