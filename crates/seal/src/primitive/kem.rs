//! Key encapsulation with six kinds of keys: one type for private keys, and one type for public keys. Choose X-Wing
//! unless you need another kind of key.
//!
//! ```
//! use deadpan_seal::{Kem, PrivateKey, PublicKey, hpke};
//!
//! # fn main() -> Result<(), deadpan_seal::Error> {
//! let private = PrivateKey::generate(Kem::XWing)?;
//! let public = PublicKey::from_bytes(Kem::XWing, private.public().as_bytes())?;
//! let (enc, sealed) = hpke::seal(&public, b"example", b"", b"file key")?;
//! assert_eq!(hpke::open(&private, &enc, b"example", b"", &sealed)?.as_deref(), Some(&b"file key"[..]));
//! # Ok(())
//! # }
//! ```

mod dh;
mod hybrid;
mod private;
mod public;
#[cfg(test)]
pub(crate) mod tests;

use crate::primitive::imp::ml_kem::MlKemSet;
use dh::Curve;
pub use private::{KeyHolder, Material, PrivateKey};
pub use public::PublicKey;

/// The kind of attacks that a kind of key protects against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Elliptic curves alone: small and fast, but a quantum computer breaks them.
    Ecc,
    /// ML-KEM alone.
    Pqc,
    /// Elliptic curves together with ML-KEM. An attacker has to break both algorithms.
    Hybrid,
}

/// A kind of key; each kind has the name of its KEM in HPKE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kem {
    /// DHKEM(P-256, HKDF-SHA256), 0x0010.
    P256,
    /// DHKEM(X25519, HKDF-SHA256), 0x0020.
    X25519,
    /// ML-KEM-768, 0x0041.
    MlKem768,
    /// ML-KEM-1024, 0x0042.
    MlKem1024,
    /// MLKEM768-P256, 0x0050.
    MlKem768P256,
    /// X-Wing (MLKEM768-X25519), 0x647a.
    XWing,
}

impl Kem {
    /// All kinds of keys.
    pub const ALL: [Self; 6] =
        [Self::P256, Self::X25519, Self::MlKem768, Self::MlKem1024, Self::MlKem768P256, Self::XWing];

    /// Returns the KEM's number in HPKE's registry.
    #[must_use]
    pub const fn id(self) -> u16 {
        match self {
            Self::P256 => 0x0010,
            Self::X25519 => 0x0020,
            Self::MlKem768 => 0x0041,
            Self::MlKem1024 => 0x0042,
            Self::MlKem768P256 => 0x0050,
            Self::XWing => 0x647a,
        }
    }

    /// Returns the kind of key whose KEM has this number.
    #[must_use]
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kem| kem.id() == id)
    }

    /// Returns the usual name of the kind.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::P256 => "P-256",
            Self::X25519 => "X25519",
            Self::MlKem768 => "ML-KEM-768",
            Self::MlKem1024 => "ML-KEM-1024",
            Self::MlKem768P256 => "ML-KEM-768+P-256",
            Self::XWing => "X-Wing",
        }
    }

    /// Returns the kind of attacks that keys of this kind protect against.
    #[must_use]
    pub const fn mode(self) -> Mode {
        match self {
            Self::P256 | Self::X25519 => Mode::Ecc,
            Self::MlKem768 | Self::MlKem1024 => Mode::Pqc,
            Self::MlKem768P256 | Self::XWing => Mode::Hybrid,
        }
    }

    /// Returns the length of a public key.
    #[must_use]
    pub const fn public_len(self) -> usize {
        match self {
            Self::P256 => 65,
            Self::X25519 => 32,
            Self::MlKem768 => 1184,
            Self::MlKem1024 => 1568,
            Self::MlKem768P256 => 1184 + 65,
            Self::XWing => 1184 + 32,
        }
    }

    /// Returns the length of a private key as HPKE serializes it: a scalar or a seed.
    #[must_use]
    pub const fn private_len(self) -> usize {
        match self {
            Self::MlKem768 | Self::MlKem1024 => 64,
            _ => 32,
        }
    }

    /// Returns the length of an encapsulated secret.
    #[must_use]
    pub const fn enc_len(self) -> usize {
        match self {
            Self::P256 => 65,
            Self::X25519 => 32,
            Self::MlKem768 => 1088,
            Self::MlKem1024 => 1568,
            Self::MlKem768P256 => 1088 + 65,
            Self::XWing => 1088 + 32,
        }
    }

    /// Returns the number of random bytes that an encapsulation needs: 32 bytes for ML-KEM, then the bytes for the
    /// curve's scalar.
    pub(crate) const fn random_len(self) -> usize {
        match self.parts() {
            KemParts::Dh(curve) => curve.sample_len(),
            KemParts::Ml(_) => 32,
            KemParts::Hybrid(_, curve, _) => 32 + curve.sample_len(),
        }
    }

    /// The keys and encapsulated secrets of a hybrid begin with the post-quantum half.
    const fn parts(self) -> KemParts {
        match self {
            Self::P256 => KemParts::Dh(Curve::P256),
            Self::X25519 => KemParts::Dh(Curve::X25519),
            Self::MlKem768 => KemParts::Ml(MlKemSet::Ml768),
            Self::MlKem1024 => KemParts::Ml(MlKemSet::Ml1024),
            Self::MlKem768P256 => KemParts::Hybrid(MlKemSet::Ml768, Curve::P256, b"MLKEM768-P256"),
            Self::XWing => KemParts::Hybrid(MlKemSet::Ml768, Curve::X25519, br"\.//^\"),
        }
    }
}

/// The primitives of a kind of key.
#[derive(Clone, Copy)]
enum KemParts {
    Dh(Curve),
    Ml(MlKemSet),
    /// A hybrid, with a label that makes its shared secrets different from the shared secrets of other KEMs.
    Hybrid(MlKemSet, Curve, &'static [u8]),
}
