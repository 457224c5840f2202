//! Pure ML-DSA (FIPS 204), with contexts and with keys from seeds. `aws-lc-rs` does not offer contexts and keys from
//! seeds together.

use std::ptr::{null, null_mut};

use aws_lc_sys as ffi;

use super::owned::Owned;
use crate::Error;

/// The parameter sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MlDsaSet {
    /// ML-DSA-44.
    Ml44,
    /// ML-DSA-65.
    Ml65,
}

impl MlDsaSet {
    /// Returns the number of bytes in a public key (FIPS 204, table 2).
    pub(crate) const fn public_len(self) -> usize {
        match self {
            Self::Ml44 => 1312,
            Self::Ml65 => 1952,
        }
    }

    pub(crate) const fn expanded_len(self) -> usize {
        match self {
            Self::Ml44 => 2560,
            Self::Ml65 => 4032,
        }
    }

    pub(crate) const fn signature_len(self) -> usize {
        match self {
            Self::Ml44 => 2420,
            Self::Ml65 => 3309,
        }
    }

    const fn nid(self) -> i32 {
        match self {
            Self::Ml44 => ffi::NID_MLDSA44,
            Self::Ml65 => ffi::NID_MLDSA65,
        }
    }
}

const FAILED: Error = Error::System("ML-DSA failed");

/// A private key in an object of AWS-LC. AWS-LC wipes the object when it frees the object.
pub(crate) struct MlDsaKey {
    set: MlDsaSet,
    pair: Owned<ffi::EVP_PKEY>,
}

// SAFETY: the object does not belong to any thread, and nothing changes the object after its creation. AWS-LC allows
// many threads to read an EVP_PKEY, and the reference count of an EVP_PKEY is atomic.
unsafe impl Send for MlDsaKey {}
// SAFETY: as for `Send`; also, every method only reads the object.
unsafe impl Sync for MlDsaKey {}

impl MlDsaKey {
    /// Computes the key from its seed. May leak: nothing.
    pub(crate) fn from_seed(set: MlDsaSet, seed: &[u8; 32]) -> Result<Self, Error> {
        Self::import(set, seed)?.ok_or(FAILED)
    }

    /// Reads an expanded private key. Returns `None` if the length is wrong or the parts of the key do not belong
    /// together. May leak: whether the key is valid.
    pub(crate) fn from_expanded(set: MlDsaSet, bytes: &[u8]) -> Result<Option<Self>, Error> {
        if bytes.len() == set.expanded_len() { Self::import(set, bytes) } else { Ok(None) }
    }

    fn import(set: MlDsaSet, bytes: &[u8]) -> Result<Option<Self>, Error> {
        // SAFETY: the bytes are passed with their length and are copied; the length shows whether the bytes are a seed
        // or an expanded key; the call returns null or a new object that this code owns.
        let pair = unsafe { ffi::EVP_PKEY_pqdsa_new_raw_private_key(set.nid(), bytes.as_ptr(), bytes.len()) };
        if pair.is_null() {
            return Ok(None);
        }
        // SAFETY: the pointer is not null, and no other code owns the object.
        Ok(Some(Self { set, pair: unsafe { Owned::new(pair) }? }))
    }

    /// Writes the public key. `out` has [`MlDsaSet::public_len`] bytes.
    pub(crate) fn public(&self, out: &mut [u8]) -> Result<(), Error> {
        let mut length = out.len();
        // SAFETY: the object is valid; at most `length` bytes are written.
        let done = unsafe { ffi::EVP_PKEY_get_raw_public_key(self.pair.get(), out.as_mut_ptr(), &raw mut length) };
        if done == 1 && length == self.set.public_len() { Ok(()) } else { Err(FAILED) }
    }

    /// Writes the expanded private key. `out` has [`MlDsaSet::expanded_len`] bytes.
    pub(crate) fn expanded(&self, out: &mut [u8]) -> Result<(), Error> {
        let mut length = out.len();
        // SAFETY: the object is valid; at most `length` bytes are written.
        let done = unsafe { ffi::EVP_PKEY_get_raw_private_key(self.pair.get(), out.as_mut_ptr(), &raw mut length) };
        if done == 1 && length == self.set.expanded_len() { Ok(()) } else { Err(FAILED) }
    }

    /// Signs a message with a context of at most 255 bytes. `signature` has [`MlDsaSet::signature_len`] bytes. May
    /// leak: the lengths, and how often the algorithm restarted, which reveals nothing about the key.
    ///
    /// AWS-LC hedges each signature with bytes from its own random generator, and has no public function that signs
    /// without this generator. Once in each process, the generator collects jitter for about 55 milliseconds. The
    /// generator collects no jitter if AWS-LC was built with `AWS_LC_SYS_NO_JITTER_ENTROPY=1`.
    pub(crate) fn sign(&self, message: &[u8], context: &[u8], signature: &mut [u8]) -> Result<(), Error> {
        let session = session(&self.pair, context, Direction::Sign)?;
        let mut length = signature.len();
        // SAFETY: the session is valid; at most `length` bytes are written, and the function gets the message with its
        // length.
        let done = unsafe {
            ffi::EVP_DigestSign(session.get(), signature.as_mut_ptr(), &raw mut length, message.as_ptr(), message.len())
        };
        if done == 1 && length == self.set.signature_len() { Ok(()) } else { Err(FAILED) }
    }
}

/// All inputs are public.
///
/// # Errors
/// If the system has no memory.
pub(crate) fn verify(
    set: MlDsaSet,
    public: &[u8],
    message: &[u8],
    context: &[u8],
    signature: &[u8],
) -> Result<bool, Error> {
    if public.len() != set.public_len() || signature.len() != set.signature_len() {
        return Ok(false);
    }
    // SAFETY: the function gets the bytes with their length, checks the length, and copies the bytes; the call returns
    // null or a new object that this code owns.
    let key = unsafe { Owned::new(ffi::EVP_PKEY_pqdsa_new_raw_public_key(set.nid(), public.as_ptr(), public.len())) }?;
    let session = session(&key, context, Direction::Verify)?;
    // SAFETY: the session is valid; the function gets both slices with their lengths.
    let valid = unsafe {
        ffi::EVP_DigestVerify(session.get(), signature.as_ptr(), signature.len(), message.as_ptr(), message.len())
    };
    Ok(valid == 1)
}

#[derive(Clone, Copy)]
enum Direction {
    Sign,
    Verify,
}

/// Begins to sign or to verify messages with a key and a context.
fn session(key: &Owned<ffi::EVP_PKEY>, context: &[u8], direction: Direction) -> Result<Owned<ffi::EVP_MD_CTX>, Error> {
    // SAFETY: the call returns null or a new object that this code owns.
    let session = unsafe { Owned::new(ffi::EVP_MD_CTX_new()) }?;
    let mut inner = null_mut();
    // SAFETY: the session and the key are valid, and the session shares the ownership of the key. The algorithm needs
    // no digest and no engine. `inner` belongs to the session.
    let begun = unsafe {
        match direction {
            Direction::Sign => ffi::EVP_DigestSignInit(session.get(), &raw mut inner, null(), null_mut(), key.get()),
            Direction::Verify => {
                ffi::EVP_DigestVerifyInit(session.get(), &raw mut inner, null(), null_mut(), key.get())
            }
        }
    };
    // SAFETY: `inner` is valid once the session has begun; the function gets the context with its length and copies the
    // context.
    if begun == 1 && unsafe { ffi::EVP_PKEY_CTX_set_signature_context(inner, context.as_ptr(), context.len()) } == 1 {
        Ok(session)
    } else {
        Err(FAILED)
    }
}
