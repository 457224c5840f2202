//! Public keys of SSH.

use aws_lc_rs::digest;

use super::fields::Fields;
use crate::key::Unsupported;
use crate::key::error::Trouble;
use crate::key::sign::{Scheme, VerifyingKey};
use deadpan_base64::{STANDARD, STANDARD_NO_PAD};

/// The longest public key that the reader accepts.
const MAX_BLOB: usize = 1 << 14;
/// The supported lengths of an RSA modulus, in bits. OpenSSH supports the same lengths.
const MODULUS: std::ops::RangeInclusive<usize> = 1024..=16384;
/// The longest application name of a security key.
const MAX_APPLICATION: usize = 255;
const DAMAGED: &str = "the SSH public key is damaged";

/// A kind of SSH key that this crate supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SshKind {
    /// Ed25519.
    Ed25519,
    /// RSA.
    Rsa,
    /// ML-DSA-44 with Ed25519. OpenSSH 10.6 supports this kind.
    MlDsa44Ed25519,
    /// ML-DSA-65 of draft-sfluhrer-ssh-mldsa. This crate reads only public keys of this kind.
    MlDsa65,
    /// Ed25519 in a security key. This crate reads only public keys of this kind, because the private part is in
    /// hardware.
    SkEd25519,
}

impl SshKind {
    const ALL: [Self; 5] = [Self::Ed25519, Self::Rsa, Self::MlDsa44Ed25519, Self::MlDsa65, Self::SkEd25519];

    /// Returns the name that SSH uses for the kind of key.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ed25519 => "ssh-ed25519",
            Self::Rsa => "ssh-rsa",
            Self::MlDsa44Ed25519 => "ssh-mldsa44-ed25519",
            Self::MlDsa65 => "ssh-mldsa-65",
            Self::SkEd25519 => "sk-ssh-ed25519@openssh.com",
        }
    }

    /// Returns the signature algorithm of the key, or `None` for RSA, because RSA signatures are not supported.
    #[must_use]
    pub const fn scheme(self) -> Option<Scheme> {
        match self {
            Self::Ed25519 => Some(Scheme::Ed25519),
            Self::MlDsa44Ed25519 => Some(Scheme::MlDsa44Ed25519),
            Self::MlDsa65 => Some(Scheme::MlDsa65),
            Self::SkEd25519 => Some(Scheme::SkEd25519),
            Self::Rsa => None,
        }
    }

    /// Also accepts the name of the composite algorithm in OpenSSH 10.4 and 10.5.
    pub(super) fn from_name(name: &str) -> Result<Self, Trouble> {
        if name == "ssh-mldsa44-ed25519@openssh.com" {
            return Ok(Self::MlDsa44Ed25519);
        }
        Self::ALL.into_iter().find(|kind| kind.name() == name).ok_or_else(|| foreign(name))
    }

    /// Returns the length of a key, or `None` if the kind has keys of different lengths.
    const fn key_len(self) -> Option<usize> {
        match self {
            Self::Ed25519 | Self::SkEd25519 => Some(32),
            Self::MlDsa44Ed25519 => Some(1312 + 32),
            Self::MlDsa65 => Some(1952),
            Self::Rsa => None,
        }
    }
}

/// Returns the error for an unsupported kind of key, with the name of the kind.
fn foreign(name: &str) -> Trouble {
    let is_name = (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
    match name {
        _ if !is_name => Trouble::Malformed(DAMAGED),
        _ if name.contains("-cert-") => Unsupported::Kind("an SSH certificate".into()).into(),
        _ => Unsupported::Kind(format!("an SSH key of the kind {name}").into()).into(),
    }
}

/// A public key of SSH.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SshPublic {
    kind: SshKind,
    blob: Vec<u8>,
}

impl SshPublic {
    /// Reads a public key in the binary form of SSH: the name of its kind, then its parts. Each public key has only one
    /// form, except that the composite algorithm has two names. The function does not check whether a point has a small
    /// order.
    pub(super) fn decode(blob: &[u8]) -> Result<Self, Trouble> {
        if blob.len() > MAX_BLOB {
            return Err(Trouble::Limit("an SSH public key of more than 16 KiB"));
        }
        let mut fields = Fields::new(blob, DAMAGED);
        let kind = SshKind::from_name(fields.text()?)?;
        match kind.key_len() {
            Some(length) => {
                if fields.string()?.len() != length {
                    return Err(Trouble::Malformed(DAMAGED));
                }
            }
            None => {
                let (exponent, modulus) = (fields.big()?, fields.big()?);
                check_rsa(exponent, modulus)?;
            }
        }
        if kind == SshKind::SkEd25519 && fields.text()?.len() > MAX_APPLICATION {
            return Err(Trouble::Malformed(DAMAGED));
        }
        fields.end("something stands after the SSH public key")?;
        Ok(Self { kind, blob: blob.to_vec() })
    }

    /// Returns the kind.
    #[must_use]
    pub const fn kind(&self) -> SshKind {
        self.kind
    }

    /// Returns the key in the binary form of SSH; a public line contains this form in base64.
    #[must_use]
    pub fn blob(&self) -> &[u8] {
        &self.blob
    }

    /// Returns the key as a public line, without a comment.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {}", self.kind.name(), STANDARD.encode(&self.blob))
    }

    /// Returns the key without its name, for all kinds except RSA: 32 bytes for Ed25519; ML-DSA's public key; or, for
    /// the composite algorithm, ML-DSA's public key and then 32 bytes for Ed25519.
    #[must_use]
    pub fn raw(&self) -> Option<&[u8]> {
        self.kind.key_len()?;
        let mut fields = Fields::new(&self.blob, DAMAGED);
        fields.string().ok()?;
        fields.string().ok()
    }

    /// Returns the modulus and the exponent of an RSA key, big-endian without leading zeros.
    #[must_use]
    pub fn rsa(&self) -> Option<(&[u8], &[u8])> {
        if self.kind != SshKind::Rsa {
            return None;
        }
        let mut fields = Fields::new(&self.blob, DAMAGED);
        fields.string().ok()?;
        let exponent = fields.big().ok()?;
        Some((fields.big().ok()?, exponent))
    }

    /// Returns the key for verifying signatures, or `None` for an RSA key or an Ed25519 point that is not valid.
    #[must_use]
    pub fn verifying_key(&self) -> Option<VerifyingKey> {
        self.kind.scheme()?;
        VerifyingKey::from_ssh(&self.blob).ok()
    }

    /// Returns the fingerprint as `ssh-keygen -l` shows it: `SHA256:`, then base64 without padding.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(digest::digest(&digest::SHA256, &self.blob).as_ref()))
    }
}

fn check_rsa(exponent: &[u8], modulus: &[u8]) -> Result<(), Trouble> {
    let bits = modulus.len() * 8 - modulus.first().map_or(0, |first| first.leading_zeros() as usize);
    if !MODULUS.contains(&bits) {
        return Err(Trouble::Limit("an RSA key of less than 1024 or more than 16384 bits"));
    }
    let is_odd = |number: &[u8]| number.last().is_some_and(|last| last & 1 == 1);
    // AWS-LC refuses exponents of more than 33 bits, because such exponents only slow a reader down.
    if !is_odd(modulus) || !is_odd(exponent) || exponent == [1] || exponent.len() > 4 {
        return Err(Trouble::Malformed("the RSA key in it is not valid"));
    }
    Ok(())
}
