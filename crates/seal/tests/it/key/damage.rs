//! Tests keys with one changed byte, truncated keys and extended keys. The reader must return an error or another key
//! for each text, and must not panic.

use super::*;

/// Returns a key in each form that a key file may hold.
fn texts() -> Vec<(&'static str, Vec<u8>)> {
    let mut texts = Vec::new();
    for key in keys() {
        texts.push(("PRIVATE KEY", der(&key::private_pem(&key))));
        texts.push(("PUBLIC KEY", der(key::public_pem(key.public()).as_bytes())));
    }
    let key = PrivateKey::generate(Kem::P256).expect("a new key");
    texts.push(("ENCRYPTED PRIVATE KEY", der(key::protected_pem(&key, &passphrase()).expect("written").as_bytes())));
    texts
}

#[test]
fn a_flipped_byte_is_refused_or_another_key() {
    for (label, good) in texts() {
        for place in 0..good.len() {
            // The test flips all bits of the structure at the start, and some bits of the long strings after it.
            let flips: &[u8] = if place < 64 { &[1, 2, 4, 8, 16, 32, 64, 128, 255] } else { &[1, 255] };
            for flip in flips {
                let mut bad = good.clone();
                bad[place] ^= flip;
                if let Ok(found) = key::read(&pem(label, &bad)) {
                    // If the changed bytes are another valid key, this key can be written and read again.
                    match &found[..] {
                        [Found::Private(key)] => assert_same(&read_private(&key::private_pem(key)), key),
                        [Found::Public(key)] => assert_eq!(der(key::public_pem(key).as_bytes()), bad),
                        [Found::Protected(_)] => assert!(place > 16, "byte {place} of {label}"),
                        _ => panic!("one key"),
                    }
                }
            }
        }
    }
}

#[test]
fn truncated_and_extended_keys_are_refused() {
    for (label, good) in texts() {
        for length in 0..good.len() {
            assert!(key::read(&pem(label, &good[..length])).is_err(), "{length} of {label}");
        }
        let mut longer = good;
        longer.push(0);
        assert!(key::read(&pem(label, &longer)).is_err(), "{label} and a byte");
    }
}

#[test]
fn damaged_ciphertext_is_a_wrong_passphrase() {
    for kem in [Kem::X25519, Kem::MlKem768] {
        let key = PrivateKey::generate(kem).expect("a new key");
        let good = der(key::protected_pem(&key, &passphrase()).expect("written").as_bytes());
        // The test changes the last block (the padding), the previous block (which also changes the padding), the first
        // block (the ASN.1 head), and the initialization vector.
        for back in [1, 15, 16, 17, 32, 47, 64, 70] {
            let mut bad = good.clone();
            let place = bad.len() - back;
            bad[place] ^= 0x55;
            match read_one(&pem("ENCRYPTED PRIVATE KEY", &bad)) {
                Ok(Found::Protected(protected)) => match protected.unlock(&passphrase()) {
                    Err(KeyError::WrongPassphrase) => {}
                    Err(other) => panic!("{back}: {other}"),
                    Ok(other) => assert!(material(&other) != material(&key), "{back}"),
                },
                other => panic!("{other:?}"),
            }
        }
    }
}
