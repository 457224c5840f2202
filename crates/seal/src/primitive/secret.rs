//! Secret bytes. Secrets are locked in memory if the system allows it, wiped on drop, never shown, and compared in
//! constant time.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::primitive::entropy::Entropy;
use crate::primitive::imp::locked::Locked;
use deadpan_ct::CtEq;

/// Secret bytes that are wiped on drop.
pub struct Secret(Locked);

impl Secret {
    /// Makes a secret of `length` zero bytes, which the caller then fills.
    #[must_use]
    pub fn zeroed(length: usize) -> Self {
        Self(Locked::zeroed(length))
    }

    /// Makes a secret with a copy of `bytes`. The caller has to wipe the original bytes.
    #[must_use]
    pub fn copy_of(bytes: &[u8]) -> Self {
        let mut secret = Self::zeroed(bytes.len());
        secret.copy_from_slice(bytes);
        secret
    }

    /// Makes a secret of `length` random bytes.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn random(length: usize) -> Result<Self, crate::Error> {
        let mut secret = Self::zeroed(length);
        Entropy::System.fill("secret", 0, &mut secret)?;
        Ok(secret)
    }

    /// Returns whether two secrets have the same bytes. May leak: the lengths, and the result.
    #[must_use]
    pub fn same(&self, other: &[u8]) -> bool {
        self.len() == other.len() && self.deref().ct_eq(other).declassify()
    }
}

impl Clone for Secret {
    fn clone(&self) -> Self {
        Self::copy_of(self)
    }
}

impl Deref for Secret {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl DerefMut for Secret {
    fn deref_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
