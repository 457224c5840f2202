//! The container of a private key file, and its encryption (PROTOCOL.key of OpenSSH).
//!
//! ```text
//! "openssh-key-v1" 0 ‖ cipher ‖ kdf ‖ kdf options ‖ number of keys (4) ‖ public key ‖ private part ‖ tag
//! ```

use aws_lc_rs::aead::{self, Aad, LessSafeKey, Nonce, UnboundKey};
use aws_lc_rs::cipher::{DecryptingKey, DecryptionContext, UnboundCipherKey};
use aws_lc_rs::error::Unspecified;

use super::fields::Fields;
use super::public::SshPublic;
use crate::key::Unsupported;
use crate::key::cipher::BlockCipher as Aes;
use crate::key::error::Trouble;
use crate::{Passphrase, Secret};
use deadpan_ct::declassify_bytes;

const MAGIC: &[u8] = b"openssh-key-v1\0";
const DAMAGED: &str = "the OpenSSH key file is damaged";
/// The maximum number of rounds of bcrypt that a file may request. These rounds take about 10 seconds. `ssh-keygen`
/// uses 16 or 24 rounds by default. In a fuzzing build, the limit is one round, because the fuzzer has to try many
/// files.
const MAX_ROUNDS: u32 = if cfg!(fuzzing) { 1 } else { 1024 };
/// OpenSSH writes 16 bytes.
const MAX_SALT: usize = 64;
const MAX_PRIVATE: usize = 1 << 16;

/// A way to encrypt the private part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ContainerCipher {
    None,
    Ctr(Aes),
    Cbc(Aes),
    Gcm(&'static aead::Algorithm),
}

impl ContainerCipher {
    fn from_name(name: &str) -> Result<Self, Trouble> {
        Ok(match name {
            "none" => Self::None,
            "aes256-ctr" => Self::Ctr(Aes::Aes256),
            "aes192-ctr" => Self::Ctr(Aes::Aes192),
            "aes128-ctr" => Self::Ctr(Aes::Aes128),
            "aes256-cbc" => Self::Cbc(Aes::Aes256),
            "aes192-cbc" => Self::Cbc(Aes::Aes192),
            "aes128-cbc" => Self::Cbc(Aes::Aes128),
            "aes256-gcm@openssh.com" => Self::Gcm(&aead::AES_256_GCM),
            "aes128-gcm@openssh.com" => Self::Gcm(&aead::AES_128_GCM),
            _ if (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic()) => {
                return Err(Unsupported::OpensshCipher(name.to_owned()).into());
            }
            _ => return Err(Trouble::Malformed(DAMAGED)),
        })
    }

    /// Returns the length of a block. The private part is padded to a multiple of this length.
    const fn block(self) -> usize {
        if matches!(self, Self::None) { 8 } else { 16 }
    }

    const fn tag_len(self) -> usize {
        if matches!(self, Self::Gcm(_)) { 16 } else { 0 }
    }

    /// Returns the length of the key and the length of the initialization vector. The key derivation produces the key
    /// and the initialization vector.
    fn key_len(self) -> (usize, usize) {
        match self {
            Self::None => (0, 0),
            Self::Ctr(aes) | Self::Cbc(aes) => (aes.key_len(), 16),
            Self::Gcm(algorithm) => (algorithm.key_len(), algorithm.nonce_len()),
        }
    }
}

/// The parts of a file with one key.
pub(super) struct Container {
    cipher: ContainerCipher,
    salt: Vec<u8>,
    rounds: u32,
    public: SshPublic,
    private: Secret,
    tag: Vec<u8>,
}

impl Container {
    /// Reads a file, but does not derive a key.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, Trouble> {
        let mut fields = Fields::new(bytes, DAMAGED);
        if declassify_bytes(fields.bytes(MAGIC.len())?) != MAGIC {
            return Err(Trouble::Malformed(DAMAGED));
        }
        let (cipher, kdf, options) = (fields.text()?, fields.text()?, fields.string()?);
        let cipher = ContainerCipher::from_name(cipher)?;
        let (salt, rounds) = bcrypt_options(cipher, kdf, declassify_bytes(options))?;
        match fields.number()? {
            1 => {}
            0 => return Err(Trouble::Malformed("the OpenSSH key file has no key")),
            _ => return Err(Unsupported::Kind("an OpenSSH file with several keys".into()).into()),
        }
        let public = SshPublic::decode(declassify_bytes(fields.string()?))?;
        let private = fields.string()?;
        if private.len() > MAX_PRIVATE {
            return Err(Trouble::Limit("an OpenSSH private key of more than 64 KiB"));
        }
        if private.is_empty() || private.len() % cipher.block() != 0 {
            return Err(Trouble::Malformed("the private part does not consist of whole blocks"));
        }
        let tag = fields.bytes(cipher.tag_len())?;
        fields.end("something stands after the OpenSSH private key")?;
        Ok(Self { cipher, salt, rounds, public, private: Secret::copy_of(private), tag: tag.to_vec() })
    }

    pub(super) const fn public(&self) -> &SshPublic {
        &self.public
    }

    pub(super) fn is_protected(&self) -> bool {
        self.cipher != ContainerCipher::None
    }

    /// Returns the length of a block.
    pub(super) const fn block(&self) -> usize {
        self.cipher.block()
    }

    /// Returns the private part of a file that is not protected.
    pub(super) fn plain(&self) -> &[u8] {
        &self.private
    }

    /// Decrypts the private part with one form of the passphrase. May leak: lengths, parameters, and the information
    /// that the S-boxes of Blowfish leak about a hash of the passphrase.
    pub(super) fn decrypt(&self, passphrase: &Passphrase) -> Result<Secret, Trouble> {
        let failed = |_: Unspecified| Trouble::System("no decryption");
        if passphrase.as_bytes().is_empty() {
            return Err(Trouble::WrongPassphrase);
        }
        let (key_len, iv_len) = self.cipher.key_len();
        let mut derived = Secret::zeroed(key_len + iv_len);
        bcrypt_pbkdf::bcrypt_pbkdf(passphrase.as_bytes(), &self.salt, self.rounds, &mut derived)
            .map_err(|_| Trouble::System("no key derivation"))?;
        let (key, iv) = derived.split_at(key_len);
        let mut plain = self.private.clone();
        match self.cipher {
            ContainerCipher::None => {}
            ContainerCipher::Ctr(aes) | ContainerCipher::Cbc(aes) => {
                let iv: &[u8; 16] = iv.try_into().map_err(|_| Trouble::System("no decryption"))?;
                let key = UnboundCipherKey::new(aes.algorithm(), key);
                let key = match self.cipher {
                    ContainerCipher::Ctr(_) => key.and_then(DecryptingKey::ctr),
                    _ => key.and_then(DecryptingKey::cbc),
                };
                let context = DecryptionContext::Iv128(iv.into());
                key.and_then(|key| key.decrypt(&mut plain, context).map(|_| ())).map_err(failed)?;
            }
            ContainerCipher::Gcm(algorithm) => {
                let key = LessSafeKey::new(UnboundKey::new(algorithm, key).map_err(failed)?);
                let nonce = Nonce::try_assume_unique_for_key(iv).map_err(failed)?;
                key.open_separate_gather(nonce, Aad::empty(), &self.private, &self.tag, &mut plain)
                    .map_err(|_| Trouble::WrongPassphrase)?;
            }
        }
        Ok(plain)
    }
}

/// Reads the options of the key derivation: a salt and the number of rounds.
fn bcrypt_options(cipher: ContainerCipher, kdf: &str, options: &[u8]) -> Result<(Vec<u8>, u32), Trouble> {
    match (cipher, kdf) {
        (ContainerCipher::None, "none") if options.is_empty() => return Ok((Vec::new(), 0)),
        (ContainerCipher::None, _) | (_, "none") => {
            return Err(Trouble::Malformed("the cipher of the OpenSSH key file does not go with its key derivation"));
        }
        (_, "bcrypt") => {}
        _ => return Err(Unsupported::Kind("a key derivation of OpenSSH other than bcrypt".into()).into()),
    }
    let mut fields = Fields::new(options, DAMAGED);
    let (salt, rounds) = (fields.string()?, fields.number()?);
    fields.end(DAMAGED)?;
    if salt.is_empty() || rounds == 0 {
        return Err(Trouble::Malformed("the parameters of bcrypt are not valid"));
    }
    if salt.len() > MAX_SALT {
        return Err(Trouble::Limit("a salt of more than 64 bytes"));
    }
    if rounds > MAX_ROUNDS {
        return Err(Trouble::Limit("more than 1024 rounds of bcrypt"));
    }
    Ok((salt.to_vec(), rounds))
}
