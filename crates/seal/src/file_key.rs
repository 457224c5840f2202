//! The key of one file, and what is derived from it.

use crate::header::PREAMBLE;
use crate::{Error, Secret};
use aws_lc_rs::hkdf::{self, HKDF_SHA256, KeyType, Salt};
use aws_lc_rs::hmac;
use deadpan_ct::Wiped;

/// Bytes in a file key and in all that is derived from it.
pub(crate) const KEY: usize = 32;

/// 32 random bytes, a fresh one for each file.
#[derive(Clone)]
pub(crate) struct FileKey(Secret);

struct Length;

impl KeyType for Length {
    fn len(&self) -> usize {
        KEY
    }
}

impl FileKey {
    pub(crate) fn from_secret(secret: Secret) -> Option<Self> {
        (secret.len() == KEY).then_some(Self(secret))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn derive(&self, label: &str) -> Result<Wiped<[u8; KEY]>, Error> {
        let extracted = Salt::new(HKDF_SHA256, &PREAMBLE).extract(&self.0);
        let mut key = Wiped::new([0; KEY]);
        let label = [label.as_bytes()];
        let derived = extracted.expand(&label, Length).and_then(|derived: hkdf::Okm<'_, Length>| derived.fill(&mut *key));
        derived.map(|()| key).map_err(|_| Error::System("key derivation failed"))
    }

    fn mac_key(&self) -> Result<hmac::Key, Error> {
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &*self.derive("deadpan v1 header")?))
    }

    /// The code over a header.
    pub(crate) fn mac(&self, header: &[u8]) -> Result<hmac::Tag, Error> {
        Ok(hmac::sign(&self.mac_key()?, header))
    }

    /// Whether the code is right; compared without a jump.
    pub(crate) fn verify(&self, header: &[u8], mac: &[u8; KEY]) -> Result<bool, Error> {
        let expected = self.mac(header)?;
        Ok(Secret::copy_of(expected.as_ref()).same(mac))
    }

    pub(crate) fn metadata_key(&self) -> Result<Wiped<[u8; KEY]>, Error> {
        self.derive("deadpan v1 metadata")
    }

    pub(crate) fn payload_key(&self) -> Result<Wiped<[u8; KEY]>, Error> {
        self.derive("deadpan v1 payload")
    }
}
