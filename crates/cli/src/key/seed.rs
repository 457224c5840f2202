//! Seeds of private keys: the 32 or 64 bytes from which a key can be made again.

use crate::tell::failure::Failure;
use deadpan_seal::key::Found;
use deadpan_seal::sign::{Scheme, SigningKey, SigningMaterial};
use deadpan_seal::{Error, Kem, Material, PrivateKey};

/// A kind of keys that have a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeedKind {
    Seals(Kem),
    Signs(Scheme),
}

/// The kinds in the order of their numbers, which begin at 1. The words of a share contain the number.
const KINDS: [SeedKind; 9] = [
    SeedKind::Seals(Kem::X25519),
    SeedKind::Seals(Kem::P256),
    SeedKind::Seals(Kem::MlKem768),
    SeedKind::Seals(Kem::MlKem1024),
    SeedKind::Seals(Kem::XWing),
    SeedKind::Seals(Kem::MlKem768P256),
    SeedKind::Signs(Scheme::Ed25519),
    SeedKind::Signs(Scheme::MlDsa65),
    SeedKind::Signs(Scheme::MlDsa44Ed25519),
];

impl SeedKind {
    /// Returns the kind and the seed of a private key, or `None` if the key has no seed.
    pub fn of(key: &Found) -> Option<(Self, &[u8])> {
        let (kind, seed): (_, &[u8]) = match key {
            Found::Private(key) => match key.material() {
                Material::Seed(seed) => (Self::Seals(key.public().kem()), seed),
                _ => return None,
            },
            Found::Signing(key) => match key.material() {
                SigningMaterial::Seed(seed) => (Self::Signs(key.public().scheme()), seed),
                SigningMaterial::Expanded(_) => return None,
            },
            _ => return None,
        };
        Some((kind, seed)).filter(|(kind, seed)| seed.len() == kind.length())
    }

    /// Returns the kind with this name, in capital or small letters.
    pub fn named(name: &str) -> Result<Self, Failure> {
        let found = KINDS.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(name.trim()));
        found.ok_or_else(|| {
            Failure::usage(format!("there is no kind of keys {name:?}"), "deadpan keys restore --help lists them")
        })
    }

    pub fn of_number(number: u8) -> Option<Self> {
        KINDS.get(usize::from(number).wrapping_sub(1)).copied()
    }

    pub fn number(self) -> u8 {
        KINDS.iter().position(|kind| *kind == self).map_or(0, |index| index as u8 + 1)
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Seals(kem) => kem.name(),
            Self::Signs(scheme) => scheme.name(),
        }
    }

    /// Returns the length of the seed.
    pub fn length(self) -> usize {
        match self {
            Self::Seals(Kem::MlKem768 | Kem::MlKem1024) | Self::Signs(Scheme::MlDsa44Ed25519) => 64,
            _ => 32,
        }
    }

    /// Returns the private key that has this seed.
    pub fn key(self, seed: &[u8]) -> Result<Found, Error> {
        match self {
            Self::Seals(kem) => PrivateKey::from_seed(kem, seed).map(Found::Private),
            Self::Signs(scheme) => SigningKey::from_seed(scheme, seed).map(Found::Signing),
        }
    }
}
