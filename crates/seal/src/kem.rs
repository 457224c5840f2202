//! Key encapsulation: six kinds of keys behind one pair of types.

use crate::{Error, Secret};

/// What protects a file from whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Elliptic curves alone: small and fast, and open to a quantum computer.
    Ecc,
    /// ML-KEM alone.
    Pqc,
    /// Both: whoever breaks one still has to break the other.
    Hybrid,
}

/// A kind of key, by its HPKE KEM.
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
    /// All of them.
    pub const ALL: [Self; 6] = [Self::P256, Self::X25519, Self::MlKem768, Self::MlKem1024, Self::MlKem768P256, Self::XWing];

    /// Its number in HPKE's registry.
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

    /// The kind with this number.
    #[must_use]
    pub fn from_id(id: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|kem| kem.id() == id)
    }

    /// Its usual name.
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

    /// What it protects from.
    #[must_use]
    pub const fn mode(self) -> Mode {
        match self {
            Self::P256 | Self::X25519 => Mode::Ecc,
            Self::MlKem768 | Self::MlKem1024 => Mode::Pqc,
            Self::MlKem768P256 | Self::XWing => Mode::Hybrid,
        }
    }

    /// Bytes in a public key.
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

    /// Bytes in a private key as HPKE writes it: a scalar or a seed.
    #[must_use]
    pub const fn private_len(self) -> usize {
        match self {
            Self::MlKem768 | Self::MlKem1024 => 64,
            _ => 32,
        }
    }

    /// Bytes in an encapsulated secret.
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
}

/// A public key, checked.
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey {
    kem: Kem,
    bytes: Vec<u8>,
}

/// How a private key is known.
#[derive(Debug)]
pub enum Material<'a> {
    /// The scalar or seed of HPKE, from which all else follows.
    Seed(&'a Secret),
    /// An ML-KEM decapsulation key whose seed is not known.
    Expanded(&'a Secret),
}

/// A private key with its public one. Wiped on drop.
#[derive(Clone)]
pub struct PrivateKey {
    public: PublicKey,
    seed: Secret,
}

impl std::fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PublicKey({})", self.kem.name())
    }
}

impl std::fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PrivateKey({}, ..)", self.public.kem.name())
    }
}

impl PublicKey {
    /// A key from the bytes that HPKE writes (`SerializePublicKey`).
    ///
    /// # Errors
    /// If they are not a valid key of this kind: a wrong length, a point off the curve, ML-KEM coefficients out of range.
    pub fn from_bytes(kem: Kem, bytes: &[u8]) -> Result<Self, Error> {
        Ok(Self { kem, bytes: bytes.to_vec() })
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

    /// A fresh shared secret, and what its owner needs to find it again.
    pub(crate) fn encapsulate(&self) -> Result<(Vec<u8>, Secret), Error> {
        unimplemented!()
    }
}

impl PrivateKey {
    /// A new key.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn generate(kem: Kem) -> Result<Self, Error> {
        Self::from_seed(kem, &Secret::random(kem.private_len())?)
    }

    /// The key that HPKE writes as these bytes (`SerializePrivateKey`): a scalar (X25519, P-256) or a seed.
    ///
    /// # Errors
    /// If they are not a key of this kind.
    pub fn from_seed(kem: Kem, seed: &[u8]) -> Result<Self, Error> {
        Ok(Self { public: PublicKey { kem, bytes: Vec::new() }, seed: Secret::copy_of(seed) })
    }

    /// An ML-KEM key of which only the decapsulation key of FIPS 203 is known.
    ///
    /// # Errors
    /// If it is not a valid one, or `kem` is not ML-KEM.
    pub fn from_expanded(_kem: Kem, _key: &[u8]) -> Result<Self, Error> {
        unimplemented!()
    }

    /// Its kind.
    #[must_use]
    pub fn kem(&self) -> Kem {
        self.public.kem
    }

    /// Its public part.
    #[must_use]
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// What a key file has to hold.
    #[must_use]
    pub fn material(&self) -> Material<'_> {
        Material::Seed(&self.seed)
    }

    /// The shared secret inside `enc`. May leak: nothing of the key; ML-KEM gives another secret for a wrong `enc` instead of an error.
    pub(crate) fn decapsulate(&self, _enc: &[u8]) -> Result<Secret, Error> {
        unimplemented!()
    }
}
