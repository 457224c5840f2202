//! The digest of a message that is signed.

use aws_lc_rs::digest::{Context, SHA256};

use super::Hash;
use crate::primitive::imp::sha512::Sha512;

/// Hashes a message in pieces, for a signature over the message.
///
/// ```
/// use deadpan_seal::sign::{Hash, Hasher};
///
/// let mut hasher = Hasher::new(Hash::Sha512);
/// for piece in ["straight ", "face"] {
///     hasher.update(piece.as_bytes());
/// }
/// let digest = hasher.finish();
/// assert_eq!(digest.len(), 64);
/// ```
pub struct Hasher(HashedMessage);

enum HashedMessage {
    Sha256(Box<Context>),
    Sha512(Sha512),
}

impl Hasher {
    /// Begins a message.
    #[must_use]
    pub fn new(hash: Hash) -> Self {
        Self(match hash {
            Hash::Sha256 => HashedMessage::Sha256(Box::new(Context::new(&SHA256))),
            Hash::Sha512 => HashedMessage::Sha512(Sha512::new()),
        })
    }

    /// Adds data to the message. May leak: the length of the data.
    pub fn update(&mut self, data: &[u8]) {
        match &mut self.0 {
            HashedMessage::Sha256(context) => context.update(data),
            HashedMessage::Sha512(message) => message.update(data),
        }
    }

    /// Returns the digest of the message: 32 bytes for SHA-256, and 64 bytes for SHA-512.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        match self.0 {
            HashedMessage::Sha256(context) => context.finish().as_ref().to_vec(),
            HashedMessage::Sha512(message) => message.finish().to_vec(),
        }
    }
}
