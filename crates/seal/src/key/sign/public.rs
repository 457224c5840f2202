//! Public keys that verify.

use std::fmt;
use std::sync::Arc;

use aws_lc_rs::digest;

use super::wire::{self, WireReader};
use super::{Scheme, SignError, composite};
use crate::primitive::imp::ml_dsa::MlDsaSet;
use crate::primitive::imp::{ed25519, ml_dsa};
use crate::{Error, InvalidKey, key};
use deadpan_base64::{STANDARD, STANDARD_NO_PAD};

/// The longest application name of a security key that the reader accepts. OpenSSH's application names begin with
/// `ssh:`.
const MAX_APPLICATION: usize = 255;

/// The greatest length of a key in a line, in base64.
const MAX_BODY: usize = 1 << 16;

/// A public key that verifies signatures. Clones share one copy.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct VerifyingKey(Arc<VerifyingInner>);

#[derive(PartialEq, Eq, Hash)]
struct VerifyingInner {
    scheme: Scheme,
    bytes: Vec<u8>,
    /// The application for which a security key was made. It is empty for other keys.
    application: String,
}

impl fmt::Debug for VerifyingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "VerifyingKey({}, {})", self.scheme().name(), self.fingerprint())
    }
}

impl VerifyingKey {
    /// Reads a key in the form that its algorithm defines: 32 bytes for Ed25519; FIPS 204's public key for ML-DSA; or,
    /// for the composite algorithm, the ML-DSA key and then the Ed25519 key.
    ///
    /// # Errors
    /// If the bytes are not a valid key. The function also returns an error for [`Scheme::SkEd25519`], because such a
    /// key needs an application name, too.
    pub fn from_bytes(scheme: Scheme, bytes: &[u8]) -> Result<Self, Error> {
        if scheme == Scheme::SkEd25519 {
            return Err(SignError::Hardware(scheme.name()).into());
        }
        Self::checked(scheme, bytes, "")
    }

    fn checked(scheme: Scheme, bytes: &[u8], application: &str) -> Result<Self, Error> {
        if bytes.len() != scheme.public_len() {
            return Err(Error::InvalidKey(InvalidKey::PublicLength));
        }
        // Every byte string of the right length is a valid ML-DSA key.
        let curve = match scheme {
            Scheme::MlDsa65 => None,
            _ => bytes.last_chunk::<32>(),
        };
        if curve.is_some_and(|curve| !ed25519::is_public(curve)) {
            return Err(Error::InvalidKey(InvalidKey::Public));
        }
        Ok(Self(Arc::new(VerifyingInner { scheme, bytes: bytes.to_vec(), application: application.to_owned() })))
    }

    /// Reads a key in SSH form: the name of the algorithm, then the key.
    ///
    /// # Errors
    /// [`SignError::Unsupported`] for other algorithms, [`SignError::Malformed`] if the bytes are not a key.
    pub fn from_ssh(blob: &[u8]) -> Result<Self, Error> {
        const MALFORMED: SignError = SignError::Malformed("the SSH key in it is damaged");
        let mut reader = WireReader::new(blob);
        let name = reader.text().filter(|name| is_name(name)).ok_or(MALFORMED)?;
        let scheme = Scheme::from_ssh_name(name).ok_or_else(|| SignError::Unsupported(name.to_owned()))?;
        let bytes = reader.string().ok_or(MALFORMED)?;
        let application = match scheme {
            Scheme::SkEd25519 => reader.text().filter(|name| name.len() <= MAX_APPLICATION).ok_or(MALFORMED)?,
            _ => "",
        };
        reader.end().ok_or(MALFORMED)?;
        Self::checked(scheme, bytes, application).map_err(|_| MALFORMED.into())
    }

    /// Returns the key in SSH form.
    #[must_use]
    pub fn to_ssh(&self) -> Vec<u8> {
        let name = self.scheme().ssh_name().as_bytes();
        match self.scheme() {
            Scheme::SkEd25519 => wire::strings(&[name, self.as_bytes(), self.0.application.as_bytes()]),
            _ => wire::strings(&[name, self.as_bytes()]),
        }
    }

    /// Reads a public key line of SSH: the name of the algorithm, the key in base64, and a comment. Ignores the
    /// comment.
    ///
    /// # Errors
    /// [`SignError::Unsupported`] for other algorithms, [`SignError::Malformed`] if the line is not a public key line.
    pub fn from_line(line: &str) -> Result<Self, Error> {
        const MALFORMED: SignError = SignError::Malformed("it is not a public key in a line of SSH");
        let mut words = line.split_ascii_whitespace();
        let (name, body) = (words.next().ok_or(MALFORMED)?, words.next().ok_or(MALFORMED)?);
        if !is_name(name) || body.len() > MAX_BODY {
            return Err(MALFORMED.into());
        }
        let blob = STANDARD.decode(body.as_bytes()).map_err(|_| MALFORMED)?;
        // The encoded key must also begin with the name of the algorithm.
        if WireReader::new(&blob).text() != Some(name) {
            return Err(MALFORMED.into());
        }
        Self::from_ssh(&blob)
    }

    /// Returns the key as a public key line of SSH, without a line end.
    #[must_use]
    pub fn to_line(&self) -> String {
        format!("{} {}", self.scheme().ssh_name(), STANDARD.encode(&self.to_ssh()))
    }

    /// Returns the algorithm.
    #[must_use]
    pub fn scheme(&self) -> Scheme {
        self.0.scheme
    }

    /// Returns the key in the form that its algorithm defines.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Returns the application for which a security key was made, or an empty text for other keys.
    pub(super) fn application(&self) -> &str {
        &self.0.application
    }

    /// Returns a short name for the key that people can compare, in the form of [`key::fingerprint`]. The name is the
    /// first 128 bits of SHA-256 over the SPKI form, as base32 in groups of four. A key in hardware has no SPKI form,
    /// so its fingerprint is computed over its SSH form.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        key::signing_fingerprint(self)
    }

    /// Returns the fingerprint as `ssh-keygen -l` shows it: `SHA256:`, then base64 without padding.
    #[must_use]
    pub fn ssh_fingerprint(&self) -> String {
        format!("SHA256:{}", STANDARD_NO_PAD.encode(digest::digest(&digest::SHA256, &self.to_ssh()).as_ref()))
    }

    /// Verifies a signature over a message with the plain algorithm and an empty context. Returns whether the signature
    /// is right. A key in hardware does not sign the message itself; see [`SshSig`](super::SshSig).
    ///
    /// # Errors
    /// If the system has no memory.
    pub fn verify(&self, message: &[u8], signature: &[u8]) -> Result<bool, Error> {
        self.verify_with_context(message, &[], signature)
    }

    pub(super) fn verify_with_context(&self, message: &[u8], context: &[u8], signature: &[u8]) -> Result<bool, Error> {
        match self.scheme() {
            Scheme::Ed25519 | Scheme::SkEd25519 => match (self.as_bytes().try_into(), signature.try_into()) {
                (Ok(key), Ok(signature)) => Ok(ed25519::verify(key, message, signature)),
                _ => Ok(false),
            },
            Scheme::MlDsa65 => ml_dsa::verify(MlDsaSet::Ml65, self.as_bytes(), message, context, signature),
            Scheme::MlDsa44Ed25519 => composite::verify(self.as_bytes(), message, context, signature),
        }
    }
}

/// Returns whether a text can be the name of an algorithm (RFC 4251 section 6).
pub(super) fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b',')
}
