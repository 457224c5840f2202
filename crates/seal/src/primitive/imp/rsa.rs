//! RSA-OAEP with SHA-256 (RFC 8017, section 7.1) and a label, for SSH keys. SSH stores RSA keys as numbers and not as
//! PKCS#8.

use std::ptr::null_mut;

use aws_lc_sys as ffi;

use super::owned::Owned;
use crate::{Error, Secret};

const FAILED: Error = Error::System("RSA failed");

/// A public or private key.
pub(crate) struct RsaKey(Owned<ffi::EVP_PKEY>);

fn number(bytes: &[u8]) -> Result<Owned<ffi::BIGNUM>, Error> {
    // SAFETY: the function gets the bytes with their length; the call returns null or a new number that this code owns.
    unsafe { Owned::new(ffi::BN_bin2bn(bytes.as_ptr(), bytes.len(), null_mut())) }
}

impl RsaKey {
    /// Reads a public key. Returns `None` if AWS-LC refuses the numbers of the key.
    pub(crate) fn public(modulus: &[u8], exponent: &[u8]) -> Result<Option<Self>, Error> {
        let (n, e) = (number(modulus)?, number(exponent)?);
        // SAFETY: both numbers are valid and are copied; the call returns null or a new object that this code owns.
        let key = unsafe { Owned::new(ffi::RSA_new_public_key(n.get(), e.get())) };
        key.map_or(Ok(None), |key| Self::from_rsa(&key).map(Some))
    }

    /// Reads a private key. Returns `None` if the numbers of the key do not belong together. May leak: whether the
    /// result is `None`.
    pub(crate) fn private(modulus: &[u8], exponent: &[u8], d: &[u8]) -> Result<Option<Self>, Error> {
        let (n, e, d) = (number(modulus)?, number(exponent)?, number(d)?);
        // SAFETY: the numbers are valid and are copied; the call returns null or a new object that this code owns.
        let key = unsafe { Owned::new(ffi::RSA_new_private_key_no_crt(n.get(), e.get(), d.get())) };
        key.map_or(Ok(None), |key| Self::from_rsa(&key).map(Some))
    }

    fn from_rsa(key: &Owned<ffi::RSA>) -> Result<Self, Error> {
        // SAFETY: the call returns null or a new object that this code owns.
        let pair = unsafe { Owned::new(ffi::EVP_PKEY_new()) }?;
        // SAFETY: both objects are valid, and the pair shares the ownership of the key.
        let done = unsafe { ffi::EVP_PKEY_set1_RSA(pair.get(), key.get()) };
        if done == 1 { Ok(Self(pair)) } else { Err(FAILED) }
    }

    fn context(
        &self,
        init: unsafe extern "C" fn(*mut ffi::EVP_PKEY_CTX) -> i32,
        label: &[u8],
    ) -> Result<Owned<ffi::EVP_PKEY_CTX>, Error> {
        // SAFETY: the key is valid, and the context shares the ownership of the key; the call returns null or a new
        // context that this code owns.
        let context = unsafe { Owned::new(ffi::EVP_PKEY_CTX_new(self.0.get(), null_mut())) }?;
        // SAFETY: the context is valid, and the digest is a constant. By default, AWS-LC uses the same digest, SHA-256,
        // for MGF1, too.
        let done = unsafe {
            init(context.get()) == 1
                && ffi::EVP_PKEY_CTX_set_rsa_padding(context.get(), ffi::RSA_PKCS1_OAEP_PADDING) == 1
                && ffi::EVP_PKEY_CTX_set_rsa_oaep_md(context.get(), ffi::EVP_sha256()) == 1
        };
        if !done {
            return Err(FAILED);
        }
        // SAFETY: the function gets the label with its length; the copy may be null, and after the next call the copy
        // belongs to the context.
        let copy = unsafe { ffi::OPENSSL_memdup(label.as_ptr().cast(), label.len()) };
        // SAFETY: the context is valid. The context takes ownership of the copy, which AWS-LC's own allocator made.
        let done = !copy.is_null()
            && unsafe { ffi::EVP_PKEY_CTX_set0_rsa_oaep_label(context.get(), copy.cast(), label.len()) } == 1;
        if done { Ok(context) } else { Err(FAILED) }
    }

    /// Encrypts a short message. May leak: the lengths.
    pub(crate) fn encrypt(&self, label: &[u8], message: &[u8]) -> Result<Vec<u8>, Error> {
        let context = self.context(ffi::EVP_PKEY_encrypt_init, label)?;
        let mut length = 0;
        // SAFETY: the context is valid and the function gets the message with its length; a null pointer requests the
        // length of the result.
        let asked = unsafe {
            ffi::EVP_PKEY_encrypt(context.get(), null_mut(), &raw mut length, message.as_ptr(), message.len())
        };
        let mut sealed = vec![0; length];
        // SAFETY: the context is valid; the function gets both buffers with their lengths and checks the lengths.
        let done = asked == 1
            && unsafe {
                ffi::EVP_PKEY_encrypt(
                    context.get(),
                    sealed.as_mut_ptr(),
                    &raw mut length,
                    message.as_ptr(),
                    message.len(),
                )
            } == 1;
        sealed.truncate(length);
        if done { Ok(sealed) } else { Err(FAILED) }
    }

    /// Decrypts a message. Returns `None` if the message was encrypted to another key or with another label. May leak:
    /// whether the result is `None`.
    pub(crate) fn decrypt(&self, label: &[u8], sealed: &[u8]) -> Result<Option<Secret>, Error> {
        let context = self.context(ffi::EVP_PKEY_decrypt_init, label)?;
        // A message is shorter than the modulus, and the ciphertext is as long as the modulus.
        let mut message = Secret::zeroed(sealed.len().max(2048));
        let mut length = message.len();
        // SAFETY: the context is valid; the function gets both buffers with their lengths and checks the lengths.
        let done = unsafe {
            ffi::EVP_PKEY_decrypt(context.get(), message.as_mut_ptr(), &raw mut length, sealed.as_ptr(), sealed.len())
        };
        Ok((done == 1).then(|| Secret::copy_of(&message[..length])))
    }
}
