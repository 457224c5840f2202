//! Passphrases, and Argon2id, which makes keys of them.

use crate::Secret;

/// A passphrase, as the bytes that were typed.
#[derive(Clone, Debug)]
pub struct Passphrase(Secret);

impl Passphrase {
    /// From what was typed.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Self {
        Self(Secret::copy_of(bytes))
    }

    /// Its bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

/// What one try at a passphrase costs: Argon2id's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Memory in KiB.
    pub memory: u32,
    /// Passes over it.
    pub passes: u32,
    /// Lanes, which different cores can fill.
    pub lanes: u32,
}

impl Default for Cost {
    /// 256 MiB, three passes, four lanes: about a quarter of a second.
    fn default() -> Self {
        Self { memory: 256 << 10, passes: 3, lanes: 4 }
    }
}
