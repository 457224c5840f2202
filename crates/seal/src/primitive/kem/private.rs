//! Private keys.

use std::fmt;
use std::sync::Arc;

use super::{Kem, KemParts, PublicKey, dh, hybrid};
use crate::primitive::imp::{ml_kem, x25519};
use crate::{Error, InvalidKey, Secret};

/// The material of a private key.
#[derive(Debug)]
pub enum Material<'a> {
    /// The scalar or seed as HPKE serializes it. All other values are computed from the scalar or seed.
    Seed(&'a Secret),
    /// An ML-KEM decapsulation key whose seed is not known.
    Expanded(&'a Secret),
    /// Another process holds the key.
    Held,
}

/// Another process that stores private keys, and uses these keys on behalf of this process.
pub trait KeyHolder: fmt::Debug + Send + Sync {
    /// Returns the shared secret in `enc`, which was encapsulated to `key`. Returns `None` if `enc` is not valid.
    ///
    /// # Errors
    /// If the other process does not answer, or refuses.
    fn decapsulate(&self, key: &PublicKey, enc: &[u8]) -> Result<Option<Secret>, Error>;

    /// Returns the product of the X25519 scalar of `key` and a point. Returns `None` if the point has small order.
    ///
    /// # Errors
    /// If the other process does not answer, or refuses.
    fn multiply(&self, key: &PublicKey, point: &[u8; 32]) -> Result<Option<Secret>, Error>;
}

/// A private key with its public key. All clones share one copy of the key. The last clone wipes it on drop.
#[derive(Clone)]
pub struct PrivateKey(Arc<Inner>);

struct Inner {
    public: PublicKey,
    known: Known,
    opener: KemOpener,
}

enum Known {
    Seed(Secret),
    Expanded(Secret),
    Nothing,
}

/// Values that are computed from the key once, and then used each time the key opens data.
enum KemOpener {
    Dh(dh::DhScalar),
    Ml(ml_kem::MlKemKey),
    Hybrid(ml_kem::MlKemKey, dh::DhScalar),
    Held(Box<dyn KeyHolder>),
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({}, ..)", self.kem().name())
    }
}

impl PrivateKey {
    /// Generates a new key.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn generate(kem: Kem) -> Result<Self, Error> {
        loop {
            match Self::from_seed(kem, &Secret::random(kem.private_len())?) {
                // One in 2^32 random strings is not a P-256 scalar. The loop then tries another string.
                Err(Error::InvalidKey(_)) => {}
                other => return other,
            }
        }
    }

    /// Returns the private key for a scalar (X25519, P-256) or a seed (other kinds) in the form of HPKE
    /// (`SerializePrivateKey`).
    ///
    /// X25519 scalars are stored unchanged and clamped at each use, so that rewriting a key file does not change its
    /// bytes.
    ///
    /// # Errors
    /// If the bytes are not a key of this kind: a wrong length, or a P-256 scalar that is zero or not below the order.
    /// May leak: whether an error occurs.
    pub fn from_seed(kem: Kem, seed: &[u8]) -> Result<Self, Error> {
        if seed.len() != kem.private_len() {
            return Err(Error::InvalidKey(InvalidKey::PrivateLength));
        }
        let opener = match kem.parts() {
            KemParts::Dh(curve) => KemOpener::Dh(dh::DhScalar::from_bytes(curve, seed)?.ok_or(INVALID)?),
            KemParts::Ml(set) => {
                KemOpener::Ml(ml_kem::MlKemKey::from_seed(set, seed.try_into().map_err(|_| INVALID)?)?)
            }
            KemParts::Hybrid(set, curve, _) => {
                let (lattice, scalar) = hybrid::expand(set, curve, seed)?.ok_or(INVALID)?;
                KemOpener::Hybrid(lattice, scalar)
            }
        };
        Self::assemble(kem, Known::Seed(Secret::copy_of(seed)), opener)
    }

    /// Reads an ML-KEM key whose seed is not known, in the decapsulation key form of FIPS 203.
    ///
    /// # Errors
    /// If the decapsulation key is not valid (a wrong length, coefficients out of range, a wrong hash, parts of
    /// different keys), or if `kem` is not ML-KEM. May leak: which of these errors occurs.
    pub fn from_expanded(kem: Kem, key: &[u8]) -> Result<Self, Error> {
        let KemParts::Ml(set) = kem.parts() else {
            return Err(Error::InvalidKey(InvalidKey::Expanded));
        };
        let opener = KemOpener::Ml(ml_kem::MlKemKey::from_expanded(set, key)?.ok_or(INVALID)?);
        Self::assemble(kem, Known::Expanded(Secret::copy_of(key)), opener)
    }

    /// Returns a private key that another process holds. It opens files, but its material is not known here, so it
    /// cannot be written to a file.
    #[must_use]
    pub fn held(public: PublicKey, holder: impl KeyHolder + 'static) -> Self {
        let opener = KemOpener::Held(Box::new(holder));
        Self(Arc::new(Inner { public, known: Known::Nothing, opener }))
    }

    fn assemble(kem: Kem, known: Known, opener: KemOpener) -> Result<Self, Error> {
        let mut public = vec![0; kem.public_len()];
        match &opener {
            KemOpener::Dh(scalar) => scalar.public(&mut public)?,
            KemOpener::Ml(key) => key.public(&mut public)?,
            KemOpener::Hybrid(key, scalar) => {
                let (lattice, point) = public.split_at_mut(key.set().public_len());
                key.public(lattice)?;
                scalar.public(point)?;
            }
            KemOpener::Held(_) => return Err(INVALID),
        }
        Ok(Self(Arc::new(Inner { public: PublicKey::checked(kem, public), known, opener })))
    }

    /// Returns the kind of the key.
    #[must_use]
    pub fn kem(&self) -> Kem {
        self.0.public.kem()
    }

    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.0.public
    }

    /// Returns the material that a key file stores.
    #[must_use]
    pub fn material(&self) -> Material<'_> {
        match &self.0.known {
            Known::Seed(seed) => Material::Seed(seed),
            Known::Expanded(key) => Material::Expanded(key),
            Known::Nothing => Material::Held,
        }
    }

    /// Returns whether two private keys are the same key in the same form, with a seed or without a seed. So a key with
    /// its seed differs from the same key without its seed. May leak: the kinds of the keys and of their material, and
    /// the result.
    #[must_use]
    pub fn same(&self, other: &Self) -> bool {
        self.kem() == other.kem()
            && match (self.material(), other.material()) {
                (Material::Seed(one), Material::Seed(other)) | (Material::Expanded(one), Material::Expanded(other)) => {
                    one.same(other)
                }
                _ => false,
            }
    }

    /// Returns the shared secret in `enc`. Returns `None` if `enc` is not valid for this kind: a wrong length, or a
    /// point that is off the curve, not in its canonical form, or of small order. For a wrong ciphertext, ML-KEM
    /// computes another secret, and the function returns this secret.
    ///
    /// May leak: whether the result is `None`. Leaks no information about the key.
    ///
    /// # Errors
    /// If the system fails.
    pub(crate) fn decapsulate(&self, enc: &[u8]) -> Result<Option<Secret>, Error> {
        let kem = self.kem();
        if enc.len() != kem.enc_len() {
            return Ok(None);
        }
        let public = self.0.public.as_bytes();
        match &self.0.opener {
            KemOpener::Held(holder) => holder.decapsulate(&self.0.public, enc),
            KemOpener::Dh(scalar) => dh::decapsulate(kem, scalar, public, enc),
            KemOpener::Ml(key) => {
                let mut shared = Secret::zeroed(32);
                key.decapsulate(enc, hybrid::whole(&mut shared)?)?;
                Ok(Some(shared))
            }
            KemOpener::Hybrid(key, scalar) => {
                let KemParts::Hybrid(set, _, label) = kem.parts() else { return Ok(None) };
                hybrid::decapsulate(label, key, scalar, &public[set.public_len()..], enc)
            }
        }
    }

    /// Returns the product of an X25519 scalar and a point. Returns `None` if the point has small order, or if the key
    /// is of another kind.
    ///
    /// May leak: whether the result is `None`. Leaks no information about the key.
    ///
    /// # Errors
    /// If the system fails.
    pub(crate) fn multiply(&self, point: &[u8; 32]) -> Result<Option<Secret>, Error> {
        if self.kem() != Kem::X25519 {
            return Ok(None);
        }
        let mut product = Secret::zeroed(32);
        match (&self.0.opener, &self.0.known) {
            (KemOpener::Held(holder), _) => holder.multiply(&self.0.public, point),
            (_, Known::Seed(scalar)) => {
                let scalar = scalar.as_array().ok_or(INVALID)?;
                let fits = x25519::multiply(scalar, point, product.as_mut_array().ok_or(INVALID)?);
                Ok(fits.then_some(product))
            }
            _ => Ok(None),
        }
    }
}

const INVALID: Error = Error::InvalidKey(InvalidKey::Private);
