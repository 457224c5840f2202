//! The user's own keys that sign, and public keys that seal or sign.

use std::path::Path;

use super::{Home, Own, pair, read};
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_seal::key::openssh::SshPublic;
use deadpan_seal::key::{self, Found};
use deadpan_seal::sign::VerifyingKey;
use deadpan_seal::{Mode, PublicKey};

/// A public key of any use.
#[derive(Clone, PartialEq, Eq)]
pub enum Public {
    Sealing(PublicKey),
    Signing(VerifyingKey),
    /// An SSH key that cannot sign. Only age files can be sealed to this key.
    Ssh(SshPublic),
}

impl Public {
    pub fn from_key(found: &Found) -> Option<Self> {
        match found {
            Found::Public(key) => Some(Self::Sealing(key.clone())),
            Found::Private(key) => Some(Self::Sealing(key.public().clone())),
            Found::Verifying(key) => Some(Self::Signing(key.clone())),
            Found::Signing(key) => Some(Self::Signing(key.public().clone())),
            Found::Ssh(key) => Some(Self::Ssh(key.clone())),
            Found::Protected(_) | Found::PluginRecipient(_) | Found::PluginIdentity(_) => None,
            Found::OpenSsh(file) => file.public().verifying_key().map(Self::Signing),
        }
    }

    /// If an SSH key can verify signatures, returns a verifying key, or else an SSH key that only seals.
    pub fn of_ssh(key: &SshPublic) -> Self {
        key.verifying_key().map_or_else(|| Self::Ssh(key.clone()), Self::Signing)
    }

    pub fn mode(&self) -> Mode {
        match self {
            Self::Sealing(key) => key.kem().mode(),
            Self::Signing(key) => key.scheme().mode(),
            Self::Ssh(_) => Mode::Ecc,
        }
    }

    /// Returns the name of the algorithm.
    pub fn algorithm(&self) -> &'static str {
        match self {
            Self::Sealing(key) => key.kem().name(),
            Self::Signing(key) => key.scheme().name(),
            Self::Ssh(key) => key.kind().name(),
        }
    }

    pub fn fingerprint(&self) -> String {
        match self {
            Self::Sealing(key) => key::fingerprint(key),
            Self::Signing(key) => key.fingerprint(),
            Self::Ssh(key) => key.fingerprint(),
        }
    }

    /// Returns the fingerprint that `ssh-keygen -l` shows, if SSH supports this kind of key.
    pub fn ssh_fingerprint(&self) -> Option<String> {
        match self {
            Self::Sealing(_) => None,
            Self::Signing(key) => key.scheme().ssh_name().starts_with("ssh-").then(|| key.ssh_fingerprint()),
            Self::Ssh(key) => Some(key.fingerprint()),
        }
    }

    /// Returns the text of the key for a file: a PEM block, or a line for an SSH key that has no PEM form here.
    pub fn text(&self) -> String {
        match self {
            Self::Ssh(key) => format!("{}\n", key.line()),
            Self::Sealing(key) => key::public_pem(key),
            Self::Signing(key) => key::verifying_pem(key),
        }
    }

    pub fn signs(&self) -> bool {
        matches!(self, Self::Signing(_))
    }
}

impl Home {
    /// Returns the user's own keys that sign, sorted by name.
    pub fn own_signing(&self) -> Result<Vec<Own>, Failure> {
        let mut all = self.own_of_both_uses()?;
        all.retain(Own::signs);
        Ok(all)
    }

    /// Returns the key to sign with when no key is named: `sign.key`, or else the only one of the user's keys that
    /// signs.
    pub fn default_signing_key(&self) -> Result<Option<Own>, Failure> {
        let mut keys = self.own_signing()?;
        if let Some(index) = keys.iter().position(|own| own.name == DEFAULT_NAME) {
            return Ok(Some(keys.swap_remove(index)));
        }
        // If the key exists but cannot be read, the error is reported.
        let usual = self.own_path(DEFAULT_NAME);
        if usual.exists() {
            read(&usual)?;
        }
        if keys.len() > 1 {
            let names: Vec<_> = keys.iter().map(|own| own.name.as_str()).collect();
            let message = format!("you have several keys that sign: {}", names.join(", "));
            return Err(Failure::usage(message, "name one of them; a key with the name sign is taken by itself"));
        }
        Ok(keys.pop())
    }
}

/// The name of the first signing key.
pub const DEFAULT_NAME: &str = "sign";

impl Own {
    /// Whether the key signs, if this can be known without a passphrase.
    pub fn signs(&self) -> bool {
        match read(&self.path).as_deref() {
            Ok([Found::Signing(_)]) => true,
            Ok([Found::OpenSsh(file)]) => file.public().verifying_key().is_some(),
            Ok([Found::Protected(key)]) => {
                key.signs() || matches!(pair::beside(&self.path), Ok(Some(Public::Signing(_))))
            }
            _ => false,
        }
    }

    /// Returns the public part of a key that signs, or `None` if reading the public part needs the passphrase.
    pub fn verifying(&self) -> Result<Option<VerifyingKey>, Failure> {
        verifying_of(&self.path)
    }
}

/// Returns the public part of the private key in a file, or `None` if reading the public part needs the passphrase.
pub fn verifying_of(private: &Path) -> Result<Option<VerifyingKey>, Failure> {
    let name = shown(private);
    let mut found = read(private)?;
    match (found.pop(), found.is_empty()) {
        (Some(Found::Signing(key)), true) => {
            check_pair(private, key.public());
            Ok(Some(key.public().clone()))
        }
        (Some(Found::Verifying(key)), true) => Ok(Some(key)),
        (Some(Found::OpenSsh(file)), true) => {
            file.public().verifying_key().map(Some).ok_or_else(|| Failure::key(&name, &file.refusal()))
        }
        (Some(Found::Protected(locked)), true) => match pair::beside(private)? {
            Some(Public::Signing(key)) if locked.fingerprint().is_none_or(|said| said == key.fingerprint()) => {
                Ok(Some(key))
            }
            Some(_) => {
                pair::warn_of_pair(private);
                Ok(None)
            }
            None => Ok(None),
        },
        (Some(Found::Private(key)), true) => Err(seals(&name, key.public())),
        (Some(Found::Public(key)), true) => Err(seals(&name, &key)),
        _ => Err(Failure::usage(format!("{name} holds several keys"), "put each into a file of its own first")),
    }
}

pub fn check_pair(private: &Path, public: &VerifyingKey) {
    let same = |beside: Option<Public>| beside.is_none_or(|beside| beside == Public::Signing(public.clone()));
    if !pair::beside(private).is_ok_and(same) {
        pair::warn_of_pair(private);
    }
}

/// Returns the failure for a signing key that is given where a sealing key is needed.
pub fn signs(name: &str, key: &VerifyingKey) -> Failure {
    let message = format!("{name} is a key that signs ({}), and does not seal", key.scheme().name());
    Failure::usage(message, "name a key that seals; `deadpan keys` lists yours and those of others")
}

/// Returns the failure for a sealing key that is given where a signing key is needed.
pub fn seals(name: &str, key: &PublicKey) -> Failure {
    let message = format!("{name} is a key that seals ({}), and does not sign", key.kem().name());
    Failure::usage(message, "name a key that signs; one of your own comes from: deadpan keygen --sign")
}
