//! Secrets that open sealed labels (doors), and the random seed of a picture.

use super::low;
use crate::{Error, Pixels};

/// The length of a seed in bytes.
pub(super) const SEED: usize = 24;

/// Random bytes at the beginning of a picture. Because of the seed, the sealed labels, the places and the mask of each
/// picture are different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seed(pub [u8; SEED]);

impl Seed {
    /// Returns a new seed. Each picture needs a separate seed.
    ///
    /// # Errors
    ///
    /// [`Error::Random`] if the system has no random bytes.
    pub fn random() -> Result<Self, Error> {
        let mut seed = [0; SEED];
        random(&mut seed)?;
        Ok(Self(seed))
    }

    /// Reads the seed of a picture. Every picture with at least 192 samples has a seed, even if the picture carries no
    /// data.
    #[must_use]
    pub fn in_pixels(pixels: &Pixels) -> Option<Self> {
        Self::from(&pixels.samples)
    }

    pub(super) fn from(first: &[u8]) -> Option<Self> {
        let mut seed = [0; SEED];
        low::read(first.get(..SEED * 8)?, &mut seed);
        Some(Self(seed))
    }

    /// Returns the salt with which the passphrase of this picture is hashed.
    #[must_use]
    pub fn salt(&self) -> [u8; 16] {
        std::array::from_fn(|at| self.0[at])
    }
}

/// The doors that a secret opens.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    /// Door 0.
    Set,
    /// Any other door.
    Others,
}

/// A secret that opens a door. The bytes of the secret are wiped when it is dropped.
#[derive(Clone)]
pub struct Secret {
    pub(super) bytes: [u8; 32],
    pub(super) opens: Opens,
}

impl Secret {
    /// Returns the secret of a set, which opens all pictures of the set.
    #[must_use]
    pub fn set(set_key: &[u8; 32]) -> Self {
        Self { bytes: blake3::derive_key("deadpan picture set 1", set_key), opens: Opens::Set }
    }

    /// Returns the secret of a recipient: `key` is the recipient's public key, as DER of SubjectPublicKeyInfo or in
    /// age's text form.
    #[must_use]
    pub fn recipient(key: &[u8]) -> Self {
        Self { bytes: blake3::derive_key("deadpan picture recipient 1", key), opens: Opens::Others }
    }

    /// Returns the secret of a passphrase: `hash` is the Argon2id hash of the passphrase under [`Seed::salt`].
    #[must_use]
    pub fn passphrase(hash: &[u8; 32]) -> Self {
        Self { bytes: *hash, opens: Opens::Others }
    }

    /// Returns the secret that everybody knows, for data without a recipient or a passphrase.
    #[must_use]
    pub fn open() -> Self {
        Self { bytes: [0; 32], opens: Opens::Others }
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.bytes = [0; 32];
        // The compiler must assume that the zeros are read, so it cannot remove the writing of the zeros.
        std::hint::black_box(&self.bytes);
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Secret").finish_non_exhaustive()
    }
}

/// Fills `bytes` with random bytes from the system.
pub(super) fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::Random(error.into()))
}
