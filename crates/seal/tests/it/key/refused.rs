//! Tests that the reader refuses damaged keys and keys of other kinds, and that the errors contain the kind.

use std::time::{Duration, Instant};

use super::*;
use deadpan_seal::Fault;

#[track_caller]
fn assert_refused(text: impl AsRef<[u8]>, words: &[&str]) {
    let start = Instant::now();
    let error = key::read(text.as_ref()).expect_err("refused");
    // The limit of one minute only detects work that grows with a number that the key contains. A shorter limit is not
    // possible, because other programs can delay a test for seconds.
    assert!(start.elapsed() < Duration::from_secs(60), "{error}");
    assert_eq!(error.fault(), Fault::Data, "{error}");
    let message = error.to_string();
    assert!(!message.contains('\n'), "{message}");
    for word in words {
        assert!(message.contains(word), "{word:?} in {message:?}");
    }
}

#[test]
fn texts_without_a_key() {
    for text in [
        &b""[..],
        b"\n\n",
        b"# only a comment\n",
        b"hello",
        b"\x00\x01\x02",
        b"----BEGIN PRIVATE KEY----",
        &[0xff; 100],
    ] {
        assert!(matches!(key::read(text), Err(KeyError::Unknown)), "{text:?}");
    }
    assert!(matches!(key::read(&vec![b'#'; (1 << 20) + 1]), Err(KeyError::TooLong)));
    assert!(matches!(key::read(&vec![b'#'; 1 << 20]), Err(KeyError::Unknown)));
}

#[test]
fn old_forms_are_refused_by_name() {
    for (label, words) in [
        ("EC PRIVATE KEY", "an elliptic-curve key from before PKCS#8"),
        ("EC PARAMETERS", "an elliptic-curve key from before PKCS#8"),
        ("RSA PRIVATE KEY", "an RSA key"),
        ("RSA PUBLIC KEY", "an RSA key"),
        ("DSA PRIVATE KEY", "a DSA key"),
        ("CERTIFICATE", "a certificate"),
        ("AGE ENCRYPTED FILE", "a file sealed by age"),
        ("ANYTHING ELSE", "ANYTHING ELSE"),
    ] {
        assert_refused(pem(label, &[0x30, 0]), &["PEM block 1: ", words, "is not supported"]);
    }
    let old = "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00\n\nAAAA\n\
        -----END RSA PRIVATE KEY-----\n";
    assert_refused(old, &["PEM block 1: an RSA key"]);
    let with_header =
        |header: &str| format!("-----BEGIN PRIVATE KEY-----\n{header}\n\nAAAA\n-----END PRIVATE KEY-----\n");
    for header in ["Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-256-CBC,00", "DEK-Info: AES-256-CBC,00", "Comment: none"] {
        assert_refused(with_header(header), &["PEM block 1: ", "headers"]);
    }
    // The body of OpenPGP's armor contains text that is not base64. The label in the armor still shows the kind of key.
    for label in ["PGP PUBLIC KEY BLOCK", "PGP PRIVATE KEY BLOCK"] {
        let armor = format!("-----BEGIN {label}-----\nVersion: GnuPG v2\n\nAAAA\n=AAAA\n-----END {label}-----\n");
        assert_refused(armor, &["PEM block 1: an OpenPGP key"]);
    }
    assert_refused("-----BEGIN PRIVATE KEY-----\nAAAA\n", &["PEM block 1", "END"]);
    assert_refused("-----BEGIN PRIVATE KEY-----\nAA!A\n-----END PRIVATE KEY-----\n", &["PEM block 1", "base64"]);
}

/// Returns a DER value of fewer than 128 bytes.
fn wrap(tag: u8, parts: &[&[u8]]) -> Vec<u8> {
    let inside = parts.concat();
    assert!(inside.len() < 128);
    [&[tag, inside.len() as u8], &inside[..]].concat()
}

/// Returns a private key and a public key of another algorithm.
fn foreign(algorithm: &[u8]) -> [Vec<u8>; 2] {
    let algorithm = wrap(0x30, &[algorithm]);
    let private = wrap(0x30, &[&[2, 1, 0], &algorithm, &wrap(4, &[&[4, 2, 1, 2]])]);
    [pem("PRIVATE KEY", &private), pem("PUBLIC KEY", &wrap(0x30, &[&algorithm, &[3, 3, 0, 1, 2]]))]
}

#[test]
fn other_kinds_are_refused_by_name() {
    let ec = b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01";
    for (algorithm, words) in [
        (b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01\x05\x00".to_vec(), "an RSA key"),
        (b"\x06\x03\x2b\x65\x70\x05\x00".to_vec(), "parameters"),
        (b"\x06\x08\x2b\x06\x01\x05\x05\x07\x06\x25".to_vec(), "a composite ML-DSA key"),
        (b"\x06\x03\x2b\x65\x71".to_vec(), "an Ed448 key"),
        (b"\x06\x03\x2b\x65\x6f".to_vec(), "an X448 key"),
        (b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x03\x11".to_vec(), "an ML-DSA key is not supported"),
        (b"\x06\x09\x60\x86\x48\x01\x65\x03\x04\x04\x01".to_vec(), "an ML-KEM-512 key"),
        (b"\x06\x08\x2b\x06\x01\x05\x05\x07\x06\x3b".to_vec(), "a composite ML-KEM key"),
        (b"\x06\x03\x2a\x03\x04".to_vec(), "1.2.3.4"),
        ([&ec[..], b"\x06\x05\x2b\x81\x04\x00\x22"].concat(), "P-384"),
        ([&ec[..], b"\x06\x05\x2b\x81\x04\x00\x0a"].concat(), "secp256k1"),
        ([&ec[..], b"\x30\x03\x02\x01\x01"].concat(), "written out"),
        ([&ec[..], b"\x05\x00"].concat(), "not named"),
        (b"\x06\x03\x2b\x65\x6e\x05\x00".to_vec(), "parameters"),
    ] {
        for text in foreign(&algorithm) {
            assert_refused(text, &["PEM block 1", words]);
        }
    }
}

#[test]
fn compressed_points_are_refused() {
    let key = PrivateKey::generate(Kem::P256).expect("a new key");
    let mut point = key.public().as_bytes()[..33].to_vec();
    point[0] = 2;
    let algorithm = wrap(0x30, &[b"\x06\x07\x2a\x86\x48\xce\x3d\x02\x01\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"]);
    let spki = wrap(0x30, &[&algorithm, &wrap(3, &[&[0], &point])]);
    assert_refused(pem("PUBLIC KEY", &spki), &["a compressed point"]);
}

const AES_256: &[u8] =
    b"\x30\x1d\x06\x09\x60\x86\x48\x01\x65\x03\x04\x01\x2a\x04\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00";
const SALT: &[u8] = b"\x04\x08saltsalt";

/// Returns an encrypted key with the given key derivation and its parameters.
fn encrypted(kdf: &[u8], parameters: &[&[u8]], cipher: &[u8]) -> Vec<u8> {
    let kdf = wrap(0x30, &[kdf, &wrap(0x30, parameters)]);
    let scheme = wrap(0x30, &[b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0d", &wrap(0x30, &[&kdf, cipher])]);
    let ciphertext = wrap(4, &[&[0; 64]]);
    let inside = [scheme, ciphertext].concat();
    pem("ENCRYPTED PRIVATE KEY", &[&[0x30, 0x81, inside.len() as u8], &inside[..]].concat())
}

fn pbkdf2(parameters: &[&[u8]]) -> Vec<u8> {
    encrypted(b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0c", parameters, AES_256)
}

fn scrypt(n: u64, r: u64, p: u64) -> Vec<u8> {
    let number = |value: u64| {
        let bytes = [&[0][..], &value.to_be_bytes()].concat();
        let zeros = bytes.windows(2).take_while(|pair| pair[0] == 0 && pair[1] < 0x80).count();
        wrap(2, &[&bytes[zeros..]])
    };
    encrypted(b"\x06\x09\x2b\x06\x01\x04\x01\xda\x47\x04\x0b", &[SALT, &number(n), &number(r), &number(p)], AES_256)
}

#[test]
fn costs_above_the_limits_are_refused() {
    assert!(key::read(&pbkdf2(&[SALT, b"\x02\x04\x00\x98\x96\x80"])).is_ok(), "10 million");
    assert_refused(pbkdf2(&[SALT, b"\x02\x04\x00\x98\x96\x81"]), &["more than is allowed", "10 million"]);
    assert_refused(pbkdf2(&[SALT, b"\x02\x09\x01\x00\x00\x00\x00\x00\x00\x00\x00"]), &["64 bits"]);
    assert_refused(pbkdf2(&[SALT, b"\x02\x01\x00"]), &["no iterations"]);
    assert_refused(pbkdf2(&[SALT, b"\x02\x01\xff"]), &["negative"]);
    assert_refused(pbkdf2(&[SALT, b"\x02\x01\x01", b"\x02\x01\x10"]), &["length of its key"]);
    assert!(key::read(&pbkdf2(&[SALT, b"\x02\x01\x01", b"\x02\x01\x20"])).is_ok());

    for (n, r, p) in [(1 << 14, 8, 1), (1 << 20, 8, 1), (1 << 17, 8, 16), (2, 1, 1 << 17)] {
        assert!(key::read(&scrypt(n, r, p)).is_ok(), "{n} {r} {p}");
    }
    for (n, r, p) in [
        (1 << 21, 8, 1),
        (1 << 20, 9, 1),
        (2, 1 << 22, 1),
        (1 << 62, 1 << 62, 1 << 62),
        (2, 1, 1 << 18),
        (2, u64::MAX, 1),
    ] {
        assert_refused(scrypt(n, r, p), &["more than is allowed", "scrypt"]);
    }
    assert_refused(scrypt(1 << 20, 8, 4), &["N * r * p"]);
    for (n, r, p) in [(0, 8, 1), (1, 8, 1), (3, 8, 1), (16, 0, 1), (16, 8, 0), (1 << 16, 1, 1)] {
        assert_refused(scrypt(n, r, p), &["not valid"]);
    }
}

#[test]
fn other_encryption_is_refused_by_name() {
    // The algorithms are pbeWithSHA1And3-KeyTripleDES-CBC of PKCS#12, DES-EDE3-CBC and hmacWithSHA224.
    let old = wrap(
        0x30,
        &[
            &wrap(0x30, &[b"\x06\x0a\x2a\x86\x48\x86\xf7\x0d\x01\x0c\x01\x03", &wrap(0x30, &[SALT, &[2, 1, 1]])]),
            &wrap(4, &[&[0; 16]]),
        ],
    );
    assert_refused(pem("ENCRYPTED PRIVATE KEY", &old), &["1.2.840.113549.1.12.1.3"]);
    let des = b"\x30\x14\x06\x08\x2a\x86\x48\x86\xf7\x0d\x03\x07\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00";
    let kdf = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x05\x0c";
    assert_refused(encrypted(kdf, &[SALT, &[2, 1, 1]], des), &["1.2.840.113549.3.7"]);
    let prf = b"\x30\x0c\x06\x08\x2a\x86\x48\x86\xf7\x0d\x02\x08\x05\x00";
    assert_refused(pbkdf2(&[SALT, &[2, 1, 1], prf]), &["1.2.840.113549.2.8"]);
}
