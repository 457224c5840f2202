//! Private keys.

use super::{Kem, Parts, PublicKey, dh, hybrid};
use crate::imp::ml_kem;
use crate::{Error, Secret};
use std::fmt;
use std::sync::Arc;

/// How a private key is known.
#[derive(Debug)]
pub enum Material<'a> {
    /// The scalar or seed of HPKE, from which all else follows.
    Seed(&'a Secret),
    /// An ML-KEM decapsulation key whose seed is not known.
    Expanded(&'a Secret),
}

/// A private key with its public one. Wiped on drop; clones share one copy.
#[derive(Clone)]
pub struct PrivateKey(Arc<Inner>);

struct Inner {
    public: PublicKey,
    known: Known,
    opener: Opener,
}

enum Known {
    Seed(Secret),
    Expanded(Secret),
}

/// What is computed from the key once, so that opening need not.
enum Opener {
    Dh(dh::Scalar),
    Ml(ml_kem::Key),
    Hybrid(ml_kem::Key, dh::Scalar),
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({}, ..)", self.kem().name())
    }
}

impl PrivateKey {
    /// A new key.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn generate(kem: Kem) -> Result<Self, Error> {
        loop {
            match Self::from_seed(kem, &Secret::random(kem.private_len())?) {
                // One in 2^32 strings is no P-256 scalar.
                Err(Error::Invalid(_)) => {}
                other => return other,
            }
        }
    }

    /// The key that HPKE writes as these bytes (`SerializePrivateKey`): a scalar (X25519, P-256) or a seed.
    ///
    /// X25519 scalars are kept as given and clamped at each use, so that a key file can be written again as it was.
    ///
    /// # Errors
    /// If they are not a key of this kind: a wrong length, a P-256 scalar that is zero or not below the order. May leak: that.
    pub fn from_seed(kem: Kem, seed: &[u8]) -> Result<Self, Error> {
        if seed.len() != kem.private_len() {
            return Err(Error::Invalid(
                "a private key of this kind has another length\nhint: part of the key is missing, or its kind is another",
            ));
        }
        let opener = match kem.parts() {
            Parts::Dh(curve) => Opener::Dh(dh::Scalar::from_bytes(curve, seed)?.ok_or(INVALID)?),
            Parts::Ml(set) => Opener::Ml(ml_kem::Key::from_seed(set, seed.try_into().map_err(|_| INVALID)?)?),
            Parts::Hybrid(set, curve, _) => {
                let (lattice, scalar) = hybrid::expand(set, curve, seed)?.ok_or(INVALID)?;
                Opener::Hybrid(lattice, scalar)
            }
        };
        Self::assemble(kem, Known::Seed(Secret::copy_of(seed)), opener)
    }

    /// An ML-KEM key of which only the decapsulation key of FIPS 203 is known.
    ///
    /// # Errors
    /// If it is not a valid one (a wrong length, coefficients out of range, a wrong hash, halves of different keys), or `kem` is not ML-KEM.
    /// May leak: that.
    pub fn from_expanded(kem: Kem, key: &[u8]) -> Result<Self, Error> {
        let Parts::Ml(set) = kem.parts() else {
            return Err(Error::Invalid("only ML-KEM keys have an expanded form\nhint: give the seed or the scalar"));
        };
        let opener = Opener::Ml(ml_kem::Key::from_expanded(set, key)?.ok_or(INVALID)?);
        Self::assemble(kem, Known::Expanded(Secret::copy_of(key)), opener)
    }

    fn assemble(kem: Kem, known: Known, opener: Opener) -> Result<Self, Error> {
        let mut public = vec![0; kem.public_len()];
        match &opener {
            Opener::Dh(scalar) => scalar.public(&mut public)?,
            Opener::Ml(key) => key.public(&mut public)?,
            Opener::Hybrid(key, scalar) => {
                let (lattice, point) = public.split_at_mut(key.set().public_len());
                key.public(lattice)?;
                scalar.public(point)?;
            }
        }
        Ok(Self(Arc::new(Inner { public: PublicKey::checked(kem, public), known, opener })))
    }

    /// Its kind.
    #[must_use]
    pub fn kem(&self) -> Kem {
        self.0.public.kem()
    }

    /// Its public part.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.0.public
    }

    /// What a key file has to hold.
    #[must_use]
    pub fn material(&self) -> Material<'_> {
        match &self.0.known {
            Known::Seed(seed) => Material::Seed(seed),
            Known::Expanded(key) => Material::Expanded(key),
        }
    }

    /// The shared secret inside `enc`. May leak: nothing of the key; ML-KEM gives another secret for a wrong `enc` instead of an error.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `enc` cannot be of this kind: a wrong length, a point off the curve or of small order.
    pub(crate) fn decapsulate(&self, enc: &[u8]) -> Result<Secret, Error> {
        const UNFIT: Error = Error::Invalid("an encapsulated secret is not valid\nhint: the file is damaged; get another copy");
        let kem = self.kem();
        if enc.len() != kem.enc_len() {
            return Err(UNFIT);
        }
        let public = self.0.public.as_bytes();
        match &self.0.opener {
            Opener::Dh(scalar) => dh::decapsulate(kem, scalar, public, enc)?.ok_or(UNFIT),
            Opener::Ml(key) => {
                let mut shared = Secret::zeroed(32);
                key.decapsulate(enc, hybrid::whole(&mut shared)?)?;
                Ok(shared)
            }
            Opener::Hybrid(key, scalar) => {
                let Parts::Hybrid(set, _, label) = kem.parts() else { return Err(UNFIT) };
                hybrid::decapsulate(label, key, scalar, &public[set.public_len()..], enc)?.ok_or(UNFIT)
            }
        }
    }
}

const INVALID: Error =
    Error::Invalid("not a valid private key of this kind\nhint: the key is damaged; get it from a backup, or make a new one");
