//! Public keys.

use super::{Kem, Parts, dh, hybrid};
use crate::imp::ml_kem;
use crate::{Error, Secret};
use std::fmt;

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
    /// A key from the bytes that HPKE writes (`SerializePublicKey`).
    ///
    /// # Errors
    /// If they are not a valid key of this kind: a wrong length, a point off the curve, ML-KEM coefficients out of range. An X25519 point of
    /// small order shows only when something is sealed to it.
    pub fn from_bytes(kem: Kem, bytes: &[u8]) -> Result<Self, Error> {
        const HINT: &str = "not a valid public key of this kind\nhint: the key is damaged; get it again from its owner";
        if bytes.len() != kem.public_len() {
            return Err(Error::Invalid(
                "a public key of this kind has another length\nhint: part of the key is missing, or its kind is another",
            ));
        }
        let valid = match kem.parts() {
            Parts::Dh(curve) => curve.is_point(bytes)?,
            Parts::Ml(set) => ml_kem::is_public(set, bytes)?,
            Parts::Hybrid(set, curve, _) => {
                let (lattice, point) = bytes.split_at(set.public_len());
                ml_kem::is_public(set, lattice)? && curve.is_point(point)?
            }
        };
        if valid { Ok(Self::checked(kem, bytes.to_vec())) } else { Err(Error::Invalid(HINT)) }
    }

    /// A key that needs no check since it was computed here.
    pub(super) fn checked(kem: Kem, bytes: Vec<u8>) -> Self {
        debug_assert_eq!(bytes.len(), kem.public_len());
        Self { kem, bytes }
    }

    /// Its kind.
    #[must_use]
    pub fn kem(&self) -> Kem {
        self.kem
    }

    /// The bytes that HPKE writes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// A fresh shared secret, and what its owner needs to find it again. May leak: whether the key is a point of small order.
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
                ml_kem::encapsulate(set, &self.bytes, hybrid::whole_of(&random)?, &mut enc, hybrid::whole(&mut shared)?)?;
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
