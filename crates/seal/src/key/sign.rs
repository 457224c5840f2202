//! Signatures: keys that sign, public keys that verify, and SSHSIG, the only form in which this crate stores
//! signatures.
//!
//! A signing key is not an encryption key. Choose [`Scheme::MlDsa44Ed25519`] unless you need another scheme: an
//! attacker has to break both ML-DSA-44 and Ed25519. OpenSSH keys also work, including keys in an agent or in hardware.
//!
//! ```
//! use deadpan_seal::sign::{Scheme, Signer, SigningKey, SshSig};
//!
//! let key = SigningKey::generate(Scheme::MlDsa44Ed25519)?;
//! let digest = [7; 64]; // SHA-512 of the message
//! let signature = Signer::from(key.clone()).sign("file", &digest)?;
//! let back = SshSig::from_armor(signature.armor().as_bytes())?;
//! back.verify("file", &digest)?;
//! assert_eq!(back.key(), key.public());
//! assert!(back.verify("another", &digest).is_err());
//! # Ok::<(), deadpan_seal::Error>(())
//! ```

pub(crate) mod agent;
mod allowed;
mod composite;
mod error;
mod hasher;
mod private;
mod public;
mod signer;
pub(crate) mod sshsig;
pub(crate) mod wire;

pub use agent::{Agent, AgentError, AgentKey, HeldKey};
pub use allowed::Allowed;
pub use error::SignError;
pub use hasher::Hasher;
pub use private::{SigningKey, SigningMaterial};
pub use public::VerifyingKey;
pub use signer::Signer;
pub use sshsig::{Hash, SshSig};

use crate::Mode;

/// A signature algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Ed25519 of RFC 8032.
    Ed25519,
    /// ML-DSA-65 of FIPS 204.
    MlDsa65,
    /// MLDSA44-Ed25519-SHA512 of draft-ietf-lamps-pq-composite-sigs: a signature is valid only if its ML-DSA half and
    /// its Ed25519 half are valid.
    MlDsa44Ed25519,
    /// Ed25519 in a security key, as OpenSSH uses it. Only an SSH agent signs with a key in a security key.
    SkEd25519,
}

impl Scheme {
    /// All algorithms.
    pub const ALL: [Self; 4] = [Self::Ed25519, Self::MlDsa65, Self::MlDsa44Ed25519, Self::SkEd25519];

    /// Returns the usual name of the algorithm.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ed25519 => "Ed25519",
            Self::MlDsa65 => "ML-DSA-65",
            Self::MlDsa44Ed25519 => "ML-DSA-44+Ed25519",
            Self::SkEd25519 => "Ed25519-SK",
        }
    }

    /// Returns the kind of attacks that the algorithm protects against.
    #[must_use]
    pub const fn mode(self) -> Mode {
        match self {
            Self::Ed25519 | Self::SkEd25519 => Mode::Ecc,
            Self::MlDsa65 => Mode::Pqc,
            Self::MlDsa44Ed25519 => Mode::Hybrid,
        }
    }

    /// Returns the name of the algorithm in SSH.
    #[must_use]
    pub const fn ssh_name(self) -> &'static str {
        match self {
            Self::Ed25519 => "ssh-ed25519",
            Self::MlDsa65 => "ssh-mldsa-65",
            Self::MlDsa44Ed25519 => "ssh-mldsa44-ed25519",
            Self::SkEd25519 => "sk-ssh-ed25519@openssh.com",
        }
    }

    /// Returns the algorithm that SSH calls by this name. Also accepts the name of the composite algorithm in OpenSSH
    /// 10.4 and 10.5.
    #[must_use]
    pub fn from_ssh_name(name: &str) -> Option<Self> {
        match name {
            "ssh-mldsa44-ed25519@openssh.com" => Some(Self::MlDsa44Ed25519),
            _ => Self::ALL.into_iter().find(|scheme| scheme.ssh_name() == name),
        }
    }

    /// Returns the length of a public key.
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::Ed25519 | Self::SkEd25519 => 32,
            Self::MlDsa65 => 1952,
            Self::MlDsa44Ed25519 => 1312 + 32,
        }
    }

    /// Returns the length of a private key: the length of one seed, or of two seeds for the composite algorithm.
    #[must_use]
    pub const fn private_len(self) -> usize {
        match self {
            Self::Ed25519 | Self::SkEd25519 | Self::MlDsa65 => 32,
            Self::MlDsa44Ed25519 => 64,
        }
    }

    /// Returns the length of a signature.
    #[must_use]
    pub const fn signature_len(self) -> usize {
        match self {
            Self::Ed25519 | Self::SkEd25519 => 64,
            Self::MlDsa65 => 3309,
            Self::MlDsa44Ed25519 => 2420 + 64,
        }
    }
}

#[cfg(test)]
mod tests;
