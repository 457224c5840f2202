//! Keys for sealing and for signing, in files and on the command line: PKCS#8 and SPKI in PEM, age's identities and
//! recipients, private keys and public lines of OpenSSH.
//!
//! `docs/format-keys.md` specifies everything that this module reads and writes, including each object identifier.
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
pub(crate) mod bech32;
mod cipher;
mod der;
mod error;
mod fingerprint;
mod kdf;
pub(crate) mod max_cost;
pub mod openssh;
pub(crate) mod passphrase;
mod pbes2;
mod pkcs8;
pub(crate) mod plugin;
#[doc(hidden)]
pub mod sign;
mod spki;
mod ssh;
mod text;
mod unsupported;

pub use error::{KeyError, Place};
pub use plugin::{PluginIdentity, PluginRecipient};
pub use unsupported::Unsupported;

pub(crate) use fingerprint::from_digest as fingerprint_from_digest;

use std::fmt;

use crate::key::sign::{SigningKey, VerifyingKey};
use crate::{Passphrase, PrivateKey, PublicKey, Secret};
use deadpan_base64::pem;
use deadpan_ct::Wiped;
use error::Trouble;

const PRIVATE: &str = "PRIVATE KEY";
const PROTECTED: &str = "ENCRYPTED PRIVATE KEY";
const PUBLIC: &str = "PUBLIC KEY";

/// A key that [`read`] found in a text.
#[derive(Debug)]
pub enum Found {
    /// A private key, ready for use.
    Private(PrivateKey),
    /// A private key that is protected by a passphrase.
    Protected(ProtectedKey),
    /// A public key.
    Public(PublicKey),
    /// A public SSH key to which age files can be sealed. This crate does not use the key in this variant to verify
    /// signatures.
    Ssh(openssh::SshPublic),
    /// A private key file of OpenSSH, which may be protected by a passphrase.
    OpenSsh(openssh::PrivateFile),
    /// A recipient of one of age's plugins.
    PluginRecipient(PluginRecipient),
    /// An identity of one of age's plugins.
    PluginIdentity(PluginIdentity),
    /// A private key that signs.
    Signing(SigningKey),
    /// A public key that verifies signatures.
    Verifying(VerifyingKey),
}

impl From<pkcs8::Private> for Found {
    fn from(key: pkcs8::Private) -> Self {
        match key {
            pkcs8::Private::Sealing(key) => Self::Private(key),
            pkcs8::Private::Signing(key) => Self::Signing(key),
        }
    }
}

impl From<spki::Public> for Found {
    fn from(key: spki::Public) -> Self {
        match key {
            spki::Public::Sealing(key) => Self::Public(key),
            spki::Public::Signing(key) => Self::Verifying(key),
        }
    }
}

/// A private key that is protected by a passphrase.
pub struct ProtectedKey {
    sealed: pbes2::Sealed,
    place: Place,
    fingerprint: Option<String>,
    signs: bool,
}

impl fmt::Debug for ProtectedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProtectedKey({})", self.place)
    }
}

impl ProtectedKey {
    /// Returns the number of the PEM block or of the line that contains the key.
    #[must_use]
    pub fn place(&self) -> Place {
        self.place
    }

    /// Returns the fingerprint of the public key, if a comment before the key contains it. Nothing authenticates the
    /// comment before the key is unlocked.
    #[must_use]
    pub fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// Returns whether a comment before the key states that the key is for signing. The kind of the key is certain only
    /// when the key is unlocked.
    #[must_use]
    pub fn signs(&self) -> bool {
        self.signs
    }

    /// Decrypts a key that seals. The key file determines the cost of trying one passphrase, up to the limits that
    /// [`read`] has checked. This method tries each Unicode form of the passphrase: as typed, NFC and NFD, if these
    /// forms differ.
    ///
    /// May leak: the lengths of the passphrase and of the key, whether the passphrase is right, and, if it is right,
    /// the kind of the key. A key file may require scrypt, whose memory accesses depend on the passphrase. These
    /// accesses may leak information about the passphrase to programs that share the processor's caches.
    ///
    /// # Errors
    /// [`KeyError::WrongPassphrase`] if the passphrase is wrong or the file is damaged: this method cannot distinguish
    /// the two cases. [`KeyError::Use`] or [`KeyError::Unsupported`] if the decrypted key cannot seal.
    /// [`KeyError::Fingerprint`] if the fingerprint of the key differs from the comment before the key.
    pub fn unlock(&self, passphrase: &Passphrase) -> Result<PrivateKey, KeyError> {
        match self.open(passphrase)? {
            pkcs8::Private::Sealing(key) => Ok(key),
            pkcs8::Private::Signing(key) => Err(signs(self.place, key.public())),
        }
    }

    /// Decrypts a signing key, under the same conditions as [`ProtectedKey::unlock`].
    ///
    /// # Errors
    /// The errors of [`ProtectedKey::unlock`]; [`KeyError::Use`] if the decrypted key is for sealing.
    pub fn unlock_signing(&self, passphrase: &Passphrase) -> Result<SigningKey, KeyError> {
        match self.open(passphrase)? {
            pkcs8::Private::Signing(key) => Ok(key),
            pkcs8::Private::Sealing(key) => Err(seals(self.place, key.public())),
        }
    }

    /// Decrypts a key of either use. Returns [`Found::Private`] or [`Found::Signing`], under the same conditions as
    /// [`ProtectedKey::unlock`].
    ///
    /// # Errors
    /// The errors of [`ProtectedKey::unlock`], except [`KeyError::Use`].
    pub fn unlock_any(&self, passphrase: &Passphrase) -> Result<Found, KeyError> {
        self.open(passphrase).map(Found::from)
    }

    fn open(&self, passphrase: &Passphrase) -> Result<pkcs8::Private, KeyError> {
        let key = self.sealed.open(passphrase).map_err(|trouble| trouble.at(self.place))?;
        let is = match &key {
            pkcs8::Private::Sealing(key) => fingerprint::for_key(key.public()),
            pkcs8::Private::Signing(key) => fingerprint::for_signing_key(key.public()),
        };
        match &self.fingerprint {
            Some(said) if *said != is => Err(KeyError::Fingerprint { place: self.place }),
            _ => Ok(key),
        }
    }
}

/// Returns the error for a signing key that is used where a sealing key is necessary.
#[must_use]
pub fn signs(place: Place, key: &VerifyingKey) -> KeyError {
    KeyError::Use { place, kind: format!("an {} key", key.scheme().name()), signs: true }
}

/// Returns the error for a sealing key that is used where a signing key is necessary.
#[must_use]
pub fn seals(place: Place, key: &PublicKey) -> KeyError {
    let article = if key.kem() == crate::Kem::P256 { "a" } else { "an" };
    KeyError::Use { place, kind: format!("{article} {} key", key.kem().name()), signs: false }
}

/// Returns all keys of a text, in order: PEM blocks (`PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`, `PUBLIC KEY`,
/// `OPENSSH PRIVATE KEY`) and lines with an age identity or recipient or a public key of SSH, in any order. Empty lines
/// and lines that begin with `#` are skipped.
///
/// May leak: lengths, labels, the ends of lines, the kinds and forms of the keys, public keys, and whether all keys are
/// valid.
///
/// # Errors
/// If there is no key, if a key is not valid, or if a line contains anything else.
pub fn read(text: &[u8]) -> Result<Vec<Found>, KeyError> {
    text::read(text)
}

/// Returns the error for a PEM block whose label the reader does not support.
fn foreign(label: &str) -> Trouble {
    let what = match label {
        "EC PRIVATE KEY" | "EC PARAMETERS" => Unsupported::Sec1,
        "RSA PRIVATE KEY" | "RSA PUBLIC KEY" => Unsupported::Kind("an RSA key".into()),
        "DSA PRIVATE KEY" => Unsupported::Signing("a DSA key"),
        "SSH2 PUBLIC KEY" => Unsupported::Signing("an SSH key"),
        "CERTIFICATE" | "X509 CERTIFICATE" | "TRUSTED CERTIFICATE" => Unsupported::Certificate,
        "AGE ENCRYPTED FILE" => Unsupported::AgeFile,
        "PGP PRIVATE KEY BLOCK" | "PGP PUBLIC KEY BLOCK" => Unsupported::Kind("an OpenPGP key".into()),
        _ => Unsupported::Block(label.to_owned()),
    };
    what.into()
}

/// Returns a public key as SPKI in PEM.
#[must_use]
pub fn public_pem(key: &PublicKey) -> String {
    armored(PUBLIC, &spki::encode(key))
}

/// Returns a public key as SPKI in DER.
#[must_use]
pub fn public_der(key: &PublicKey) -> Vec<u8> {
    spki::encode(key)
}

/// Returns a private key as PKCS#8 in PEM, without protection. May leak: the kind of the key, and whether its seed is
/// known.
#[must_use]
pub fn private_pem(key: &PrivateKey) -> Secret {
    let text = Wiped::new(armored(PRIVATE, &pkcs8::encode(key)).into_bytes());
    Secret::copy_of(&text)
}

/// Returns a private key as encrypted PKCS#8 in PEM (PBES2), after a comment with its fingerprint. The encryption uses
/// the Unicode NFC form of the passphrase. May leak: the kind of the key, its public key, whether its seed is known,
/// and the length of the passphrase.
///
/// # Errors
/// If the system fails.
pub fn protected_pem(key: &PrivateKey, passphrase: &Passphrase) -> Result<String, crate::Error> {
    let block = armored(PROTECTED, &pbes2::Sealed::seal(&pkcs8::encode(key), passphrase)?.encode());
    Ok(fingerprint::comment(key.public()) + &block)
}

/// Returns a verifying key as SPKI in PEM. A key in hardware has no SPKI form, so this function returns its public key
/// line of SSH.
#[must_use]
pub fn verifying_pem(key: &VerifyingKey) -> String {
    spki::encode_signing(key).map_or_else(|| key.to_line() + "\n", |der| armored(PUBLIC, &der))
}

/// Returns a signing key as PKCS#8 in PEM, without protection. May leak: the kind of the key, and whether its seed is
/// known.
#[must_use]
pub fn signing_pem(key: &SigningKey) -> Secret {
    let text = Wiped::new(armored(PRIVATE, &pkcs8::signing::encode(key)).into_bytes());
    Secret::copy_of(&text)
}

/// Returns a signing key as encrypted PKCS#8 in PEM (PBES2). A comment before the PEM block states that the key is for
/// signing, and contains its fingerprint. The encryption uses the Unicode NFC form of the passphrase. May leak: the
/// kind of the key, its public key, whether its seed is known, and the length of the passphrase.
///
/// # Errors
/// If the system fails.
pub fn protected_signing_pem(key: &SigningKey, passphrase: &Passphrase) -> Result<String, crate::Error> {
    let block = armored(PROTECTED, &pbes2::Sealed::seal(&pkcs8::signing::encode(key), passphrase)?.encode());
    Ok(fingerprint::signing_comment(key.public()) + &block)
}

/// Returns one PEM block. RFC 7468 permits the labels that this module uses.
fn armored(label: &str, contents: &[u8]) -> String {
    pem::encode(label, contents).unwrap_or_default()
}

/// Returns the age recipient of a public key, or `None` if age has no recipients of its kind. The recipient of an
/// X25519 key begins with `age1`, and the recipient of an X-Wing key begins with `age1pq1`.
#[must_use]
pub fn age_recipient(key: &PublicKey) -> Option<String> {
    age::recipient(key)
}

/// Returns the age identity of a private key, or `None` if age has no identities of its kind. May leak: the kind.
#[must_use]
pub fn age_identity(key: &PrivateKey) -> Option<Secret> {
    age::identity(key)
}

/// Returns a short name for a public key. People can compare such names. The name is the first 128 bits of SHA-256 over
/// the SPKI form, as base32 in groups of four.
#[must_use]
pub fn fingerprint(key: &PublicKey) -> String {
    fingerprint::for_key(key)
}

/// Returns the fingerprint of a verifying key: see [`VerifyingKey::fingerprint`](crate::sign::VerifyingKey).
pub(crate) fn signing_fingerprint(key: &VerifyingKey) -> String {
    fingerprint::for_signing_key(key)
}
