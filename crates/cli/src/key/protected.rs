//! Private keys that a passphrase protects.

use std::path::Path;

use crate::key::home;
use crate::key::passphrase::Passphrases;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_seal::key::{self, Found, KeyError, ProtectedKey};
use deadpan_seal::{Passphrase, PrivateKey, Secret};

/// Asks for the passphrase of a protected sealing key, and decrypts the key. Warns if the public part beside the file
/// belongs to another key.
pub fn unlock(path: &Path, locked: &ProtectedKey, passphrases: &Passphrases) -> Result<PrivateKey, Failure> {
    match unlock_any(path, locked, passphrases)? {
        Found::Private(key) => Ok(key),
        Found::Signing(key) => Err(home::signs(&shown(path), key.public())),
        _ => Err(not_private(&shown(path))),
    }
}

/// Asks for the passphrase of any protected key, and decrypts the key. Warns if the public part beside the file belongs
/// to another key.
pub fn unlock_any(path: &Path, locked: &ProtectedKey, passphrases: &Passphrases) -> Result<Found, Failure> {
    let name = &shown(path);
    let key = passphrases.unlock(name, |passphrase| match locked.unlock_any(passphrase) {
        Ok(key) => Ok(Some(key)),
        Err(KeyError::WrongPassphrase) => Ok(None),
        Err(error) => Err(Failure::key(name, &error)),
    })?;
    let key = key.ok_or_else(|| {
        Failure::new(Exit::Key, format!("{name} stays as it is"), "without its passphrase, the key cannot be changed")
    })?;
    check_pair(path, &key);
    Ok(key)
}

pub fn check_pair(path: &Path, key: &Found) {
    match key {
        Found::Private(key) => home::check_pair(path, key.public()),
        Found::Signing(key) => home::check_signing_pair(path, key.public()),
        _ => {}
    }
}

/// Returns a private key as the text of a key file, protected if there is a passphrase.
pub fn text(name: &str, key: &Found, passphrase: Option<&Passphrase>) -> Result<Secret, Failure> {
    let protected = match (key, passphrase) {
        (Found::Private(key), None) => return Ok(key::private_pem(key)),
        (Found::Signing(key), None) => return Ok(key::signing_pem(key)),
        (Found::Private(key), Some(passphrase)) => key::protected_pem(key, passphrase),
        (Found::Signing(key), Some(passphrase)) => key::protected_signing_pem(key, passphrase),
        _ => return Err(not_private(name)),
    };
    protected.map(|text| Secret::copy_of(text.as_bytes())).map_err(|error| Failure::seal(name, error))
}

pub fn not_private(name: &str) -> Failure {
    Failure::usage(format!("{name} is a public key"), "passphrases protect private keys; public ones are for everybody")
}
