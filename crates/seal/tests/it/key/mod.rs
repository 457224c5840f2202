//! Tests for key files, through the public interface.
#![allow(clippy::print_stderr, reason = "what cannot run says so")]

mod age;
mod damage;
mod many;
mod mixed;
mod openssh;
mod openssl;
mod refused;
mod round_trip;
mod signing;
mod vectors;

use deadpan_seal::key::{Found, KeyError};
use deadpan_seal::{Kem, Material, Passphrase, PrivateKey, PublicKey, key};

fn passphrase() -> Passphrase {
    Passphrase::new("Grüße aus dem Keller".as_bytes())
}

/// Returns the only key in a text.
fn read_one(text: &[u8]) -> Result<Found, KeyError> {
    let mut found = key::read(text)?;
    assert_eq!(found.len(), 1, "one key");
    Ok(found.remove(0))
}

fn read_private(text: &[u8]) -> PrivateKey {
    match read_one(text) {
        Ok(Found::Private(key)) => key,
        other => panic!("not a private key: {other:?}"),
    }
}

fn read_public(text: &[u8]) -> PublicKey {
    match read_one(text) {
        Ok(Found::Public(key)) => key,
        other => panic!("not a public key: {other:?}"),
    }
}

fn read_protected(text: &[u8]) -> key::ProtectedKey {
    match read_one(text) {
        Ok(Found::Protected(key)) => key,
        other => panic!("not a protected key: {other:?}"),
    }
}

/// Returns the bytes that a key is stored as, and whether these bytes are a seed.
fn material(key: &PrivateKey) -> (bool, Vec<u8>) {
    match key.material() {
        Material::Seed(seed) => (true, seed.to_vec()),
        Material::Expanded(expanded) => (false, expanded.to_vec()),
        Material::Held => panic!("no agent holds this key"),
    }
}

#[track_caller]
fn assert_same(one: &PrivateKey, other: &PrivateKey) {
    assert_eq!(one.kem(), other.kem());
    assert!(material(one) == material(other), "the same private key");
    assert!(one.public() == other.public(), "the same public key");
}

/// Returns the DER in a PEM text.
fn der(text: &[u8]) -> Vec<u8> {
    deadpan_base64::pem::decode(text).expect("one block").contents.to_vec()
}

fn pem(label: &str, der: &[u8]) -> Vec<u8> {
    deadpan_base64::pem::encode(label, der).expect("a label").into_bytes()
}

fn keys() -> impl Iterator<Item = PrivateKey> {
    Kem::ALL.into_iter().map(|kem| PrivateKey::generate(kem).expect("a new key"))
}
