//! The classical half: two curves, and the KEM that RFC 9180, section 4.1 makes of each (DHKEM).

use super::Kem;
use crate::hpke::labeled::Suite;
use crate::imp::{p256, x25519};
use crate::{Error, Secret};
use deadpan_ct::Wiped;

/// The curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Curve {
    P256,
    X25519,
}

impl Curve {
    /// Bytes in a point.
    pub(super) const fn point_len(self) -> usize {
        match self {
            Self::P256 => p256::POINT,
            Self::X25519 => 32,
        }
    }

    /// Bytes that [`Scalar::sample`] wants, so that it fails less than once in 2^96 times.
    pub(super) const fn sample_len(self) -> usize {
        match self {
            Self::P256 => 4 * 32,
            Self::X25519 => 32,
        }
    }

    /// Whether these bytes are a point of the curve. For X25519 all are, if there are 32 of them.
    pub(super) fn is_point(self, bytes: &[u8]) -> Result<bool, Error> {
        match self {
            Self::P256 => bytes.try_into().map_or(Ok(false), p256::is_point),
            Self::X25519 => Ok(bytes.len() == 32),
        }
    }
}

/// A private scalar.
pub(super) enum Scalar {
    P256(p256::Scalar),
    X25519(Secret),
}

impl Scalar {
    /// The scalar in these bytes; `None` if they are not 32, or, for P-256, zero or not below the order. May leak: that.
    pub(super) fn from_bytes(curve: Curve, bytes: &[u8]) -> Result<Option<Self>, Error> {
        let Some(bytes) = bytes.as_array::<32>() else { return Ok(None) };
        match curve {
            Curve::P256 => Ok(p256::Scalar::from_bytes(bytes)?.map(Self::P256)),
            Curve::X25519 => Ok(Some(Self::X25519(Secret::copy_of(bytes)))),
        }
    }

    /// `RandomScalar` of draft-irtf-cfrg-concrete-hybrid-kems: the first 32 bytes that are a scalar. May leak: which ones they are.
    pub(super) fn sample(curve: Curve, bytes: &[u8]) -> Result<Option<Self>, Error> {
        for part in bytes.chunks_exact(32) {
            if let Some(scalar) = Self::from_bytes(curve, part)? {
                return Ok(Some(scalar));
            }
        }
        Ok(None)
    }

    /// A random one.
    pub(super) fn random(curve: Curve) -> Result<Self, Error> {
        loop {
            let bytes = Secret::random(32)?;
            match curve {
                Curve::X25519 => return Ok(Self::X25519(bytes)),
                Curve::P256 => {
                    if let Some(scalar) = Self::from_bytes(curve, &bytes)? {
                        return Ok(scalar);
                    }
                }
            }
        }
    }

    /// Its public point. `out` has [`Curve::point_len`] bytes. May leak: nothing.
    pub(super) fn public(&self, out: &mut [u8]) -> Result<(), Error> {
        match self {
            Self::P256(scalar) => scalar.public(out.as_mut_array().ok_or(MISFIT)?),
            Self::X25519(scalar) => {
                x25519::public(scalar.as_array().ok_or(MISFIT)?, out.as_mut_array().ok_or(MISFIT)?);
                Ok(())
            }
        }
    }

    /// The Diffie-Hellman value with a point; `false` if there is none: bytes that are no point, or a point of small order. May leak: that.
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

/// Lengths are checked before anything gets here.
const MISFIT: Error = Error::System("a key has the wrong length");

/// `Encap`, with the ephemeral scalar given.
pub(super) fn encapsulate(kem: Kem, curve: Curve, public: &[u8], ephemeral: &Scalar) -> Result<(Vec<u8>, Secret), Error> {
    let mut enc = vec![0; curve.point_len()];
    ephemeral.public(&mut enc)?;
    let mut value = Wiped::new([0; 32]);
    if !ephemeral.multiply(public, &mut value)? {
        return Err(SMALL_ORDER);
    }
    let shared = derive(kem, &value, &enc, public)?;
    Ok((enc, shared))
}

/// What is said of a recipient whose point leads nowhere.
pub(super) const SMALL_ORDER: Error = Error::Invalid(
    "the public key is a point of small order, which protects nothing\nhint: nobody has such a key by chance; ask its owner",
);

/// `Decap`; `None` if `enc` is not valid. May leak: that.
pub(super) fn decapsulate(kem: Kem, scalar: &Scalar, public: &[u8], enc: &[u8]) -> Result<Option<Secret>, Error> {
    let mut value = Wiped::new([0; 32]);
    if !scalar.multiply(enc, &mut value)? {
        return Ok(None);
    }
    derive(kem, &value, enc, public).map(Some)
}

/// `ExtractAndExpand`.
fn derive(kem: Kem, value: &[u8; 32], enc: &[u8], public: &[u8]) -> Result<Secret, Error> {
    let suite = Suite::kem(kem);
    let mut key = Wiped::new([0; 32]);
    suite.extract(b"", b"eae_prk", value, &mut key)?;
    let mut shared = Secret::zeroed(32);
    suite.expand(&key, b"shared_secret", &[enc, public], &mut shared)?;
    Ok(shared)
}
