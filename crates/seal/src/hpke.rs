//! HPKE, RFC 9180: base mode, one message, HKDF-SHA-256 and AES-256-GCM.

use crate::{Error, PrivateKey, PublicKey, Secret};

/// Bytes that a sealed message is longer than the message, not counting the encapsulated secret.
pub const TAG: usize = 16;

/// Seals `message` to `key`: the encapsulated secret, and the ciphertext with its tag.
///
/// # Errors
/// If the system has no random bytes.
pub fn seal(_key: &PublicKey, _info: &[u8], _aad: &[u8], _message: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Error> {
    unimplemented!()
}

/// Opens what [`seal`] made; `None` if it was not made for this key. May leak: that.
///
/// # Errors
/// If the system fails.
pub fn open(_key: &PrivateKey, _enc: &[u8], _info: &[u8], _aad: &[u8], _sealed: &[u8]) -> Result<Option<Secret>, Error> {
    unimplemented!()
}
