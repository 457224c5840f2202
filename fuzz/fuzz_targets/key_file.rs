//! Reading any key file: it never panics and takes little time. A key is the same after writing and reading it.
//!
//! Input: A letter, followed by DER bytes because a fuzzer hardly ever makes valid base64: `P` for a private, `E` for
//! an encrypted, or `S` for a public key. Other inputs are texts. The initial inputs (seeds) use the passphrase `fuzz`.
#![no_main]

use libfuzzer_sys::fuzz_target;

use deadpan_base64::pem;
use deadpan_seal::key::{self, Found};
use deadpan_seal::sign::{SigningKey, SigningMaterial, VerifyingKey};
use deadpan_seal::{Material, Passphrase, PrivateKey, PublicKey, plugin};

fuzz_target!(|data: &[u8]| {
    let (label, der) = match data {
        [b'P', der @ ..] => ("PRIVATE KEY", der),
        [b'E', der @ ..] => ("ENCRYPTED PRIVATE KEY", der),
        [b'S', der @ ..] => ("PUBLIC KEY", der),
        text => {
            key::read(text).unwrap_or_default().iter().for_each(round_trip);
            return;
        }
    };
    let text = pem::encode(label, der).expect("a label");
    let Ok(found) = key::read(text.as_bytes()) else { return };
    assert_eq!(found.len(), 1, "one block, one key");
    round_trip(&found[0]);
    match &found[0] {
        Found::Public(public) => assert_eq!(key::public_pem(public), text, "public keys have one form"),
        Found::Verifying(public) => assert_eq!(key::verifying_pem(public), text, "public keys have one form"),
        _ => {}
    }
});

fn round_trip(found: &Found) {
    match found {
        Found::Private(private) => round_trip_private(private),
        Found::Protected(protected) => {
            if let Ok(private) = protected.unlock_any(&Passphrase::new(b"fuzz")) {
                round_trip(&private);
            }
        }
        Found::Public(public) => round_trip_public(public),
        Found::Ssh(key) => {
            let line = key.line();
            let (back, comment) = key::openssh::public_line(&line).expect("its own line");
            assert!(back == *key && comment.is_empty());
        }
        Found::OpenSsh(file) => assert!(file.is_protected() || file.key().is_some(), "an open key"),
        Found::PluginRecipient(recipient) => {
            let text = recipient.text();
            let found = key::read(text.as_bytes()).expect("what was written");
            assert!(matches!(&found[..], [Found::PluginRecipient(back)] if back.text() == text));
        }
        Found::PluginIdentity(identity) => {
            assert_eq!(plugin::Identity::from(identity.clone()).to_recipient().name(), identity.name());
        }
        Found::Signing(private) => round_trip_signing(private),
        Found::Verifying(public) => round_trip_verifying(public),
    }
}

fn round_trip_private(key: &PrivateKey) {
    round_trip_public(key.public());
    let texts = [Some(key::private_pem(key)), key::age_identity(key)];
    for text in texts.into_iter().flatten() {
        let found = key::read(&text).expect("what was written");
        let [Found::Private(back)] = &found[..] else { panic!("another kind of key") };
        let same = match (key.material(), back.material()) {
            (Material::Seed(one), Material::Seed(other)) | (Material::Expanded(one), Material::Expanded(other)) => {
                one.same(other)
            }
            _ => false,
        };
        assert!(same && key.public() == back.public(), "another private key");
    }
}

fn round_trip_public(key: &PublicKey) {
    assert_eq!(key::fingerprint(key).len(), 32);
    let texts = [Some(key::public_pem(key)), key::age_recipient(key)];
    for text in texts.into_iter().flatten() {
        let found = key::read(text.as_bytes()).expect("what was written");
        let [Found::Public(back)] = &found[..] else { panic!("another kind of key") };
        assert!(key == back, "another public key");
    }
}

fn round_trip_signing(key: &SigningKey) {
    round_trip_verifying(key.public());
    let found = key::read(&key::signing_pem(key)).expect("what was written");
    let [Found::Signing(back)] = &found[..] else { panic!("another kind of key") };
    let same = match (key.material(), back.material()) {
        (SigningMaterial::Seed(one), SigningMaterial::Seed(other))
        | (SigningMaterial::Expanded(one), SigningMaterial::Expanded(other)) => one.same(other),
        _ => false,
    };
    assert!(same && key.public() == back.public(), "another private key");
}

fn round_trip_verifying(key: &VerifyingKey) {
    assert_eq!(key.fingerprint().len(), 32);
    for text in [key::verifying_pem(key), key.to_line()] {
        let found = key::read(text.as_bytes()).expect("what was written");
        let [Found::Verifying(back)] = &found[..] else { panic!("another kind of key") };
        assert!(key == back, "another public key");
    }
}
