//! Tests keys from standards and from other programs.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::*;

/// Returns a folder of vectors. If the folder does not exist, prints a note and returns `None`.
pub fn folder(name: &str) -> Option<PathBuf> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors")).join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    // The test harness hides what `eprintln!` prints, so this code writes directly to standard error.
    let _ = writeln!(std::io::stderr(), "skipped: no vectors at {}", folder.display());
    None
}

/// Returns the files of the folder `pem`, or no files if this folder does not exist.
fn files() -> Vec<(String, Vec<u8>)> {
    let Some(folder) = folder("pem") else { return Vec::new() };
    let paths = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    paths
        .map(|path| {
            (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), std::fs::read(path).expect("a file"))
        })
        .collect()
}

#[test]
fn every_file_is_read_as_its_name_says() {
    let counting: Vec<u8> = (0..64).collect();
    for (name, text) in files() {
        let kem = if name.contains("768") { Kem::MlKem768 } else { Kem::MlKem1024 };
        match name.as_str() {
            _ if name.starts_with("bad-") => assert!(key::read(&text).is_err(), "{name}"),
            // The tests in `signing` read the ML-DSA keys.
            _ if name.starts_with("ML-DSA") => {}
            _ if name.ends_with(".pub") => assert_eq!(read_public(&text).kem(), kem, "{name}"),
            _ if name.contains("expanded") => {
                let key = read_private(&text);
                let (is_seed, expanded) = material(&key);
                assert!(key.kem() == kem && !is_seed && expanded.len() == 2400, "{name}");
                // The writer writes a key with a known seed as a seed.
                assert!(*key::private_pem(&key) == *text, "{name}");
            }
            _ => {
                let key = read_private(&text);
                assert_eq!((key.kem(), material(&key)), (kem, (true, counting.clone())), "{name}");
                assert!(name.contains("both") || *key::private_pem(&key) == *text, "{name}");
            }
        }
    }
}

#[test]
fn all_forms_of_one_key_are_equal() {
    let files = files();
    let named = |name: &str| files.iter().find(|file| file.0 == name).map(|file| &file.1);
    for (kem, size) in [(Kem::MlKem768, 768), (Kem::MlKem1024, 1024)] {
        let Some(public) = named(&format!("ML-KEM-{size}.pub")) else { return };
        for form in ["seed", "expanded", "both"] {
            let Some(private) = named(&format!("ML-KEM-{size}-{form}.priv")) else { continue };
            let key = read_private(private);
            assert_eq!(key.kem(), kem);
            assert!(*key.public() == read_public(public));
            assert_eq!(key::public_pem(key.public()).as_bytes(), &public[..]);
            let back = read_protected(key::protected_pem(&key, &passphrase()).expect("written").as_bytes());
            assert_same(&back.unlock(&passphrase()).expect("the right passphrase"), &key);
        }
    }
}

#[test]
fn a_seed_beside_another_key_is_refused() {
    for (name, text) in files() {
        if !name.contains("-both") || name.starts_with("bad-") {
            continue;
        }
        let good = der(&text);
        // The seed (d, then z) precedes the expanded key. The expanded key consists of the secret vector, the
        // encapsulation key, its hash and z.
        let start = good.len() - if name.contains("768") { 2400 } else { 3168 };
        let seed = start - 64 - 4;
        for place in [seed, seed + 40, start, start + 700, good.len() - 1200, good.len() - 50, good.len() - 1] {
            let mut bad = good.clone();
            bad[place] ^= 1;
            assert!(key::read(&pem("PRIVATE KEY", &bad)).is_err(), "{name}, byte {place}");
        }
    }
}

/// Tests the key of draft-connolly-cfrg-xwing-kem, appendix D, whose seed is 00 01 02 …
#[test]
fn the_x_wing_draft() {
    let text = "-----BEGIN PRIVATE KEY-----\n\
                MDQCAQAwDQYLKwYBBAGD5i2ByHoEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZ\n\
                GhscHR4f\n\
                -----END PRIVATE KEY-----\n";
    let key = read_private(text.as_bytes());
    assert_eq!((key.kem(), material(&key)), (Kem::XWing, (true, (0..32).collect())));
    assert_eq!(&*key::private_pem(&key), text.as_bytes());
    let public = key::public_pem(key.public());
    assert_eq!(public.lines().nth(1), Some("MIIE1DANBgsrBgEEAYPmLYHIegOCBMEAb1QJigoOZBFGYUtpYLpg2GA9YvRH+atJ"));
}

/// Tests the forms of RFC 8410, section 7. OpenSSL computed the public key.
#[test]
fn x25519_with_and_without_the_public_key() {
    let scalar = [7; 32];
    let public: [u8; 32] = *b"\x13\xbe\x4f\xea\xea\xf2\x04\xc7\xfd\x33\x58\xfc\x9c\x00\x72\x18\x81\xd1\x74\x27\x81\x28\x22\x7e\xc6\x74\xf3\x7f\x7f\xe9\x7b\x6d";
    let mut v1 = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x6e\x04\x22\x04\x20".to_vec();
    v1.extend(scalar);
    let key = read_private(&pem("PRIVATE KEY", &v1));
    assert_eq!(key.public().as_bytes(), public);
    assert_eq!(der(&key::private_pem(&key)), v1);

    let with_public = |version: u8, public: &[u8]| {
        let mut v2 = v1.clone();
        v2[1] += 2 + 33;
        v2[4] = version;
        v2.extend(b"\x81\x21\x00");
        v2.extend(public);
        key::read(&pem("PRIVATE KEY", &v2))
    };
    assert!(with_public(1, &public).is_ok());
    assert!(with_public(0, &public).is_err(), "version 1 has no public key");
    assert!(with_public(2, &public).is_err(), "no such version");
    let error = with_public(1, &scalar).expect_err("another public key").to_string();
    assert!(error.contains("belongs to another private key"), "{error}");

    // The reader ignores attributes. The attribute in this test is friendlyName (1.2.840.113549.1.9.20) = "k", in the
    // form that PKCS#12 tools write.
    let attribute = b"\xa0\x13\x30\x11\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x09\x14\x31\x04\x1e\x02\x00\x6b";
    let mut with_attribute = v1.clone();
    with_attribute[1] += attribute.len() as u8;
    with_attribute.extend(attribute);
    assert_same(&read_private(&pem("PRIVATE KEY", &with_attribute)), &key);
}

/// The fingerprint of a key must never change, because users compare it with a printed fingerprint. For OpenSSL's DER,
/// `sha256sum` and `base32` give the same fingerprint as in this test.
#[test]
fn fingerprints_do_not_change() {
    let key = PrivateKey::from_seed(Kem::X25519, &[7; 32]).expect("a scalar");
    let name = key::fingerprint(key.public());
    assert_eq!(name, "u2gm-tmgq-umgn-gy7u-dcn3-ahqj-g4");
}
