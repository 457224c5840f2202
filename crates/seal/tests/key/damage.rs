//! Keys with one byte changed, cut short or made longer: refused, or another key; never a panic.

use super::*;

/// Everything that a file may hold.
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
fn a_flipped_byte() {
    for (label, good) in texts() {
        for place in 0..good.len() {
            // All bits where the structure is, some of them in the long strings.
            let flips: &[u8] = if place < 64 { &[1, 2, 4, 8, 16, 32, 64, 128, 255] } else { &[1, 255] };
            for flip in flips {
                let mut bad = good.clone();
                bad[place] ^= flip;
                if let Ok(found) = key::read(&pem(label, &bad)) {
                    // Another key, then, and one that can be written again.
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
fn cut_short_or_longer() {
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
        // In the last block (padding), the one before (what becomes padding), the first (the frame), and the initialisation vector.
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
