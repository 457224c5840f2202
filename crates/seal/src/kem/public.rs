//! Public keys.

use std::fmt;

use super::{Kem, Parts, dh, hybrid};
use crate::imp::ml_kem;
use crate::{Error, InvalidKey, Secret};

/// A public key, checked.
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
    /// Reads a key as HPKE serializes it (`SerializePublicKey`).
    ///
    /// # Errors
    /// If the bytes are not a valid key of this kind: a wrong length, a point off the curve or not in its canonical
    /// form, ML-KEM coefficients out of range. An X25519 point of small order is refused when something is sealed to
    /// it.
    pub fn from_bytes(kem: Kem, bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() != kem.public_len() {
            return Err(Error::InvalidKey(InvalidKey::PublicLength));
        }
        let valid = match kem.parts() {
            Parts::Dh(curve) => curve.is_point(bytes)?,
            Parts::Ml(set) => ml_kem::is_public(set, bytes)?,
            Parts::Hybrid(set, curve, _) => {
                let (lattice, point) = bytes.split_at(set.public_len());
                ml_kem::is_public(set, lattice)? && curve.is_point(point)?
            }
        };
        if valid { Ok(Self::checked(kem, bytes.to_vec())) } else { Err(Error::InvalidKey(InvalidKey::Public)) }
    }

    /// Returns a key that was computed here and needs no check.
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

    /// Generates a shared secret. Returns the encapsulated secret, from which the key's owner computes the shared
    /// secret, and the shared secret itself. May leak: whether the key is a point of small order.
    ///
    /// # Errors
    /// If the key is an X25519 point of small order, or the system fails.
    pub(crate) fn encapsulate(&self) -> Result<(Vec<u8>, Secret), Error> {
        match self.kem.parts() {
            Parts::Dh(curve) => dh::encapsulate(self.kem, curve, &self.bytes, &dh::Scalar::random(curve)?),
            Parts::Ml(set) => {
                let mut enc = vec![0; set.ciphertext_len()];
                let mut shared = Secret::zeroed(32);
                let random = Secret::random(32)?;
                ml_kem::encapsulate(
                    set,
                    &self.bytes,
                    hybrid::whole_of(&random)?,
                    &mut enc,
                    hybrid::whole(&mut shared)?,
                )?;
                Ok((enc, shared))
            }
            Parts::Hybrid(set, curve, label) => {
                let (lattice, point) = self.bytes.split_at(set.public_len());
                let ephemeral = dh::Scalar::random(curve)?;
                hybrid::encapsulate(label, curve, point, &ephemeral, set, |ciphertext, shared| {
                    ml_kem::encapsulate(set, lattice, hybrid::whole_of(&Secret::random(32)?)?, ciphertext, shared)
                })
            }
        }
    }
}
