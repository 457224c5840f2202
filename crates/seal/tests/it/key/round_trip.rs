//! Tests that keys can be written and read again.

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
        let fingerprint = key::fingerprint(key.public());
        let start = format!("# fingerprint: {fingerprint}\n-----BEGIN ENCRYPTED PRIVATE KEY-----\n");
        assert!(text.starts_with(&start), "{text}");
        let protected = read_protected(text.as_bytes());
        assert_eq!(protected.fingerprint(), Some(&fingerprint[..]));
        assert_same(&protected.unlock(&passphrase()).expect("the right passphrase"), &key);
        let wrong = protected.unlock(&Passphrase::new(b"Gr"));
        assert!(matches!(wrong, Err(KeyError::WrongPassphrase)), "{wrong:?}");
    }
}

#[test]
fn a_fingerprint_must_stand_directly_before_its_key() {
    let keys = [Kem::X25519, Kem::P256].map(|kem| PrivateKey::generate(kem).expect("a new key"));
    let [one, two] = keys.each_ref().map(|key| key::protected_pem(key, &passphrase()).expect("written"));
    let (comment, block) = one.split_once('\n').expect("two lines");
    let said = |text: &str| read_protected(text.as_bytes()).fingerprint().map(str::to_owned);
    assert_eq!(said(block), None);
    assert_eq!(said(&one.replace('\n', "\r\n")), Some(key::fingerprint(keys[0].public())));
    for text in [
        format!("{comment}\n\n{block}"),
        format!("{comment}\n# mine\n{block}"),
        format!("{}\n{block}", comment.replace(": ", ":")),
        format!("{comment}aa\n{block}"),
        format!("# fingerprint: SHA256:47DEQpj8HBSa\n{block}"),
        format!("{block}{comment}\n"),
    ] {
        assert_eq!(said(&text), None, "{text}");
        assert_same(&read_protected(text.as_bytes()).unlock(&passphrase()).expect("unlocked"), &keys[0]);
    }
    let both = key::read(format!("{one}{two}").as_bytes()).expect("two keys");
    for (found, key) in both.iter().zip(&keys) {
        let Found::Protected(locked) = found else { panic!("not protected: {found:?}") };
        assert_eq!(locked.fingerprint(), Some(&key::fingerprint(key.public())[..]));
        assert_same(&locked.unlock(&passphrase()).expect("unlocked"), key);
    }
    let swapped = two.lines().next().expect("a line").to_owned() + "\n" + block;
    let wrong = read_protected(swapped.as_bytes()).unlock(&passphrase());
    assert!(matches!(wrong, Err(KeyError::Fingerprint { place: key::Place::Block(1) })), "{wrong:?}");
}

#[test]
fn protecting_twice_differs() {
    let key = PrivateKey::generate(Kem::X25519).expect("a new key");
    assert_ne!(key::protected_pem(&key, &passphrase()).ok(), key::protected_pem(&key, &passphrase()).ok());
}

#[test]
fn an_empty_passphrase_is_valid() {
    let key = PrivateKey::generate(Kem::XWing).expect("a new key");
    let text = key::protected_pem(&key, &Passphrase::new(b"")).expect("written");
    let back = read_protected(text.as_bytes()).unlock(&Passphrase::new(b"")).expect("the right passphrase");
    assert_same(&back, &key);
}

#[test]
fn many_keys_in_one_text() {
    let mut text = b"\xef\xbb\xbf# notes before\n".to_vec();
    let keys: Vec<PrivateKey> = keys().collect();
    for key in &keys {
        text.extend_from_slice(&key::private_pem(key));
        text.extend_from_slice(b"\n");
        text.extend_from_slice(key::public_pem(key.public()).as_bytes());
    }
    // The test reads lines that end in LF, and lines that end in CR LF.
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
fn fingerprints_have_their_documented_form() {
    for key in keys() {
        let name = key::fingerprint(key.public());
        assert_eq!(name.len(), 26 + 6, "{name}");
        assert!(name.split('-').all(|group| group.len() == 4 || group.len() == 2), "{name}");
        assert!(name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'2'..=b'7' | b'-')), "{name}");
        assert_eq!(name, key::fingerprint(key.public()));
    }
}

/// Different operating systems may encode the same typed letters as different bytes.
#[test]
fn a_protected_key_opens_in_each_unicode_form() {
    const FORMS: [&str; 2] = ["Gr\u{fc}\u{df}e \u{1e69}", "Gru\u{308}\u{df}e s\u{323}\u{307}"];
    let key = PrivateKey::generate(Kem::X25519).expect("a new key");
    for written in FORMS {
        let text = key::protected_pem(&key, &Passphrase::new(written.as_bytes())).expect("written");
        let locked = read_protected(text.as_bytes());
        for typed in FORMS {
            assert_same(&locked.unlock(&Passphrase::new(typed.as_bytes())).expect("the right passphrase"), &key);
        }
        let wrong = Passphrase::new("Gru\u{df}e \u{1e69}".as_bytes());
        assert!(matches!(locked.unlock(&wrong), Err(KeyError::WrongPassphrase)));
    }
}
