//! The key of one age file, and the keys that are derived from it.

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::hmac;

use crate::primitive::entropy::Entropy;
use crate::primitive::imp::hkdf::{self, HkdfHash};
use crate::{Error, Secret};
use deadpan_ct::Wiped;

/// The number of bytes in a file key.
pub(crate) const KEY: usize = 16;
/// The number of bytes in a sealed file key.
pub(crate) const SEALED: usize = KEY + 16;

/// A file key: 16 random bytes, new for each file.
#[derive(Clone)]
pub(crate) struct AgeFileKey(Secret);

impl AgeFileKey {
    pub(crate) fn generate(entropy: Entropy) -> Result<Self, Error> {
        let mut secret = Secret::zeroed(KEY);
        entropy.fill("age file key", 0, &mut secret)?;
        Ok(Self(secret))
    }

    pub(crate) fn from_secret(secret: Secret) -> Option<Self> {
        (secret.len() == KEY).then_some(Self(secret))
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn same(&self, other: &Self) -> bool {
        self.0.same(&other.0)
    }

    /// Returns a copy of the key, for a plugin.
    pub(crate) fn secret(&self) -> Secret {
        self.0.clone()
    }

    /// Returns the MAC of a header. `header` is the header up to and including the hyphens of the last line.
    pub(crate) fn mac(&self, header: &[u8]) -> Result<hmac::Tag, Error> {
        let key = derive(&self.0, b"", b"header")?;
        Ok(hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &key), header))
    }

    /// The comparison takes constant time.
    pub(crate) fn verify(&self, header: &[u8], mac: &[u8; 32]) -> Result<bool, Error> {
        let expected = self.mac(header)?;
        Ok(Secret::copy_of(expected.as_ref()).same(mac))
    }

    pub(crate) fn payload_key(&self, nonce: &[u8]) -> Result<Secret, Error> {
        derive(&self.0, nonce, b"payload")
    }

    /// The wrapping key must seal nothing except this file key.
    pub(crate) fn seal(&self, wrapping: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = vec![0; SEALED];
        let (output, tag) = sealed.split_at_mut(KEY);
        cipher(wrapping)?
            .seal_out_of_place_scatter(nonce(), Aad::empty(), &self.0, output, &[], tag)
            .map_err(|_| Error::System("sealing failed"))?;
        Ok(sealed)
    }

    /// Opens a file key. Returns `None` if the file key was sealed under another wrapping key. May leak: whether the
    /// result is `None`.
    pub(crate) fn open(wrapping: &[u8], sealed: &[u8]) -> Result<Option<Self>, Error> {
        let (input, tag) = sealed.split_at_checked(KEY).ok_or(Error::Header("the length of a recipient"))?;
        let mut secret = Secret::zeroed(KEY);
        let opened = cipher(wrapping)?.open_separate_gather(nonce(), Aad::empty(), input, tag, &mut secret);
        Ok(opened.is_ok().then_some(Self(secret)))
    }
}

/// Derives 32 bytes with HKDF-SHA-256. May leak: the lengths.
pub(crate) fn derive(secret: &[u8], salt: &[u8], info: &[u8]) -> Result<Secret, Error> {
    let mut extracted = Wiped::new([0; 32]);
    hkdf::extract(salt, secret, &mut extracted)?;
    let mut key = Secret::zeroed(32);
    hkdf::expand(HkdfHash::Sha256, &*extracted, info, &mut key)?;
    Ok(key)
}

fn cipher(key: &[u8]) -> Result<LessSafeKey, Error> {
    let key = UnboundKey::new(&CHACHA20_POLY1305, key).map_err(|_| Error::System("no cipher"))?;
    Ok(LessSafeKey::new(key))
}

/// Returns the nonce. The nonce is constant, because each wrapping key seals only one file key.
fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; 12])
}
