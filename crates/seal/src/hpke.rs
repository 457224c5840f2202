//! HPKE, RFC 9180: base mode, one message, HKDF-SHA-256 and AES-256-GCM.
//!
//! To protect a short secret for the owner of a key. Who sealed it is not shown. For long data, seal a key with it.
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

use crate::{Error, Kem, PrivateKey, PublicKey, Secret};
use aws_lc_rs::aead::{AES_256_GCM, Aad, Algorithm, LessSafeKey, Nonce, UnboundKey};
use deadpan_ct::{Wipe, Wiped};
use labeled::Suite;

/// Bytes that a sealed message is longer than the message, not counting the encapsulated secret.
pub const TAG: usize = 16;

/// Seals `message` to `key`: the encapsulated secret, and the ciphertext with its tag. May leak: the lengths.
///
/// # Errors
/// If the system has no random bytes, or the key is an X25519 point of small order.
pub fn seal(key: &PublicKey, info: &[u8], aad: &[u8], message: &[u8]) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let (enc, shared) = key.encapsulate()?;
    let mut context = Context::new(&OURS);
    context.schedule(key.kem(), &shared, info)?;
    Ok((enc, context.seal(aad, message)?))
}

/// Opens what [`seal`] made; `None` if it was not made for this key, or was changed. May leak: that.
///
/// # Errors
/// If the system fails.
pub fn open(key: &PrivateKey, enc: &[u8], info: &[u8], aad: &[u8], sealed: &[u8]) -> Result<Option<Secret>, Error> {
    let shared = match key.decapsulate(enc) {
        Ok(shared) => shared,
        // An `enc` that no writer makes is not for this key either.
        Err(Error::Invalid(_)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut context = Context::new(&OURS);
    context.schedule(key.kem(), &shared, info)?;
    context.open(aad, sealed)
}

/// An AEAD with its number in HPKE's registry. There are others in the test vectors.
struct Aead {
    id: u16,
    algorithm: &'static Algorithm,
}

static OURS: Aead = Aead { id: 2, algorithm: &AES_256_GCM };

/// The key and nonce of the one message.
struct Context<'a> {
    aead: &'a Aead,
    /// The key in front; shorter ones leave zeros behind.
    key: Wiped<[u8; 32]>,
    nonce: Wiped<[u8; 12]>,
}

impl<'a> Context<'a> {
    /// Without a key yet: it is put in place by [`Context::schedule`], since a move would leave a copy behind.
    fn new(aead: &'a Aead) -> Self {
        Self { aead, key: Wiped::default(), nonce: Wiped::default() }
    }

    /// `KeySchedule` in base mode: no pre-shared key.
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
        let key = UnboundKey::new(self.aead.algorithm, &self.key[..self.aead.algorithm.key_len()]).map_err(|_| FAILED)?;
        Ok(LessSafeKey::new(key))
    }

    /// The first message's nonce is the base nonce as it is; there is no second message.
    fn nonce(&self) -> Nonce {
        Nonce::assume_unique_for_key(*self.nonce)
    }

    fn seal(&self, aad: &[u8], message: &[u8]) -> Result<Vec<u8>, Error> {
        let cipher = self.cipher()?;
        // Room for the tag from the start: growing would leave the message behind.
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

const FAILED: Error = Error::System("AES-GCM failed");
