//! Ed25519 (RFC 8032): computes keys from seeds, signs messages and verifies signatures.

use aws_lc_sys as ffi;

use crate::{Error, Secret};
use deadpan_ct::Wiped;

const FAILED: Error = Error::System("Ed25519 failed");

/// A private key in the form of AWS-LC: the seed, followed by the public key.
pub(crate) struct Ed25519Key(Secret);

impl Ed25519Key {
    /// Computes the key from its seed. May leak: nothing.
    pub(crate) fn from_seed(seed: &[u8; 32]) -> Self {
        let mut pair = Secret::zeroed(64);
        let mut public = [0; 32];
        let mut both = Wiped::new([0; 64]);
        // SAFETY: the function reads 32 bytes from `seed`, and writes 32 bytes to `public` and 64 bytes to `both`.
        unsafe { ffi::ED25519_keypair_from_seed(public.as_mut_ptr(), both.as_mut_ptr(), seed.as_ptr()) }
        pair.copy_from_slice(&*both);
        Self(pair)
    }

    /// Returns the public key.
    pub(crate) fn public(&self) -> &[u8] {
        &self.0[32..]
    }

    /// Signs a message. May leak: the length of the message.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<[u8; 64], Error> {
        let mut signature = [0; 64];
        // SAFETY: the function writes 64 bytes to `signature`. The function gets the message with its length, and reads
        // the 64 bytes of the key.
        let done =
            unsafe { ffi::ED25519_sign(signature.as_mut_ptr(), message.as_ptr(), message.len(), self.0.as_ptr()) };
        if done == 1 { Ok(signature) } else { Err(FAILED) }
    }
}

/// All inputs are public.
pub(crate) fn verify(public: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    // SAFETY: the function gets the message with its length. The function reads 64 bytes from `signature` and 32 bytes
    // from `public`.
    unsafe { ffi::ED25519_verify(message.as_ptr(), message.len(), signature.as_ptr(), public.as_ptr()) == 1 }
}

/// Returns whether a public key is in its canonical form and is not of small order. For a key of small order, there are
/// signatures that are valid for every message. This function does not check whether the bytes are a point of the
/// curve. The verification of a signature checks whether the bytes are a point.
pub(crate) fn is_public(public: &[u8; 32]) -> bool {
    /// The y-coordinates of the points of order 8. The other points of small order have the y-coordinates 0, 1 and −1.
    const ORDER_8: [[u8; 32]; 2] = [
        *b"\x26\xe8\x95\x8f\xc2\xb2\x27\xb0\x45\xc3\xf4\x89\xf2\xef\x98\xf0\xd5\xdf\xac\x05\xd3\xc6\x33\x39\xb1\x38\x02\x88\x6d\x53\xfc\x05",
        *b"\xc7\x17\x6a\x70\x3d\x4d\xd8\x4f\xba\x3c\x0b\x76\x0d\x10\x67\x0f\x2a\x20\x53\xfa\x2c\x39\xcc\xc6\x4e\xc7\xfd\x77\x92\xac\x03\x7a",
    ];
    let mut y = *public;
    y[31] &= 0x7f;
    let small = |number: u8| y[0] == number && y[1..].iter().all(|byte| *byte == 0);
    let minus_one = y[0] == 0xec && y[1..31].iter().all(|byte| *byte == 0xff) && y[31] == 0x7f;
    super::x25519::is_canonical(&y) && !small(0) && !small(1) && !minus_one && !ORDER_8.contains(&y)
}
