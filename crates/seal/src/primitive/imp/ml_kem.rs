//! ML-KEM (FIPS 203): keys from seeds, and shared secrets without intermediate copies. `aws-lc-rs` does not offer these
//! functions.

use std::ptr::null_mut;

use aws_lc_sys as ffi;

use super::owned::Owned;
use crate::Error;
use deadpan_ct::Wiped;

/// The parameter sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MlKemSet {
    /// ML-KEM-768.
    Ml768,
    /// ML-KEM-1024.
    Ml1024,
}

impl MlKemSet {
    /// Returns the number of polynomials in a vector. The number of polynomials determines the lengths in FIPS 203,
    /// table 3.
    const fn rank(self) -> usize {
        match self {
            Self::Ml768 => 3,
            Self::Ml1024 => 4,
        }
    }

    pub(crate) const fn public_len(self) -> usize {
        384 * self.rank() + 32
    }

    /// Returns the number of bytes in a decapsulation key. The key consists of the secret vector, the encapsulation
    /// key, the hash of the encapsulation key, and the value for implicit rejection.
    pub(crate) const fn expanded_len(self) -> usize {
        768 * self.rank() + 96
    }

    pub(crate) const fn ciphertext_len(self) -> usize {
        match self {
            Self::Ml768 => 1088,
            Self::Ml1024 => 1568,
        }
    }

    const fn nid(self) -> i32 {
        match self {
            Self::Ml768 => ffi::NID_MLKEM768,
            Self::Ml1024 => ffi::NID_MLKEM1024,
        }
    }
}

const FAILED: Error = Error::System("ML-KEM failed");

/// A decapsulation key with its encapsulation key, in an object of AWS-LC. AWS-LC wipes the object when it frees the
/// object.
pub(crate) struct MlKemKey {
    set: MlKemSet,
    pair: Owned<ffi::EVP_PKEY>,
}

// SAFETY: the object does not belong to any thread, and nothing changes the object after its creation. AWS-LC allows
// many threads to read an EVP_PKEY, and the reference count of an EVP_PKEY is atomic.
unsafe impl Send for MlKemKey {}
// SAFETY: as for `Send`; also, every method only reads the object.
unsafe impl Sync for MlKemKey {}

impl MlKemKey {
    /// Computes the key from a seed (d, then z). May leak: nothing.
    ///
    /// AWS-LC's function for keys from seeds is experimental, and some of the Rust bindings lack this function. This
    /// function therefore writes the seed in PKCS#8 form (RFC 9935) and lets AWS-LC read the PKCS#8 form; the resulting
    /// key is the same.
    pub(crate) fn from_seed(set: MlKemSet, seed: &[u8; 64]) -> Result<Self, Error> {
        // SEQUENCE { 0, SEQUENCE { 2.16.840.1.101.3.4.4.x }, OCTET STRING { [0] seed } }
        const HEAD: [u8; 22] =
            *b"\x30\x54\x02\x01\x00\x30\x0b\x06\x09\x60\x86\x48\x01\x65\x03\x04\x04\x02\x04\x42\x80\x40";
        let mut pkcs8 = Wiped::new([0; HEAD.len() + 64]);
        pkcs8[..HEAD.len()].copy_from_slice(&HEAD);
        pkcs8[17] = match set {
            MlKemSet::Ml768 => 2,
            MlKemSet::Ml1024 => 3,
        };
        pkcs8[HEAD.len()..].copy_from_slice(seed);
        let mut input = ffi::CBS { data: pkcs8.as_ptr(), len: pkcs8.len() };
        // SAFETY: `input` spans `pkcs8`, which outlives the call; the call returns null or a new object that this code
        // owns.
        let pair = unsafe { Owned::new(ffi::EVP_parse_private_key(&raw mut input)) }?;
        Ok(Self { set, pair })
    }

    /// Reads a decapsulation key in the form of FIPS 203. Returns `None` if the length, the coefficients or the hash
    /// inside the key are wrong (section 7.3). Also returns `None` if the key does not decapsulate a secret for the
    /// encapsulation key inside it. May leak: whether the key is valid.
    pub(crate) fn from_expanded(set: MlKemSet, bytes: &[u8]) -> Result<Option<Self>, Error> {
        if bytes.len() != set.expanded_len() {
            return Ok(None);
        }
        let public = &bytes[384 * set.rank()..][..set.public_len()];
        // SAFETY: the function gets both slices with their lengths and copies both slices; the call returns null or a
        // new object that this code owns.
        let pair = unsafe {
            Owned::new(ffi::EVP_PKEY_kem_new_raw_key(
                set.nid(),
                public.as_ptr(),
                public.len(),
                bytes.as_ptr(),
                bytes.len(),
            ))
        }?;
        // SAFETY: the object is valid and holds the decapsulation key and the encapsulation key.
        let valid = unsafe { ffi::EVP_PKEY_kem_check_key(pair.get()) } == 1;
        Ok(valid.then_some(Self { set, pair }))
    }

    /// Returns the parameter set.
    pub(crate) fn set(&self) -> MlKemSet {
        self.set
    }

    /// Writes the encapsulation key. `out` has [`MlKemSet::public_len`] bytes.
    pub(crate) fn public(&self, out: &mut [u8]) -> Result<(), Error> {
        let mut length = out.len();
        // SAFETY: the object is valid; at most `length` bytes are written.
        let done = unsafe { ffi::EVP_PKEY_get_raw_public_key(self.pair.get(), out.as_mut_ptr(), &raw mut length) };
        if done == 1 && length == self.set.public_len() { Ok(()) } else { Err(FAILED) }
    }

    /// For a ciphertext that was not made for this key, the function computes an unrelated secret (implicit rejection).
    /// `ciphertext` has [`MlKemSet::ciphertext_len`] bytes. May leak: nothing.
    pub(crate) fn decapsulate(&self, ciphertext: &[u8], out: &mut [u8; 32]) -> Result<(), Error> {
        let context = context(&self.pair)?;
        let mut length = out.len();
        // SAFETY: the context is valid; `out` has room for `length` bytes, and the function gets the ciphertext with
        // its length and checks the length.
        let done = unsafe {
            ffi::EVP_PKEY_decapsulate(
                context.get(),
                out.as_mut_ptr(),
                &raw mut length,
                ciphertext.as_ptr(),
                ciphertext.len(),
            )
        };
        if done == 1 && length == out.len() { Ok(()) } else { Err(FAILED) }
    }
}

/// Returns whether `bytes` are a valid encapsulation key: the length must be right, and all coefficients must be below
/// the modulus (FIPS 203, 7.2).
pub(crate) fn is_public(set: MlKemSet, bytes: &[u8]) -> Result<bool, Error> {
    if bytes.len() != set.public_len() {
        return Ok(false);
    }
    let key = import(set, bytes)?;
    let context = context(&key)?;
    // SAFETY: the context is valid.
    Ok(unsafe { ffi::EVP_PKEY_public_check(context.get()) } == 1)
}

/// Computes a shared secret and its ciphertext for an encapsulation key; the caller must have checked the key `public`.
/// The 32 random bytes are as sensitive as the shared secret. The ciphertext has [`MlKemSet::ciphertext_len`] bytes,
/// and the shared secret has 32 bytes. May leak: nothing.
///
/// The function does not use AWS-LC's own random generator. In a normal build, this generator collects jitter before it
/// returns its first byte, and the collection takes a hundred times as long as sealing a small file.
pub(crate) fn encapsulate(
    set: MlKemSet,
    public: &[u8],
    random: &[u8; 32],
    ciphertext: &mut [u8],
    out: &mut [u8; 32],
) -> Result<(), Error> {
    let key = import(set, public)?;
    let context = context(&key)?;
    let (mut ciphertext_len, mut length, mut random_len) = (ciphertext.len(), out.len(), random.len());
    // SAFETY: the context is valid; the function gets all three buffers with their lengths and checks the lengths.
    let done = unsafe {
        ffi::EVP_PKEY_encapsulate_deterministic(
            context.get(),
            ciphertext.as_mut_ptr(),
            &raw mut ciphertext_len,
            out.as_mut_ptr(),
            &raw mut length,
            random.as_ptr(),
            &raw mut random_len,
        )
    };
    if done == 1 && ciphertext_len == ciphertext.len() && length == out.len() { Ok(()) } else { Err(FAILED) }
}

fn import(set: MlKemSet, public: &[u8]) -> Result<Owned<ffi::EVP_PKEY>, Error> {
    // SAFETY: the function gets the bytes with their length, checks the length, and copies the bytes; the call returns
    // null or a new object that this code owns.
    unsafe { Owned::new(ffi::EVP_PKEY_kem_new_raw_public_key(set.nid(), public.as_ptr(), public.len())) }
}

fn context(key: &Owned<ffi::EVP_PKEY>) -> Result<Owned<ffi::EVP_PKEY_CTX>, Error> {
    // SAFETY: the key is valid, and the context shares the ownership of the key; the call returns null or a new context
    // that this code owns.
    unsafe { Owned::new(ffi::EVP_PKEY_CTX_new(key.get(), null_mut())) }
}
