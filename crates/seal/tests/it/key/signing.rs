//! Tests for keys that sign: the vectors of the standards, keys from OpenSSL and for OpenSSL, and the separation of
//! signing keys from sealing keys.

use std::io::Write as _;

use super::*;
use deadpan_seal::Fault;
use deadpan_seal::sign::{Scheme, SigningKey, SigningMaterial, VerifyingKey};

const SCHEMES: [Scheme; 3] = [Scheme::Ed25519, Scheme::MlDsa65, Scheme::MlDsa44Ed25519];

fn read_signing(text: &[u8]) -> SigningKey {
    match read_one(text) {
        Ok(Found::Signing(key)) => key,
        other => panic!("not a key that signs: {other:?}"),
    }
}

fn read_verifying(text: &[u8]) -> VerifyingKey {
    match read_one(text) {
        Ok(Found::Verifying(key)) => key,
        other => panic!("not a key that verifies: {other:?}"),
    }
}

fn seed(key: &SigningKey) -> Vec<u8> {
    match key.material() {
        SigningMaterial::Seed(seed) => seed.to_vec(),
        SigningMaterial::Expanded(_) => panic!("no seed"),
    }
}

#[test]
fn what_is_written_is_read() {
    for scheme in SCHEMES {
        let key = SigningKey::generate(scheme).expect("a new key");
        let back = read_signing(&key::signing_pem(&key));
        assert_eq!((seed(&back), back.public()), (seed(&key), key.public()));
        assert_eq!(read_verifying(key::verifying_pem(key.public()).as_bytes()), *key.public());
        assert_eq!(read_verifying(key.public().to_line().as_bytes()), *key.public());
        let commented = format!("{}  somebody@somewhere with words\n", key.public().to_line());
        assert_eq!(read_verifying(commented.as_bytes()), *key.public());

        let text = key::protected_signing_pem(&key, &passphrase()).expect("written");
        let locked = read_protected(text.as_bytes());
        assert_eq!(locked.fingerprint(), Some(&key.public().fingerprint()[..]));
        assert!(locked.signs());
        assert_eq!(seed(&locked.unlock_signing(&passphrase()).expect("the passphrase")), seed(&key));
        assert!(matches!(locked.unlock_any(&passphrase()), Ok(Found::Signing(_))));
        let wrong = locked.unlock_signing(&Passphrase::new(b"wrong"));
        assert!(matches!(wrong, Err(KeyError::WrongPassphrase)));
        let other = SigningKey::generate(scheme).expect("a new key").public().fingerprint();
        let text = text.replace(&key.public().fingerprint(), &other);
        let error = read_protected(text.as_bytes()).unlock_signing(&passphrase()).expect_err("another fingerprint");
        assert!(matches!(error, KeyError::Fingerprint { .. }));
    }
}

#[test]
fn the_two_uses_are_kept_apart() {
    let signing = SigningKey::generate(Scheme::Ed25519).expect("a new key");
    let sealing = PrivateKey::generate(Kem::X25519).expect("a new key");
    let locked = key::protected_signing_pem(&signing, &passphrase()).expect("written");
    let error = read_protected(locked.as_bytes()).unlock(&passphrase()).expect_err("it signs");
    assert_eq!(
        (error.to_string(), error.fault()),
        ("PEM block 1: an Ed25519 key signs, and does not seal".into(), Fault::Caller,)
    );
    let locked = key::protected_pem(&sealing, &passphrase()).expect("written");
    assert!(!read_protected(locked.as_bytes()).signs());
    let error = read_protected(locked.as_bytes()).unlock_signing(&passphrase()).expect_err("it seals");
    assert_eq!(error.to_string(), "PEM block 1: an X25519 key seals, and does not sign");
}

/// Tests the examples of RFC 9881, whose seed is 00 01 02 …, and the keys of draft-ietf-lamps-pq-composite-sigs-19.
#[test]
fn keys_of_the_documents() {
    let Some(folder) = vectors::folder("pem") else { return };
    let text = |name: &str| std::fs::read(folder.join(name)).expect("a vector");
    let private = read_signing(&text("ML-DSA-65-seed.priv"));
    assert_eq!((private.scheme(), seed(&private)), (Scheme::MlDsa65, (0..32).collect()));
    assert_eq!(der(&key::signing_pem(&private)), der(&text("ML-DSA-65-seed.priv")));
    assert_eq!(*private.public(), read_verifying(&text("ML-DSA-65.pub")));
    assert_eq!(der(key::verifying_pem(private.public()).as_bytes()), der(&text("ML-DSA-65.pub")));
    for name in ["ML-DSA-87-seed.priv", "ML-DSA-87.pub", "bad-ML-DSA-44-1.priv"] {
        let error = key::read(&text(name)).expect_err(name).to_string();
        assert!(error.contains("an ML-DSA key is not supported"), "{name}: {error}");
    }

    let Some(folder) = vectors::folder("composite") else { return };
    let document = std::fs::read(folder.join("draft19.json")).expect("a vector");
    let document: serde_json::Value = serde_json::from_slice(&document).expect("JSON");
    let bytes = |value: &serde_json::Value| {
        deadpan_base64::STANDARD.decode(value.as_str().expect("a string").as_bytes()).expect("base64")
    };
    for test in document["tests"].as_array().expect("a list") {
        let pkcs8 = bytes(&test["sk_pkcs8"]);
        let key = read_signing(&pem("PRIVATE KEY", &pkcs8));
        assert_eq!((seed(&key), key.public().as_bytes()), (bytes(&test["sk"]), &bytes(&test["pk"])[..]));
        assert_eq!(der(&key::signing_pem(&key)), pkcs8);
    }
}

/// Returns a DER value.
fn wrap(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let inside = parts.concat();
    let length = inside.len() as u16;
    let [high, low] = length.to_be_bytes();
    let head = match length {
        0..128 => vec![tag, low],
        128..256 => vec![tag, 0x81, low],
        _ => vec![tag, 0x82, high, low],
    };
    [head, inside].concat()
}

#[test]
fn the_other_forms_of_ml_dsa() {
    let key = SigningKey::from_seed(Scheme::MlDsa65, &[5; 32]).expect("a seed");
    let other = SigningKey::from_seed(Scheme::MlDsa65, &[6; 32]).expect("a seed");
    let expanded = [&key, &other].map(|key| key.expanded().expect("memory").expect("ML-DSA").to_vec());
    let pkcs8 = |contents: &[u8]| {
        let algorithm = wrap(0x30, &[b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x12"]);
        pem("PRIVATE KEY", &wrap(0x30, &[&[2, 1, 0], &algorithm, &wrap(4, &[contents])]))
    };
    let both = |seed: &[u8], expanded: &[u8]| pkcs8(&wrap(0x30, &[&wrap(4, &[seed]), &wrap(4, &[expanded])]));

    let from_both = read_signing(&both(&[5; 32], &expanded[0]));
    assert_eq!((seed(&from_both), from_both.public()), (vec![5; 32], key.public()));
    let error = key::read(&both(&[5; 32], &expanded[1])).expect_err("two keys").to_string();
    assert!(error.contains("different keys"), "{error}");

    let from_expanded = read_signing(&pkcs8(&wrap(4, &[&expanded[0]])));
    assert_eq!(from_expanded.public(), key.public());
    let signature = from_expanded.sign(b"message").expect("signed");
    assert!(key.public().verify(b"message", &signature).expect("memory"));
    assert_eq!(read_signing(&key::signing_pem(&from_expanded)).public(), key.public());
    // The test changes ρ, tr, s1 and t0 separately; these parts must belong together.
    for place in [0, 64, 128 + 10, 4000] {
        let mut bad = expanded[0].clone();
        bad[place] ^= 1;
        assert!(key::read(&pkcs8(&wrap(4, &[&bad]))).is_err(), "byte {place}");
    }
    for bad in [&expanded[0][1..], &[]] {
        assert!(key::read(&pkcs8(&wrap(4, &[bad]))).is_err());
    }
    assert!(key::read(&pkcs8(&wrap(0x80, &[&[5; 31]]))).is_err());
    assert!(key::read(&pkcs8(&wrap(0x81, &[&[5; 32]]))).is_err());
}

#[test]
fn openssl_both_ways() {
    let Some(text) = openssl::openssl("genpkey -algorithm ED25519", b"") else { return };
    let key = read_signing(&text);
    assert!(*key::signing_pem(&key) == *text, "to the byte");
    let Some(public) = openssl::openssl("pkey -pubout", &text) else { return };
    assert_eq!(key::verifying_pem(key.public()).as_bytes(), &public[..]);
    let Some(locked) = openssl::openssl("pkey -aes256 -passout pass:Geheim", &text) else { return };
    let locked = read_protected(&locked);
    assert!(!locked.signs(), "no comment says so");
    assert_eq!(locked.unlock_signing(&Passphrase::new(b"Geheim")).expect("unlocked").public(), key.public());
    let ours = key::protected_signing_pem(&key, &Passphrase::new(b"Geheim")).expect("written");
    let Some(same) = openssl::openssl("pkey -passin pass:Geheim", ours.as_bytes()) else { return };
    assert!(*same == *text);
    let version = openssl::openssl("version", b"").unwrap_or_default();
    let version = String::from_utf8_lossy(&version).into_owned();
    let number = version.split(' ').nth(1).unwrap_or_default().split('.').map(|part| part.parse().unwrap_or(0));
    if number.collect::<Vec<u32>>() < vec![3, 5] {
        let _ = writeln!(std::io::stderr(), "skipped: ML-DSA with OpenSSL: {} is older than 3.5", version.trim());
        return;
    }
    let Some(text) = openssl::openssl("genpkey -algorithm ML-DSA-65", b"") else { return };
    let key = read_signing(&text);
    let Some(public) = openssl::openssl("pkey -pubout", &key::signing_pem(&key)) else { return };
    assert_eq!(key::verifying_pem(key.public()).as_bytes(), &public[..]);
}

#[test]
fn damaged_lines_of_ssh_are_refused() {
    let line = SigningKey::generate(Scheme::Ed25519).expect("a new key").public().to_line();
    for bad in [
        "ssh-ed25519".to_owned(),
        "ssh-ed25519 ".to_owned(),
        line.replacen("AAAA", "AAAB", 1),
        line[..line.len() - 4].to_owned(),
        line.replacen("ssh-ed25519", "ssh-mldsa-65", 1),
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI me@here".to_owned(),
    ] {
        assert!(key::read(bad.as_bytes()).is_err(), "{bad}");
    }
}
