//! Keys on disk and on the command line: PKCS#8 and SPKI in PEM, age's identities and recipients.

use crate::{Fault, Passphrase, PrivateKey, PublicKey};

/// Why a key cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// It is none of the forms that are known.
    #[error("not a key\nhint: a key is a PEM file (PKCS#8 or SPKI), or an age identity or recipient")]
    Unknown,
    /// The passphrase is wrong (or the file is damaged: which of them cannot be told).
    #[error("the passphrase does not fit this key\nhint: passphrases are case-sensitive; check the keyboard's layout")]
    WrongPassphrase,
    /// The file is encrypted, and no passphrase was given.
    #[error("the key is protected by a passphrase\nhint: run this on a terminal, or give it with --passphrase-file")]
    Protected,
}

impl KeyError {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::WrongPassphrase | Self::Protected => Fault::Key,
            Self::Unknown => Fault::Data,
        }
    }
}

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
#[derive(Debug)]
pub struct ProtectedKey(());

impl ProtectedKey {
    /// Removes the protection.
    ///
    /// # Errors
    /// [`KeyError::WrongPassphrase`].
    pub fn unlock(&self, _passphrase: &Passphrase) -> Result<PrivateKey, KeyError> {
        unimplemented!()
    }
}

/// All keys in a text, in order: PEM blocks (`PRIVATE KEY`, `ENCRYPTED PRIVATE KEY`, `PUBLIC KEY`), or lines of age identities and
/// recipients with `#` comments.
///
/// # Errors
/// If there is none, or one of them is not valid.
pub fn read(_text: &[u8]) -> Result<Vec<Found>, KeyError> {
    unimplemented!()
}

/// A public key as SPKI in PEM.
#[must_use]
pub fn public_pem(_key: &PublicKey) -> String {
    unimplemented!()
}

/// A private key as PKCS#8 in PEM, unprotected.
#[must_use]
pub fn private_pem(_key: &PrivateKey) -> crate::Secret {
    unimplemented!()
}

/// A private key as encrypted PKCS#8 in PEM (PBES2).
///
/// # Errors
/// If the system fails.
pub fn protected_pem(_key: &PrivateKey, _passphrase: &Passphrase) -> Result<String, crate::Error> {
    unimplemented!()
}

/// The age recipient of a public key, where age knows its kind (X25519: `age1…`, X-Wing: `age1pq1…`).
#[must_use]
pub fn age_recipient(_key: &PublicKey) -> Option<String> {
    unimplemented!()
}

/// The age identity of a private key, where age knows its kind.
#[must_use]
pub fn age_identity(_key: &PrivateKey) -> Option<crate::Secret> {
    unimplemented!()
}

/// A short name for a public key that people can compare: the first 128 bits of SHA-256 over the SPKI form, in groups of base32 letters.
#[must_use]
pub fn fingerprint(_key: &PublicKey) -> String {
    unimplemented!()
}
