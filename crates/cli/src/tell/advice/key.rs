//! Advice for key files that cannot be read.

use deadpan_base64::pem;
use deadpan_seal::key::{KeyError, Unsupported};

/// Advice for a wrong passphrase.
pub const PASSPHRASE: &str = "passphrases are case-sensitive; check the keyboard's layout";

pub fn advise(error: &KeyError) -> Option<&'static str> {
    Some(match error {
        KeyError::Unknown => "a key is a PEM file (PKCS#8 or SPKI), or an age identity or recipient",
        KeyError::TooLong => "check that it is the right file",
        KeyError::NotAKey { .. } => {
            "keys are PEM blocks, and lines with an age identity or recipient; a comment begins with #"
        }
        KeyError::Crowded { .. } => "write each key and each comment in a line of its own; a comment begins with #",
        KeyError::Armor { error, .. } => armor(*error),
        KeyError::Malformed { .. } => "the key is damaged, or its writer had a fault; get another copy",
        KeyError::Unsupported { what, .. } => unsupported(what),
        KeyError::Use { signs: true, .. } => {
            "ask its owner for a key that seals; one of your own comes from: deadpan keygen"
        }
        KeyError::Use { .. } => "ask its owner for a key that signs; one of your own comes from: deadpan keygen --sign",
        KeyError::Fingerprint { .. } => "find out who changed the file; the key works again without that comment",
        KeyError::Limit { .. } => "the file is damaged or hostile; nothing was computed",
        KeyError::WrongPassphrase => PASSPHRASE,
        KeyError::System(_) => "a key protected with scrypt may need 1 GiB of memory",
        _ => return None,
    })
}

fn armor(error: pem::Error) -> &'static str {
    match error {
        pem::Error::Missing => "a block starts with a line like -----BEGIN PRIVATE KEY-----",
        pem::Error::Begin => "the line is -----BEGIN, a label and -----, and nothing else",
        pem::Error::End => "the file may be cut short",
        pem::Error::Headers => "convert the key with `openssl pkcs8 -topk8`",
        _ => "the key is damaged; get another copy",
    }
}

fn unsupported(what: &Unsupported) -> &'static str {
    match what {
        Unsupported::Signing(_) => "the key is for signing, not for sealing; ask its owner for one that seals",
        Unsupported::MlKem512 => "use ML-KEM-768, ML-KEM-1024 or a hybrid key",
        Unsupported::CompositeMlKem => "use an X-Wing key, which is hybrid too",
        Unsupported::Sec1 => "convert it with `openssl pkcs8 -topk8`, if the curve is P-256",
        Unsupported::WrittenOutCurve => {
            "convert it with `openssl pkey -ec_param_enc named_curve`, if the curve is P-256"
        }
        Unsupported::CompressedPoint => "convert it with `openssl ec -pubin -conv_form uncompressed -pubout`",
        Unsupported::Encryption(_) => "convert it with `openssl pkcs8 -topk8 -v2 aes-256-cbc -v2prf hmacWithSHA256`",
        Unsupported::OpensshCipher(_) => "change its cipher with: ssh-keygen -p -Z aes256-ctr -f FILE",
        Unsupported::Certificate => {
            "check whose certificate it is, then extract its key with `openssl x509 -pubkey -noout`"
        }
        Unsupported::Block(_) => "a key is a PRIVATE KEY, ENCRYPTED PRIVATE KEY or PUBLIC KEY",
        Unsupported::AgeFile => "open it first with `age -d`",
        Unsupported::AgeIdentity => "a newer deadpan may read it",
        _ => "make a key for sealing with: deadpan keygen",
    }
}
