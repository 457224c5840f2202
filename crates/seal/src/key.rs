//! Keys on disk and on the command line: PKCS#8 and SPKI in PEM, age's identities and recipients.
//!
//! `docs/format-keys.md` says what is read and written, to the last object identifier.
//!
//! ```
//! use deadpan_seal::{Kem, Passphrase, PrivateKey, key};
//!
//! let new = PrivateKey::generate(Kem::XWing)?;
//! let text = key::protected_pem(&new, &Passphrase::new(b"correct horse"))?;
//! let [key::Found::Protected(sealed)] = &key::read(text.as_bytes())?[..] else { panic!("one protected key") };
//! let back = sealed.unlock(&Passphrase::new(b"correct horse"))?;
//! assert_eq!(key::fingerprint(back.public()), key::fingerprint(new.public()));
//! # Ok::<(), deadpan_seal::Error>(())
//! ```

mod age;
mod algorithm;
mod bech32;
mod cipher;
mod der;
mod error;
mod fingerprint;
mod kdf;
mod pbes2;
mod pkcs8;
mod spki;

pub use error::{KeyError, Place};

use crate::{Passphrase, PrivateKey, PublicKey, Secret};
use deadpan_base64::pem;
use deadpan_ct::Wiped;
use error::Trouble;
use std::fmt;

/// Protected keys in one text: each may cost seconds for one passphrase.
const MOST_PROTECTED: usize = 16;
/// More than any key file has a use for.
const MAX_LEN: usize = 1 << 20;
/// What some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = &[0xef, 0xbb, 0xbf];

const PRIVATE: &str = "PRIVATE KEY";
const PROTECTED: &str = "ENCRYPTED PRIVATE KEY";
const PUBLIC: &str = "PUBLIC KEY";

/// What a text holds.
#[derive(Debug)]
pub enum Found {
    /// A private key, ready for use.
    Private(PrivateKey),
    /// A private key behind a passphrase.
    Protected(ProtectedKey),
    /// A public key.
    Public(PublicKey),
}

/// A private key behind a passphrase.
pub struct ProtectedKey {
    sealed: pbes2::Sealed,
    place: Place,
}

impl fmt::Debug for ProtectedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProtectedKey({})", self.place)
    }
}

impl ProtectedKey {
    /// Removes the protection. This takes as long as the file says, within the ceilings that [`read`] has checked.
    ///
    /// May leak: the length of the passphrase and of the key, whether they fit, and then what kind of key it is. If the file asks for scrypt,
    /// whose memory accesses depend on the passphrase, something of that to whoever shares the processor's caches.
    ///
    /// # Errors
    /// [`KeyError::WrongPassphrase`], which is also what damage gives; [`KeyError::Unsupported`] if the key inside is no key for sealing.
    pub fn unlock(&self, passphrase: &Passphrase) -> Result<PrivateKey, KeyError> {
        self.sealed.open(passphrase).map_err(|trouble| trouble.at(self.place))
    }
}

/// All keys in a text, in order: PEM blocks (`PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`, `PUBLIC KEY`), or lines of age identities and
/// recipients with `#` comments.
///
/// May leak: lengths, labels, where lines end, which kinds of keys there are and in which form, public keys, and whether all are valid.
///
/// # Errors
/// If there is none, or one of them is not valid.
pub fn read(text: &[u8]) -> Result<Vec<Found>, KeyError> {
    if text.len() > MAX_LEN {
        return Err(KeyError::TooLong);
    }
    let text = if age::starts_with(text, BYTE_ORDER_MARK) { &text[BYTE_ORDER_MARK.len()..] } else { text };
    let mut found = Vec::new();
    for (number, document) in (1..).zip(pem::documents(text)) {
        let place = Place::Block(number);
        let document = document.map_err(|error| match error {
            pem::Error::Body => KeyError::Malformed { place, what: "its base64 is not valid" },
            error => KeyError::Armour { place, error },
        })?;
        found.push(block(&document, place).map_err(|trouble| trouble.at(place))?);
        if found.iter().filter(|found| matches!(found, Found::Protected(_))).count() > MOST_PROTECTED {
            return Err(KeyError::Limit { place, what: "one passphrase for each of so many protected keys" });
        }
    }
    if found.is_empty() {
        return age::read(text);
    }
    // Base64 has no hyphens, so this is no part of a block.
    if age::lines(text).any(|line| age::starts_with(line, age::IDENTITY)) {
        return Err(KeyError::Mixed);
    }
    Ok(found)
}

/// The key in a PEM block.
fn block(document: &pem::Document<'_>, place: Place) -> Result<Found, Trouble> {
    match document.label {
        PRIVATE => pkcs8::decode(&document.contents).map(Found::Private),
        PROTECTED => pbes2::Sealed::decode(&document.contents).map(|sealed| Found::Protected(ProtectedKey { sealed, place })),
        PUBLIC => spki::decode(&document.contents).map(Found::Public),
        other => Err(foreign(other)),
    }
}

/// Blocks that are something else by their label: what, and what to do.
fn foreign(label: &str) -> Trouble {
    const CONVERT: &str = "convert it with `openssl pkcs8 -topk8`, if the curve is P-256";
    const MAKE_ANOTHER: &str = "make a key for sealing with Deadpan";
    let (name, hint) = match label {
        "EC PRIVATE KEY" | "EC PARAMETERS" => ("an elliptic-curve key from before PKCS#8", CONVERT),
        "RSA PRIVATE KEY" | "RSA PUBLIC KEY" => ("an RSA key", MAKE_ANOTHER),
        "DSA PRIVATE KEY" => ("a DSA key", MAKE_ANOTHER),
        "OPENSSH PRIVATE KEY" | "SSH2 PUBLIC KEY" => ("an SSH key", MAKE_ANOTHER),
        "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE" => {
            ("a certificate", "take its key with `openssl x509 -pubkey -noout`, once you have checked whose it is")
        }
        "AGE ENCRYPTED FILE" => ("a file sealed by age (perhaps an identity file with a passphrase)", "open it first with `age -d`"),
        "PGP PRIVATE KEY BLOCK" | "PGP PUBLIC KEY BLOCK" => ("an OpenPGP key", MAKE_ANOTHER),
        _ => return Trouble::unsupported(format!("a PEM block {label:?}"), "a key is a PRIVATE KEY, ENCRYPTED PRIVATE KEY or PUBLIC KEY"),
    };
    Trouble::unsupported(name, hint)
}

/// A public key as SPKI in PEM.
#[must_use]
pub fn public_pem(key: &PublicKey) -> String {
    armoured(PUBLIC, &spki::encode(key))
}

/// A private key as PKCS#8 in PEM, unprotected. May leak: its kind, and whether it is known by its seed.
#[must_use]
pub fn private_pem(key: &PrivateKey) -> Secret {
    let text = Wiped::new(armoured(PRIVATE, &pkcs8::encode(key)).into_bytes());
    Secret::copy_of(&text)
}

/// A private key as encrypted PKCS#8 in PEM (PBES2). May leak: its kind, whether it is known by its seed, and the passphrase's length.
///
/// # Errors
/// If the system fails.
pub fn protected_pem(key: &PrivateKey, passphrase: &Passphrase) -> Result<String, crate::Error> {
    Ok(armoured(PROTECTED, &pbes2::Sealed::seal(key, passphrase)?.encode()))
}

/// One PEM block. The labels above are what the RFC allows.
fn armoured(label: &str, contents: &[u8]) -> String {
    pem::encode(label, contents).unwrap_or_default()
}

/// The age recipient of a public key, where age knows its kind (X25519: `age1…`, X-Wing: `age1pq1…`).
#[must_use]
pub fn age_recipient(key: &PublicKey) -> Option<String> {
    age::recipient(key)
}

/// The age identity of a private key, where age knows its kind. May leak: its kind.
#[must_use]
pub fn age_identity(key: &PrivateKey) -> Option<Secret> {
    age::identity(key)
}

/// A short name for a public key that people can compare: the first 128 bits of SHA-256 over the SPKI form, in groups of base32 letters.
#[must_use]
pub fn fingerprint(key: &PublicKey) -> String {
    fingerprint::of(key)
}
