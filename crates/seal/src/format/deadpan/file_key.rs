//! The key of one file, and the keys that are derived from it.

use aws_lc_rs::hmac;

use crate::format::deadpan::layout::Preamble;
use crate::primitive::imp::hkdf::{self, HkdfHash};
use crate::{Error, PublicKey, Secret};
use deadpan_ct::Wiped;

/// The number of bytes in a file key and in each derived key.
pub(crate) const KEY: usize = 32;

/// A file key, and the preamble of its file. The file key is 32 random bytes, new for each file. All derived keys are
/// bound to the preamble.
#[derive(Clone)]
pub(crate) struct FileKey {
    secret: Secret,
    preamble: Preamble,
}

impl FileKey {
    pub(crate) fn from_secret(secret: Secret, preamble: Preamble) -> Option<Self> {
        (secret.len() == KEY).then_some(Self { secret, preamble })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.secret
    }

    /// May leak: the answer.
    pub(crate) fn same(&self, other: &Self) -> bool {
        self.secret.same(&other.secret)
    }

    pub(crate) fn preamble(&self) -> Preamble {
        self.preamble
    }

    /// Derives the key with this label.
    pub(crate) fn derive(&self, label: &str) -> Result<Secret, Error> {
        self.expand(label.as_bytes(), KEY)
    }

    fn expand(&self, info: &[u8], length: usize) -> Result<Secret, Error> {
        let mut extracted = Wiped::new([0; KEY]);
        hkdf::extract(self.preamble.bytes(), &self.secret, &mut extracted)?;
        let mut key = Secret::zeroed(length);
        hkdf::expand(HkdfHash::Sha256, &*extracted, info, &mut key)?;
        Ok(key)
    }

    /// Derives the random bytes with which this file key is encapsulated to a public key. The random bytes are as
    /// secret as the file key, and they differ for each public key and each file. A holder of the file key can compute
    /// a recipient's entry again. A holder of the file key can therefore find the entry of a known public key.
    pub(crate) fn encapsulation(&self, key: &PublicKey) -> Result<Secret, Error> {
        let info = [&b"deadpan v1 encapsulation"[..], &key.kem().id().to_be_bytes(), key.as_bytes()].concat();
        self.expand(&info, key.kem().random_len())
    }

    fn mac_key(&self) -> Result<hmac::Key, Error> {
        Ok(hmac::Key::new(hmac::HMAC_SHA256, &self.derive("deadpan v1 header")?))
    }

    /// Returns the MAC of a header.
    pub(crate) fn mac(&self, header: &[u8]) -> Result<hmac::Tag, Error> {
        Ok(hmac::sign(&self.mac_key()?, header))
    }

    /// The comparison takes constant time.
    pub(crate) fn verify(&self, header: &[u8], mac: &[u8; KEY]) -> Result<bool, Error> {
        let expected = self.mac(header)?;
        Ok(Secret::copy_of(expected.as_ref()).same(mac))
    }

    pub(crate) fn metadata_key(&self) -> Result<Secret, Error> {
        self.derive("deadpan v1 metadata")
    }

    /// Calls `make` with the key of the payload. `make` starts or resumes the payload's message.
    pub(crate) fn message<T>(&self, make: impl FnOnce(&[u8; KEY]) -> Result<T, Error>) -> Result<T, Error> {
        make(self.payload_key()?.as_array().ok_or(Error::System("key derivation failed"))?)
    }

    pub(crate) fn payload_key(&self) -> Result<Secret, Error> {
        self.derive("deadpan v1 payload")
    }
}
