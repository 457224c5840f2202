//! The classical half of a hybrid: two curves and DHKEM, which is the KEM for each curve in RFC 9180, section 4.1.

use super::Kem;
use crate::primitive::hpke::labeled::Suite;
use crate::primitive::imp::{p256, x25519};
use crate::{Error, InvalidKey, Secret};
use deadpan_ct::Wiped;

/// The curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    X25519,
}

impl Curve {
    /// Returns the length of a point.
    pub(super) const fn point_len(self) -> usize {
        match self {
            Self::P256 => p256::POINT,
            Self::X25519 => 32,
        }
    }

    /// Returns the number of bytes that [`DhScalar::sample`] needs for a probability of failure below 2^-96.
    pub(super) const fn sample_len(self) -> usize {
        match self {
            Self::P256 => 4 * 32,
            Self::X25519 => 32,
        }
    }

    /// Returns whether `bytes` are the canonical form of a point of the curve.
    pub(super) fn is_point(self, bytes: &[u8]) -> Result<bool, Error> {
        match self {
            Self::P256 => bytes.try_into().map_or(Ok(false), p256::is_point),
            Self::X25519 => Ok(self.is_canonical(bytes)),
        }
    }

    /// Returns whether a point is in the only form that is accepted. A P-256 point has only one form with 65 bytes, and
    /// the multiplication checks this form.
    pub(super) fn is_canonical(self, bytes: &[u8]) -> bool {
        match self {
            Self::P256 => bytes.len() == p256::POINT,
            Self::X25519 => bytes.as_array().is_some_and(x25519::is_canonical),
        }
    }
}

/// A private scalar.
pub(super) enum DhScalar {
    P256(p256::Scalar),
    X25519(Secret),
}

impl DhScalar {
    /// Reads a scalar of 32 bytes. Returns `None` if the length is wrong. For P-256, also returns `None` if the number
    /// is zero or not below the order. May leak: whether the result is `None`.
    pub(super) fn from_bytes(curve: Curve, bytes: &[u8]) -> Result<Option<Self>, Error> {
        let Some(bytes) = bytes.as_array::<32>() else { return Ok(None) };
        match curve {
            Curve::P256 => Ok(p256::Scalar::from_bytes(bytes)?.map(Self::P256)),
            Curve::X25519 => Ok(Some(Self::X25519(Secret::copy_of(bytes)))),
        }
    }

    /// Returns the first group of 32 bytes that is a scalar: `RandomScalar` of draft-irtf-cfrg-concrete-hybrid-kems.
    /// May leak: the number of skipped candidates.
    pub(super) fn sample(curve: Curve, bytes: &[u8]) -> Result<Option<Self>, Error> {
        for part in bytes.chunks_exact(32) {
            if let Some(scalar) = Self::from_bytes(curve, part)? {
                return Ok(Some(scalar));
            }
        }
        Ok(None)
    }

    pub(super) fn curve(&self) -> Curve {
        match self {
            Self::P256(_) => Curve::P256,
            Self::X25519(_) => Curve::X25519,
        }
    }

    /// Computes the public point. `out` has [`Curve::point_len`] bytes. Leaks nothing.
    pub(super) fn public(&self, out: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::P256(scalar) => scalar.public(out.as_mut_array().ok_or(MISFIT)?),
            Self::X25519(scalar) => {
                x25519::public(scalar.as_array().ok_or(MISFIT)?, out.as_mut_array().ok_or(MISFIT)?);
                Ok(())
            }
        }
    }

    /// Computes the Diffie-Hellman value of this scalar and a point. Returns `false` if the bytes are not a point, or
    /// are a point of small order. May leak: the result.
    pub(super) fn multiply(&self, point: &[u8], out: &mut [u8; 32]) -> Result<bool, Error> {
        match self {
            Self::P256(scalar) => point.as_array().map_or(Ok(false), |point| scalar.multiply(point, out)),
            Self::X25519(scalar) => {
                let scalar = scalar.as_array().ok_or(MISFIT)?;
                Ok(point.as_array().is_some_and(|point| x25519::multiply(scalar, point, out)))
            }
        }
    }
}

/// The error for a wrong length. A wrong length does not occur, because the callers check all lengths.
const MISFIT: Error = Error::System("a key has the wrong length");

/// Encapsulates with a given ephemeral scalar: `Encap` of RFC 9180.
pub(super) fn encapsulate(
    kem: Kem,
    curve: Curve,
    public: &[u8],
    ephemeral: &DhScalar,
) -> Result<(Vec<u8>, Secret), Error> {
    let mut enc = vec![0; curve.point_len()];
    ephemeral.public(&mut enc)?;
    let mut value = Wiped::new([0; 32]);
    if !ephemeral.multiply(public, &mut value)? {
        return Err(SMALL_ORDER);
    }
    let shared = derive(kem, &value, &enc, public)?;
    Ok((enc, shared))
}

/// The error for a recipient whose public key is a point of small order.
pub(super) const SMALL_ORDER: Error = Error::InvalidKey(InvalidKey::SmallOrder);

/// Decapsulates: `Decap` of RFC 9180. Returns `None` if `enc` is not valid or not canonical. May leak: whether the
/// result is `None`.
pub(super) fn decapsulate(kem: Kem, scalar: &DhScalar, public: &[u8], enc: &[u8]) -> Result<Option<Secret>, Error> {
    let mut value = Wiped::new([0; 32]);
    if !scalar.curve().is_canonical(enc) || !scalar.multiply(enc, &mut value)? {
        return Ok(None);
    }
    derive(kem, &value, enc, public).map(Some)
}

/// Derives the shared secret: `ExtractAndExpand` of RFC 9180.
fn derive(kem: Kem, value: &[u8; 32], enc: &[u8], public: &[u8]) -> Result<Secret, Error> {
    let suite = Suite::kem(kem);
    let mut key = Wiped::new([0; 32]);
    suite.extract(b"", b"eae_prk", value, &mut key)?;
    let mut shared = Secret::zeroed(32);
    suite.expand(&key, b"shared_secret", &[enc, public], &mut shared)?;
    Ok(shared)
}
