//! Public keys.

use std::fmt;

use super::{Kem, KemParts, dh, hybrid};
use crate::primitive::imp::ml_kem;
use crate::{Error, InvalidKey, Secret};

/// A public key whose validity was checked.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    kem: Kem,
    bytes: Vec<u8>,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.kem.name())
    }
}

impl PublicKey {
    /// Reads a public key in the form of HPKE (`SerializePublicKey`).
    ///
    /// # Errors
    /// If the bytes are not a valid key of this kind: a wrong length, a point that is off the curve or not in its
    /// canonical form, or ML-KEM coefficients that are out of range. This function accepts an X25519 point of small
    /// order, but sealing to this key fails.
    pub fn from_bytes(kem: Kem, bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != kem.public_len() {
            return Err(Error::InvalidKey(InvalidKey::PublicLength));
        }
        let valid = match kem.parts() {
            KemParts::Dh(curve) => curve.is_point(bytes)?,
            KemParts::Ml(set) => ml_kem::is_public(set, bytes)?,
            KemParts::Hybrid(set, curve, _) => {
                let (lattice, point) = bytes.split_at(set.public_len());
                ml_kem::is_public(set, lattice)? && curve.is_point(point)?
            }
        };
        if valid { Ok(Self::checked(kem, bytes.to_vec())) } else { Err(Error::InvalidKey(InvalidKey::Public)) }
    }

    /// Makes a public key from bytes that this crate computed, and does not check the bytes.
    pub(super) fn checked(kem: Kem, bytes: Vec<u8>) -> Self {
        debug_assert_eq!(bytes.len(), kem.public_len());
        Self { kem, bytes }
    }

    /// Returns the kind of the key.
    #[must_use]
    pub fn kem(&self) -> Kem {
        self.kem
    }

    /// Returns the key as HPKE serializes it.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Generates a shared secret. Returns the encapsulated secret and the shared secret. The owner of the private key
    /// can compute the shared secret from the encapsulated secret. May leak: whether the key is a point of small order.
    ///
    /// # Errors
    /// If the key is an X25519 point of small order, or the system fails.
    pub(crate) fn encapsulate(&self) -> Result<(Vec<u8>, Secret), Error> {
        self.encapsulate_from(&Secret::random(self.kem.random_len())?)
    }

    /// Generates a shared secret from [`Kem::random_len`] random bytes: the bytes for ML-KEM, then the bytes for the
    /// curve's ephemeral scalar. The random bytes are as sensitive as the shared secret. The same bytes give the same
    /// result. May leak: whether the key is a point of small order, and the number of skipped candidates for P-256's
    /// scalar.
    ///
    /// # Errors
    /// If the key is an X25519 point of small order, if the bytes have another length, or if the system fails.
    pub(crate) fn encapsulate_from(&self, random: &[u8]) -> Result<(Vec<u8>, Secret), Error> {
        const MISFIT: Error = Error::System("random bytes have the wrong length");
        if random.len() != self.kem.random_len() {
            return Err(MISFIT);
        }
        // Sampling fails if all four candidates for P-256's scalar are out of range, with a probability of 2^-128.
        let ephemeral =
            |curve, bytes: &[u8]| dh::DhScalar::sample(curve, bytes)?.ok_or(Error::System("no random scalar"));
        match self.kem.parts() {
            KemParts::Dh(curve) => dh::encapsulate(self.kem, curve, &self.bytes, &ephemeral(curve, random)?),
            KemParts::Ml(set) => {
                let mut enc = vec![0; set.ciphertext_len()];
                let mut shared = Secret::zeroed(32);
                let random = random.as_array().ok_or(MISFIT)?;
                ml_kem::encapsulate(set, &self.bytes, random, &mut enc, hybrid::whole(&mut shared)?)?;
                Ok((enc, shared))
            }
            KemParts::Hybrid(set, curve, label) => {
                let (lattice, point) = self.bytes.split_at(set.public_len());
                let (random, scalar) = random.split_first_chunk().ok_or(MISFIT)?;
                hybrid::encapsulate(label, curve, point, &ephemeral(curve, scalar)?, set, |ciphertext, shared| {
                    ml_kem::encapsulate(set, lattice, random, ciphertext, shared)
                })
            }
        }
    }
}
