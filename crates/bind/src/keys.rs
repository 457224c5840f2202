//! Keys in texts.

use crate::{Code, Fault};
use deadpan_seal::key::{self, Found};
use deadpan_seal::{Passphrase, PrivateKey, PublicKey};

/// Returns all public keys in a text that seal: PEM, or age recipients.
///
/// # Errors
/// If the text holds none, or a damaged key.
pub fn public_keys(text: &[u8]) -> Result<Vec<PublicKey>, Fault> {
    let found = key::read(text)?;
    let is_private = found.iter().any(|found| matches!(found, Found::Private(_) | Found::Protected(_)));
    let public = |found| if let Found::Public(public) = found { Some(public) } else { None };
    let keys: Vec<PublicKey> = found.into_iter().filter_map(public).collect();
    match (keys.is_empty(), is_private) {
        (false, _) => Ok(keys),
        (true, true) => Err(Fault::new(Code::Key, "this is a private key, and a public one is needed")),
        (true, false) => Err(Fault::new(Code::Key, "the text holds no public key that seals")),
    }
}

/// Returns the public key in a text. A text with several is an error, so that no recipient is lost.
///
/// # Errors
/// If the text holds no public key that seals, several of them, or a damaged key.
pub fn public_key(text: &[u8]) -> Result<PublicKey, Fault> {
    one(public_keys(text)?)
}

/// Returns the private key in a text, PEM or an age identity. A protected key needs its passphrase.
///
/// # Errors
/// If the text holds none or several, or a damaged key, or if the passphrase is missing or wrong.
pub fn private_key(text: &[u8], passphrase: Option<&Passphrase>) -> Result<PrivateKey, Fault> {
    let found = key::read(text)?;
    let is_public = found.iter().any(|found| matches!(found, Found::Public(_)));
    let private = |found: &Found| matches!(found, Found::Private(_) | Found::Protected(_));
    let keys: Vec<Found> = found.into_iter().filter(private).collect();
    if keys.is_empty() && is_public {
        return Err(Fault::new(Code::Key, "this is a public key, and a private one is needed"));
    }
    if keys.is_empty() {
        return Err(Fault::new(Code::Key, "the text holds no private key that opens files"));
    }
    match (one(keys)?, passphrase) {
        (Found::Private(private), _) => Ok(private),
        (Found::Protected(protected), Some(passphrase)) => Ok(protected.unlock(passphrase)?),
        _ => Err(Fault::new(Code::Locked, Code::Locked.message())),
    }
}

fn one<T>(keys: Vec<T>) -> Result<T, Fault> {
    let count = keys.len();
    let mut keys = keys.into_iter();
    match (keys.next(), count) {
        (Some(key), 1) => Ok(key),
        _ => {
            Err(Fault::new(Code::Key, format!("the text holds {count} keys, and one is wanted: read them one by one")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadpan_seal::Kem;

    #[test]
    fn several_keys_are_never_one() {
        let keys = [Kem::XWing, Kem::X25519].map(|kem| PrivateKey::generate(kem).expect("a key"));
        let public: Vec<String> = keys.iter().map(|it| key::public_pem(it.public())).collect();
        let private: Vec<u8> = keys.iter().flat_map(|it| key::private_pem(it).to_vec()).collect();
        assert_eq!(public_key(public[0].as_bytes()).expect("one"), *keys[0].public());
        let both = public.concat();
        assert_eq!(public_keys(both.as_bytes()).expect("two").len(), 2);
        for fault in [public_key(both.as_bytes()).err(), private_key(&private, None).err()] {
            let fault = fault.expect("two keys");
            assert_eq!(fault.code, Code::Key);
            assert!(fault.text.contains("2 keys"), "{}", fault.text);
        }
        let text = |fault: Option<Fault>| fault.expect("the other kind").text;
        assert!(text(public_key(&private).err()).contains("a private key"));
        assert!(text(private_key(public[0].as_bytes(), None).err()).contains("a public key"));
        assert!(text(private_key(b"a text", None).err()).len() > 5);
    }
}
