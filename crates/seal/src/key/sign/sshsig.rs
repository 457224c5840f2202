//! SSHSIG, the signature format of `ssh-keygen -Y sign` (PROTOCOL.sshsig of OpenSSH).
//!
//! ```text
//! blob    "SSHSIG" ‖ version 1 (4) ‖ public key ‖ namespace ‖ reserved ‖ hash ‖ signature
//! signed  "SSHSIG" ‖ namespace ‖ reserved ‖ hash ‖ H(message)
//! ```
//!
//! Each part after the version is an SSH string. `reserved` is empty.

use std::fmt;

use aws_lc_rs::digest;

use super::wire::{self, WireReader};
use super::{Scheme, SignError, VerifyingKey, public};
use crate::Error;
use deadpan_base64::{STANDARD, pem};

const MAGIC: &[u8] = b"SSHSIG";
const LABEL: &str = "SSH SIGNATURE";
/// The longest text or binary signature that the reader accepts.
const MAX_LEN: usize = 1 << 16;
/// The width of the armor that `ssh-keygen` writes.
const COLUMNS: usize = 70;
/// The flag that shows that a person touched the security key.
const PRESENT: u8 = 1;

/// The hash function for the signed message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// SHA-256. This crate verifies signatures with SHA-256, but does not make such signatures.
    Sha256,
    /// SHA-512.
    Sha512,
}

impl Hash {
    const fn name(self) -> &'static str {
        match self {
            Self::Sha256 => "sha256",
            Self::Sha512 => "sha512",
        }
    }
}

/// A signature over a message, together with the public key of the signer and the purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct SshSig {
    blob: Vec<u8>,
    key: VerifyingKey,
    namespace: String,
    hash: Hash,
    signature: Vec<u8>,
    /// The flags and the counter of a signature by a security key.
    hardware: Option<(u8, u32)>,
}

impl fmt::Debug for SshSig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SshSig({:?}, {:?})", self.key, self.namespace)
    }
}

impl SshSig {
    /// Reads the binary form of a signature.
    ///
    /// # Errors
    /// If the bytes are not well formed, or the algorithm is not one of [`Scheme`]. The function does not verify the
    /// signature.
    pub fn decode(blob: &[u8]) -> Result<Self, Error> {
        const MALFORMED: SignError = SignError::Malformed("it is cut short or damaged");
        if blob.len() > MAX_LEN {
            return Err(SignError::Malformed("it is too long").into());
        }
        let mut reader = WireReader::new(blob);
        if reader.bytes(MAGIC.len()) != Some(MAGIC) {
            return Err(SignError::Malformed("it does not begin with SSHSIG").into());
        }
        if reader.number().ok_or(MALFORMED)? != 1 {
            return Err(SignError::Malformed("its version is not 1").into());
        }
        let key = reader.string().ok_or(MALFORMED)?;
        let namespace = reader.text().ok_or(MALFORMED)?.to_owned();
        let reserved = reader.string().ok_or(MALFORMED)?;
        let hash = reader.text().ok_or(MALFORMED)?;
        let signature = reader.string().ok_or(MALFORMED)?;
        reader.end().ok_or(MALFORMED)?;
        if namespace.is_empty() || !reserved.is_empty() {
            return Err(SignError::Malformed("its namespace is empty, or a reserved field is not").into());
        }
        let hash = [Hash::Sha256, Hash::Sha512]
            .into_iter()
            .find(|known| known.name() == hash)
            .ok_or(SignError::Malformed("its hash is neither SHA-256 nor SHA-512"))?;
        let key = VerifyingKey::from_ssh(key)?;
        let (signature, hardware) = raw_signature(key.scheme(), signature)?;
        Ok(Self { blob: blob.to_vec(), key, namespace, hash, signature, hardware })
    }

    /// Returns the binary form of the signature.
    #[must_use]
    pub fn encode(&self) -> &[u8] {
        &self.blob
    }

    /// Reads the armor, which is a block `SSH SIGNATURE`. Only white space may surround the block.
    ///
    /// # Errors
    /// If the text or the signature in it is not well formed.
    pub fn from_armor(text: &[u8]) -> Result<Self, Error> {
        const MALFORMED: SignError = SignError::Malformed("it is not an armored SSH signature");
        if text.len() > MAX_LEN * 3 / 2 {
            return Err(SignError::Malformed("it is too long").into());
        }
        let text = text.trim_ascii();
        let ends = format!("-----END {LABEL}-----");
        if !text.starts_with(b"-----BEGIN ") || !text.ends_with(ends.as_bytes()) {
            return Err(MALFORMED.into());
        }
        let mut documents = pem::documents(text);
        match (documents.next(), documents.next()) {
            (Some(Ok(document)), None) if document.label == LABEL => Self::decode(&document.contents),
            _ => Err(MALFORMED.into()),
        }
    }

    /// Returns the armor, in the form of `ssh-keygen -Y sign`.
    #[must_use]
    pub fn armor(&self) -> String {
        let body = STANDARD.encode(&self.blob);
        let mut text = format!("-----BEGIN {LABEL}-----\n");
        let mut rest = body.as_str();
        while !rest.is_empty() {
            let (line, after) = rest.split_at(rest.len().min(COLUMNS));
            text.push_str(line);
            text.push('\n');
            rest = after;
        }
        text + &format!("-----END {LABEL}-----\n")
    }

    /// Returns the public key in the signature. Until [`SshSig::verify`] succeeds, the key proves nothing, because
    /// anybody can write any key into a signature.
    #[must_use]
    pub fn key(&self) -> &VerifyingKey {
        &self.key
    }

    /// Returns the namespace, which is the purpose of the signature.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// Returns the hash function for the digest that [`SshSig::verify`] needs.
    #[must_use]
    pub fn hash(&self) -> Hash {
        self.hash
    }

    /// Verifies the signature over the digest of a message. Compute the digest with the hash function of
    /// [`SshSig::hash`]. [`Signer`](super::Signer) uses SHA-512 for all its signatures.
    ///
    /// A right signature proves that the owner of the key [`SshSig::key`] signed the message. The signature does not
    /// prove who owns this key.
    ///
    /// # Errors
    /// [`SignError::Namespace`] if the signature is for another purpose. [`SignError::Forged`] if the signature is
    /// wrong.
    pub fn verify(&self, namespace: &str, digest: &[u8]) -> Result<(), Error> {
        if self.namespace != namespace {
            let (found, wanted) = (self.namespace.clone(), namespace.to_owned());
            return Err(SignError::Namespace { found, wanted }.into());
        }
        let data = signed_data(namespace, self.hash, digest);
        let data = match self.hardware {
            None => data,
            // PROTOCOL.u2f of OpenSSH defines the data that a security key signs.
            Some((flags, counter)) => {
                let application = digest::digest(&digest::SHA256, self.key.application().as_bytes());
                let message = digest::digest(&digest::SHA256, &data);
                [application.as_ref(), &[flags], &counter.to_be_bytes(), message.as_ref()].concat()
            }
        };
        if self.key.verify(&data, &self.signature)? { Ok(()) } else { Err(SignError::Forged.into()) }
    }

    /// Builds a signature from its parts, and checks the parts by reading the signature back.
    pub(crate) fn assemble(key: &[u8], namespace: &str, signature: &[u8]) -> Result<Self, Error> {
        let parts = wire::strings(&[key, namespace.as_bytes(), b"", Hash::Sha512.name().as_bytes(), signature]);
        Self::decode(&[MAGIC, &1_u32.to_be_bytes(), &parts].concat())
    }
}

/// Returns the bytes that a key signs.
pub(crate) fn signed_data(namespace: &str, hash: Hash, digest: &[u8]) -> Vec<u8> {
    let parts = wire::strings(&[namespace.as_bytes(), b"", hash.name().as_bytes(), digest]);
    [MAGIC, &parts].concat()
}

/// Returns a signature in SSH form: the name of its algorithm, then the signature.
pub(crate) fn signature_blob(scheme: Scheme, signature: &[u8]) -> Vec<u8> {
    wire::strings(&[scheme.ssh_name().as_bytes(), signature])
}

/// The bytes of a signature, and the flags and the counter if a security key made the signature.
type Raw = (Vec<u8>, Option<(u8, u32)>);

/// Reads a signature in SSH form. The signature must have the same algorithm as the key.
fn raw_signature(scheme: Scheme, blob: &[u8]) -> Result<Raw, Error> {
    const MALFORMED: SignError = SignError::Malformed("the raw signature in it is damaged");
    let mut reader = WireReader::new(blob);
    let name = reader.text().filter(|name| public::is_name(name)).ok_or(MALFORMED)?;
    if Scheme::from_ssh_name(name) != Some(scheme) {
        return Err(SignError::Malformed("its key and its signature are of different kinds").into());
    }
    let signature = reader.string().filter(|bytes| bytes.len() == scheme.signature_len()).ok_or(MALFORMED)?;
    let hardware = match scheme {
        Scheme::SkEd25519 => {
            let flags = reader.byte().ok_or(MALFORMED)?;
            if flags & PRESENT == 0 {
                return Err(SignError::Malformed("nobody touched the security key").into());
            }
            Some((flags, reader.number().ok_or(MALFORMED)?))
        }
        _ => None,
    };
    reader.end().ok_or(MALFORMED)?;
    Ok((signature.to_vec(), hardware))
}
