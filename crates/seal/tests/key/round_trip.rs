//! Whatever is written is read again as it was.

use super::*;

#[test]
fn private_keys() {
    for _ in 0..20 {
        for key in keys() {
            let text = key::private_pem(&key);
            assert!(text.starts_with(b"-----BEGIN PRIVATE KEY-----\n"));
            assert_same(&read_private(&text), &key);
        }
    }
}

#[test]
fn public_keys() {
    for _ in 0..20 {
        for key in keys() {
            assert!(read_public(key::public_pem(key.public()).as_bytes()) == *key.public());
        }
    }
}

#[test]
fn protected_keys() {
    for key in keys() {
        let text = key::protected_pem(&key, &passphrase()).expect("written");
        assert!(text.starts_with("-----BEGIN ENCRYPTED PRIVATE KEY-----\n"));
        let protected = read_protected(text.as_bytes());
        assert_same(&protected.unlock(&passphrase()).expect("the right passphrase"), &key);
        let wrong = protected.unlock(&Passphrase::new(b"Gr"));
        assert!(matches!(wrong, Err(KeyError::WrongPassphrase)), "{wrong:?}");
    }
}

#[test]
fn protecting_twice_differs() {
    let key = PrivateKey::generate(Kem::X25519).expect("a new key");
    assert_ne!(key::protected_pem(&key, &passphrase()).ok(), key::protected_pem(&key, &passphrase()).ok());
}

#[test]
fn an_empty_passphrase_is_one_too() {
    let key = PrivateKey::generate(Kem::XWing).expect("a new key");
    let text = key::protected_pem(&key, &Passphrase::new(b"")).expect("written");
    let back = read_protected(text.as_bytes()).unlock(&Passphrase::new(b"")).expect("the right passphrase");
    assert_same(&back, &key);
}

#[test]
fn many_keys_in_one_text() {
    let mut text = b"\xef\xbb\xbfnotes before, which nobody reads\n".to_vec();
    let keys: Vec<PrivateKey> = keys().collect();
    for key in &keys {
        text.extend_from_slice(&key::private_pem(key));
        text.extend_from_slice(b"\n");
        text.extend_from_slice(key::public_pem(key.public()).as_bytes());
    }
    // Line ends of either kind.
    let windows = String::from_utf8_lossy(&text[3..]).replace('\n', "\r\n").into_bytes();
    for text in [text, windows] {
        let found = key::read(&text).expect("good keys");
        assert_eq!(found.len(), 2 * keys.len());
        for (pair, key) in found.chunks(2).zip(&keys) {
            let [Found::Private(private), Found::Public(public)] = pair else { panic!("a private and a public key") };
            assert_same(private, key);
            assert!(public == key.public());
        }
    }
}

#[test]
fn fingerprints_have_a_form() {
    for key in keys() {
        let name = key::fingerprint(key.public());
        assert_eq!(name.len(), 26 + 6, "{name}");
        assert!(name.split('-').all(|group| group.len() == 4 || group.len() == 2), "{name}");
        assert!(name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7' | b'-')), "{name}");
        assert_eq!(name, key::fingerprint(key.public()));
    }
}
