//! HPKE (RFC 9180) in base mode, for a single message, with HKDF-SHA-256 and AES-256-GCM.
//!
//! Seals a short secret to the owner of a public key. The result does not show who sealed the secret. For long data,
//! seal a random key with HPKE and encrypt the data under that key.
//!
//! ```
//! use deadpan_seal::{Kem, PrivateKey, hpke};
//!
//! # fn main() -> Result<(), deadpan_seal::Error> {
//! let key = PrivateKey::generate(Kem::XWing)?;
//! let (enc, sealed) = hpke::seal(key.public(), b"what for", b"", b"message")?;
//! assert_eq!(hpke::open(&key, &enc, b"what for", b"", &sealed)?.as_deref(), Some(&b"message"[..]));
//! assert!(hpke::open(&key, &enc, b"what else", b"", &sealed)?.is_none());
//! # Ok(())
//! # }
//! ```

pub(crate) mod labeled;
#[cfg(test)]
mod tests;

use aws_lc_rs::aead::{self, AES_256_GCM, Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};

use crate::{Error, Kem, PrivateKey, PublicKey, Secret};
use deadpan_ct::{Wipe, Wiped};
use labeled::Suite;

/// The length of the tag. The number of bytes by which a ciphertext is longer than its message.
pub const TAG: usize = 16;

/// Seals `message` to `key`. Returns the encapsulated secret, and the ciphertext with its tag.
///
/// May leak: the lengths.
///
/// # Errors
/// If the system has no random bytes, or the key is an X25519 point of small order.
pub fn seal(key: &PublicKey, info: &[u8], aad: &[u8], message: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Error> {
    seal_with(&OURS, key, info, aad, message)
}

/// Seals like [`seal`], but with the given AEAD.
pub(crate) fn seal_with(
    aead: &Aead,
    key: &PublicKey,
    info: &[u8],
    aad: &[u8],
    message: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), Error> {
    seal_from(aead, key, &Secret::random(key.kem().random_len())?, info, aad, message)
}

/// Seals `message` to `key`, with given random bytes for the encapsulation. Never seal two messages with the same
/// `random` bytes, because the AEAD would use the same key and nonce twice.
pub(crate) fn seal_from(
    aead: &Aead,
    key: &PublicKey,
    random: &[u8],
    info: &[u8],
    aad: &[u8],
    message: &[u8],
) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let (enc, shared) = key.encapsulate_from(random)?;
    let mut context = Context::new(aead);
    context.schedule(key.kem(), &shared, info)?;
    Ok((enc, context.seal(aad, message)?))
}

/// Opens the result of [`seal`]. Returns `None` if the message was sealed to another key or with another `info` or
/// `aad`, or if the ciphertext was changed.
///
/// May leak: the lengths, and whether the result is `None`.
///
/// # Errors
/// If the system fails.
pub fn open(key: &PrivateKey, enc: &[u8], info: &[u8], aad: &[u8], sealed: &[u8]) -> Result<Option<Secret>, Error> {
    match open_with(&OURS, key, enc, info, aad, sealed)? {
        Open::Message(message) => Ok(Some(message)),
        Open::OtherKey | Open::Invalid => Ok(None),
    }
}

/// The result of [`open_with`].
pub(crate) enum Open {
    /// The message.
    Message(Secret),
    /// The message was sealed to another key or with another `info` or `aad`, or the ciphertext was changed.
    OtherKey,
    /// The encapsulated secret is not valid for keys of this kind.
    Invalid,
}

/// Opens like [`open`], but with the given AEAD, and reports an encapsulated secret that is not valid.
pub(crate) fn open_with(
    aead: &Aead,
    key: &PrivateKey,
    enc: &[u8],
    info: &[u8],
    aad: &[u8],
    sealed: &[u8],
) -> Result<Open, Error> {
    let Some(shared) = key.decapsulate(enc)? else { return Ok(Open::Invalid) };
    let mut context = Context::new(aead);
    context.schedule(key.kem(), &shared, info)?;
    Ok(context.open(aad, sealed)?.map_or(Open::OtherKey, Open::Message))
}

/// An AEAD with its number in HPKE's registry. The test vectors also use AEADs other than the two AEADs of this module.
pub(crate) struct Aead {
    id: u16,
    algorithm: &'static Algorithm,
}

pub(crate) static OURS: Aead = Aead { id: 2, algorithm: &AES_256_GCM };
/// The AEAD that age files use.
pub(crate) static CHACHA20_POLY1305: Aead = Aead { id: 3, algorithm: &aead::CHACHA20_POLY1305 };

/// The key and the nonce of the single message.
struct Context<'a> {
    aead: &'a Aead,
    /// The key. If the key is shorter than 32 bytes, zeros follow the key.
    key: Wiped<[u8; 32]>,
    nonce: Wiped<[u8; 12]>,
}

impl<'a> Context<'a> {
    /// Returns a context without a key. [`Context::schedule`] derives the key in place, because moving the key would
    /// leave a copy behind.
    fn new(aead: &'a Aead) -> Self {
        Self { aead, key: Wiped::default(), nonce: Wiped::default() }
    }

    /// Derives the key and the nonce: `KeySchedule` in base mode, without a pre-shared key.
    fn schedule(&mut self, kem: Kem, shared: &[u8], info: &[u8]) -> Result<(), Error> {
        let suite = Suite::hpke(kem, self.aead.id);
        let (mut no_psk, mut about) = ([0; 32], [0; 32]);
        suite.extract(b"", b"psk_id_hash", b"", &mut no_psk)?;
        suite.extract(b"", b"info_hash", info, &mut about)?;
        let context: [&[u8]; 3] = [&[0], &no_psk, &about];
        let mut secret = Wiped::new([0; 32]);
        suite.extract(shared, b"secret", b"", &mut secret)?;
        suite.expand(&secret, b"key", &context, &mut self.key[..self.aead.algorithm.key_len()])?;
        suite.expand(&secret, b"base_nonce", &context, &mut *self.nonce)
    }

    fn cipher(&self) -> Result<LessSafeKey, Error> {
        let key =
            UnboundKey::new(self.aead.algorithm, &self.key[..self.aead.algorithm.key_len()]).map_err(|_| FAILED)?;
        Ok(LessSafeKey::new(key))
    }

    /// Returns the nonce of the first message, which is the base nonce. There is no second message.
    fn nonce(&self) -> Nonce {
        Nonce::assume_unique_for_key(*self.nonce)
    }

    fn seal(&self, aad: &[u8], message: &[u8]) -> Result<Vec<u8>, Error> {
        let cipher = self.cipher()?;
        // The memory has room for the tag from the start, because a vector that grows leaves a copy of the message
        // behind.
        let mut sealed = Vec::with_capacity(message.len() + TAG);
        sealed.extend_from_slice(message);
        cipher.seal_in_place_append_tag(self.nonce(), Aad::from(aad), &mut sealed).map_err(|_| {
            sealed.wipe();
            FAILED
        })?;
        Ok(sealed)
    }

    fn open(&self, aad: &[u8], sealed: &[u8]) -> Result<Option<Secret>, Error> {
        let Some((ciphertext, tag)) = sealed.split_last_chunk::<TAG>() else { return Ok(None) };
        let mut message = Secret::zeroed(ciphertext.len());
        let opened = self.cipher()?.open_separate_gather(self.nonce(), Aad::from(aad), ciphertext, tag, &mut message);
        Ok(opened.is_ok().then_some(message))
    }
}

const FAILED: Error = Error::System("sealing failed");
