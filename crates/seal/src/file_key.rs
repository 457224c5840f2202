//! The key of one file, and the keys that are derived from it.

use aws_lc_rs::hmac;

use crate::imp::hkdf::{self, Hash};
use crate::layout::PREAMBLE;
use crate::{Error, Secret};
use deadpan_ct::Wiped;

/// Bytes in a file key and in each key derived from it.
pub(crate) const KEY: usize = 32;

/// A file key: 32 random bytes, new for each file.
#[derive(Clone)]
pub(crate) struct FileKey(Secret);

impl FileKey {
    pub(crate) fn from_secret(secret: Secret) -> Option<Self> {
        (secret.len() == KEY).then_some(Self(secret))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn derive(&self, label: &str) -> Result<Secret, Error> {
        let mut extracted = Wiped::new([0; KEY]);
        hkdf::extract(&PREAMBLE, &self.0, &mut extracted)?;
        let mut key = Secret::zeroed(KEY);
        hkdf::expand(Hash::Sha256, &*extracted, label.as_bytes(), &mut key)?;
        Ok(key)
    }

    fn mac_key(&self) -> Result<hmac::Key, Error> {
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &self.derive("deadpan v1 header")?))
    }

    /// Returns the MAC of a header.
    pub(crate) fn mac(&self, header: &[u8]) -> Result<hmac::Tag, Error> {
        Ok(hmac::sign(&self.mac_key()?, header))
    }

    /// Returns whether a header's MAC is right. The comparison takes constant time.
    pub(crate) fn verify(&self, header: &[u8], mac: &[u8; KEY]) -> Result<bool, Error> {
        let expected = self.mac(header)?;
        Ok(Secret::copy_of(expected.as_ref()).same(mac))
    }

    pub(crate) fn metadata_key(&self) -> Result<Secret, Error> {
        self.derive("deadpan v1 metadata")
    }

    /// Calls `make` with the key of the payload, to start or resume its message.
    pub(crate) fn message<T>(&self, make: impl FnOnce(&[u8; KEY]) -> Result<T, Error>) -> Result<T, Error> {
        make(self.payload_key()?.as_array().ok_or(Error::System("key derivation failed"))?)
    }

    pub(crate) fn payload_key(&self) -> Result<Secret, Error> {
        self.derive("deadpan v1 payload")
    }
}
