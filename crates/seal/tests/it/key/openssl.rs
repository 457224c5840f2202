//! Tests that OpenSSL reads the keys of this crate, and that this crate reads the keys of OpenSSL.

use std::io::Write as _;
use std::process::{Command, Stdio};

use super::*;

/// Runs `openssl`. If `openssl` is missing, prints a note and returns `None`.
pub fn openssl(arguments: &str, input: &[u8]) -> Option<Vec<u8>> {
    let mut command = Command::new("openssl");
    command.args(arguments.split(' ')).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            // The test harness hides what `eprintln!` prints, so this code writes directly to standard error.
            let _ = writeln!(std::io::stderr(), "skipped: openssl is not installed ({error})");
            return None;
        }
    };
    child.stdin.take().expect("a pipe").write_all(input).ok();
    let output = child.wait_with_output().expect("an end");
    assert!(output.status.success(), "openssl {arguments}: {}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

const KINDS: [(Kem, &str); 2] =
    [(Kem::X25519, "-algorithm X25519"), (Kem::P256, "-algorithm EC -pkeyopt ec_paramgen_curve:P-256")];

#[test]
fn plain_keys_of_openssl_are_read() {
    for (kem, kind) in KINDS {
        let Some(text) = openssl(&format!("genpkey {kind}"), b"") else { return };
        let key = read_private(&text);
        assert_eq!(key.kem(), kem);
        let Some(public) = openssl("pkey -pubout", &text) else { return };
        assert!(read_public(&public) == *key.public());
        assert_eq!(key::public_pem(key.public()).as_bytes(), &public[..]);
        assert!(*key::private_pem(&key) == *text, "to the byte");
    }
}

#[test]
fn protected_keys_of_openssl_are_read() {
    for (_, kind) in KINDS {
        let Some(plain) = openssl(&format!("genpkey {kind}"), b"") else { return };
        for protect in [
            "pkey -aes256 -passout pass:Geheim",
            "pkcs8 -topk8 -scrypt -passout pass:Geheim",
            "pkcs8 -topk8 -scrypt -scrypt_N 16384 -scrypt_r 15 -scrypt_p 3 -passout pass:Geheim",
            "pkcs8 -topk8 -v2prf hmacWithSHA512 -passout pass:Geheim",
            "pkcs8 -topk8 -v2prf hmacWithSHA384 -passout pass:Geheim",
            "pkcs8 -topk8 -v2prf hmacWithSHA1 -passout pass:Geheim",
            "pkcs8 -topk8 -v2 aes-128-cbc -passout pass:Geheim",
            "pkcs8 -topk8 -v2 aes-192-cbc -iter 100000 -passout pass:Geheim",
        ] {
            let Some(text) = openssl(protect, &plain) else { return };
            let protected = read_protected(&text);
            let key =
                protected.unlock(&Passphrase::new(b"Geheim")).unwrap_or_else(|error| panic!("{protect}: {error}"));
            assert_same(&key, &read_private(&plain));
            let wrong = protected.unlock(&Passphrase::new(b"geheim"));
            assert!(matches!(wrong, Err(KeyError::WrongPassphrase)), "{protect}");
        }
        let Some(old) = openssl("pkcs8 -topk8 -v1 PBE-SHA1-3DES -passout pass:Geheim", &plain) else { return };
        let error = key::read(&old).expect_err("PKCS#12's encryption").to_string();
        assert!(error.contains("1.2.840.113549.1.12.1.3"), "{error}");
    }
}

#[test]
fn openssl_reads_our_keys() {
    for (kem, _) in KINDS {
        let key = PrivateKey::generate(kem).expect("a new key");
        let text = key::private_pem(&key);
        let Some(same) = openssl("pkey", &text) else { return };
        assert!(*same == *text, "{kem:?}");
        let protected = key::protected_pem(&key, &Passphrase::new(b"Geheim")).expect("written");
        let Some(same) = openssl("pkey -passin pass:Geheim", protected.as_bytes()) else { return };
        assert!(*same == *text, "{kem:?}, protected");
        let Some(parsed) = openssl("asn1parse", protected.as_bytes()) else { return };
        assert!(String::from_utf8_lossy(&parsed).contains("scrypt"));
        let Some(public) = openssl("pkey -pubout", &text) else { return };
        assert_eq!(key::public_pem(key.public()).as_bytes(), &public[..]);
    }
}

#[test]
fn other_kinds_of_openssl_keys_are_refused_by_name() {
    for (kind, words) in [
        ("-algorithm ED448", "an Ed448 key"),
        ("-algorithm X448", "an X448 key"),
        ("-algorithm RSA -pkeyopt rsa_keygen_bits:1024", "an RSA key"),
        ("-algorithm EC -pkeyopt ec_paramgen_curve:P-384", "the curve P-384"),
        (
            "-algorithm EC -pkeyopt ec_paramgen_curve:P-256 -pkeyopt ec_param_enc:explicit",
            "a curve written out as parameters",
        ),
    ] {
        let Some(text) = openssl(&format!("genpkey {kind}"), b"") else { return };
        let error = key::read(&text).expect_err(kind).to_string();
        assert!(error.contains(words), "{error}");
        // A signing key gives the same error if it is protected, because it is valid but cannot be used for sealing.
        let Some(text) = openssl("pkcs8 -topk8 -passout pass:Geheim", &text) else { return };
        let error = read_protected(&text).unlock(&Passphrase::new(b"Geheim")).expect_err(kind).to_string();
        assert!(error.contains(words), "{error}");
    }
}

#[test]
fn a_compressed_public_key_is_refused_and_the_advised_conversion_works() {
    let Some(private) = openssl("genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256", b"") else { return };
    let Some(public) = openssl("ec -conv_form compressed -pubout", &private) else { return };
    assert!(key::read(&public).expect_err("compressed").to_string().contains("a compressed point"));
    let Some(public) = openssl("ec -pubin -conv_form uncompressed -pubout", &public) else { return };
    assert!(read_public(&public) == *read_private(&private).public());
    // `openssl ecparam -genkey` writes keys in the SEC 1 format, too.
    let Some(old) = openssl("ec", &private) else { return };
    assert!(key::read(&old).expect_err("before PKCS#8").to_string().contains("from before PKCS#8"));
    let Some(new) = openssl("pkcs8 -topk8 -nocrypt", &old) else { return };
    assert_same(&read_private(&new), &read_private(&private));
}
