//! Private keys that sign.

use std::fmt;
use std::sync::Arc;

use super::{Scheme, SignError, VerifyingKey, composite};
use crate::primitive::imp::ml_dsa::MlDsaSet;
use crate::primitive::imp::{ed25519, ml_dsa};
use crate::{Error, InvalidKey, Secret};

/// The material of a private key.
#[derive(Debug)]
pub enum SigningMaterial<'a> {
    /// The seed. For the composite algorithm: the seed of ML-DSA, then the seed of Ed25519.
    Seed(&'a Secret),
    /// An expanded ML-DSA key whose seed is not known.
    Expanded(&'a Secret),
}

/// A private key that signs, with its public key. All clones share one copy of the key. The last clone wipes it on
/// drop.
#[derive(Clone)]
pub struct SigningKey(Arc<SigningInner>);

struct SigningInner {
    public: VerifyingKey,
    known: SigningKnown,
    engine: Engine,
}

enum SigningKnown {
    Seed(Secret),
    Expanded(Secret),
}

/// Values that are computed once from the key, and then used for every signature.
enum Engine {
    Curve(ed25519::Ed25519Key),
    Lattice(ml_dsa::MlDsaKey),
    Composite(ml_dsa::MlDsaKey, ed25519::Ed25519Key),
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({}, ..)", self.scheme().name())
    }
}

impl SigningKey {
    /// Generates a new key.
    ///
    /// # Errors
    /// [`SignError::Hardware`] for [`Scheme::SkEd25519`]. Another error if the system has no random bytes.
    pub fn generate(scheme: Scheme) -> Result<Self, Error> {
        Self::from_seed(scheme, &Secret::random(scheme.private_len())?)
    }

    /// Computes the key from a seed of [`Scheme::private_len`] bytes.
    ///
    /// # Errors
    /// If the seed has another length, or if the scheme is [`Scheme::SkEd25519`].
    pub fn from_seed(scheme: Scheme, seed: &[u8]) -> Result<Self, Error> {
        if seed.len() != scheme.private_len() {
            return Err(INVALID_LENGTH);
        }
        let engine = match scheme {
            Scheme::Ed25519 => Engine::Curve(curve(seed)?),
            Scheme::MlDsa65 => Engine::Lattice(lattice(MlDsaSet::Ml65, seed)?),
            Scheme::MlDsa44Ed25519 => {
                let (first, second) = seed.split_at(32);
                Engine::Composite(lattice(composite::SET, first)?, curve(second)?)
            }
            Scheme::SkEd25519 => return Err(SignError::Hardware(scheme.name()).into()),
        };
        Self::assemble(scheme, SigningKnown::Seed(Secret::copy_of(seed)), engine)
    }

    /// Reads an ML-DSA-65 key whose seed is not known, in the private key form of FIPS 204.
    ///
    /// # Errors
    /// If the key is not valid: its length is wrong, or its parts do not belong together.
    pub fn from_expanded(key: &[u8]) -> Result<Self, Error> {
        let engine =
            ml_dsa::MlDsaKey::from_expanded(MlDsaSet::Ml65, key)?.ok_or(Error::InvalidKey(InvalidKey::Private))?;
        Self::assemble(Scheme::MlDsa65, SigningKnown::Expanded(Secret::copy_of(key)), Engine::Lattice(engine))
    }

    fn assemble(scheme: Scheme, known: SigningKnown, engine: Engine) -> Result<Self, Error> {
        let mut public = vec![0; scheme.public_len()];
        match &engine {
            Engine::Curve(key) => public.copy_from_slice(key.public()),
            Engine::Lattice(key) => key.public(&mut public)?,
            Engine::Composite(lattice, curve) => {
                let (first, second) = public.split_at_mut(composite::SET.public_len());
                lattice.public(first)?;
                second.copy_from_slice(curve.public());
            }
        }
        Ok(Self(Arc::new(SigningInner { public: VerifyingKey::from_bytes(scheme, &public)?, known, engine })))
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.0.public.scheme()
    }

    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> &VerifyingKey {
        &self.0.public
    }

    /// Returns the material that a key file stores.
    #[must_use]
    pub fn material(&self) -> SigningMaterial<'_> {
        match &self.0.known {
            SigningKnown::Seed(seed) => SigningMaterial::Seed(seed),
            SigningKnown::Expanded(key) => SigningMaterial::Expanded(key),
        }
    }

    /// Signs a message with the plain algorithm and an empty context. To sign files, use [`Signer`](super::Signer),
    /// which takes a digest and a namespace. May leak: the length of the message.
    ///
    /// # Errors
    /// If the system fails.
    pub fn sign(&self, message: &[u8]) -> Result<Vec<u8>, Error> {
        self.sign_with_context(message, &[])
    }

    /// Signs a message with a context. Ignores the context for Ed25519, because Ed25519 has no contexts.
    pub(super) fn sign_with_context(&self, message: &[u8], context: &[u8]) -> Result<Vec<u8>, Error> {
        match &self.0.engine {
            Engine::Curve(key) => Ok(key.sign(message)?.to_vec()),
            Engine::Lattice(key) => {
                let mut signature = vec![0; self.scheme().signature_len()];
                key.sign(message, context, &mut signature)?;
                Ok(signature)
            }
            Engine::Composite(lattice, curve) => composite::sign(lattice, curve, message, context),
        }
    }

    /// Returns the expanded form of an ML-DSA-65 key, and `None` for other keys.
    ///
    /// # Errors
    /// If the system has no memory.
    pub fn expanded(&self) -> Result<Option<Secret>, Error> {
        let Engine::Lattice(key) = &self.0.engine else { return Ok(None) };
        let mut expanded = Secret::zeroed(MlDsaSet::Ml65.expanded_len());
        key.expanded(&mut expanded)?;
        Ok(Some(expanded))
    }
}

const INVALID_LENGTH: Error = Error::InvalidKey(InvalidKey::PrivateLength);

fn curve(seed: &[u8]) -> Result<ed25519::Ed25519Key, Error> {
    seed.try_into().map(ed25519::Ed25519Key::from_seed).map_err(|_| INVALID_LENGTH)
}

fn lattice(set: MlDsaSet, seed: &[u8]) -> Result<ml_dsa::MlDsaKey, Error> {
    ml_dsa::MlDsaKey::from_seed(set, seed.try_into().map_err(|_| INVALID_LENGTH)?)
}
