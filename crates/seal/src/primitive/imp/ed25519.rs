//! Ed25519 (RFC 8032): keys from seeds, signatures into the caller's memory.

use aws_lc_sys as ffi;

use crate::{Error, Secret};
use deadpan_ct::Wiped;

const FAILED: Error = Error::System("Ed25519 failed");

/// A private key: the seed and the public key behind it, as AWS-LC takes them.
pub(crate) struct Ed25519Key(Secret);

impl Ed25519Key {
    /// Computes the key from its seed. May leak: nothing.
    pub(crate) fn from_seed(seed: &[u8; 32]) -> Self {
        let mut pair = Secret::zeroed(64);
        let mut public = [0; 32];
        let mut both = Wiped::new([0; 64]);
        // SAFETY: reads 32 bytes, writes 32 and 64.
        unsafe { ffi::ED25519_keypair_from_seed(public.as_mut_ptr(), both.as_mut_ptr(), seed.as_ptr()) }
        pair.copy_from_slice(&*both);
        Self(pair)
    }

    /// Returns the public key.
    pub(crate) fn public(&self) -> &[u8] {
        &self.0[32..]
    }

    /// Signs a message. May leak: its length.
    pub(crate) fn sign(&self, message: &[u8]) -> Result<[u8; 64], Error> {
        let mut signature = [0; 64];
        // SAFETY: writes 64 bytes; the message comes with its length, and the key has the 64 bytes that are read.
        let done =
            unsafe { ffi::ED25519_sign(signature.as_mut_ptr(), message.as_ptr(), message.len(), self.0.as_ptr()) };
        if done == 1 { Ok(signature) } else { Err(FAILED) }
    }
}

/// Returns whether a signature is right. Everything here is public.
pub(crate) fn verify(public: &[u8; 32], message: &[u8], signature: &[u8; 64]) -> bool {
    // SAFETY: the message comes with its length; 64 and 32 bytes are read from the others.
    unsafe { ffi::ED25519_verify(message.as_ptr(), message.len(), signature.as_ptr(), public.as_ptr()) == 1 }
}

/// Returns whether a public key is in its canonical form and not of small order. A key of small order has signatures
/// that are right for every message. Whether the bytes are a point at all shows when a signature is verified.
pub(crate) fn is_public(public: &[u8; 32]) -> bool {
    /// The other y-coordinates of points whose order divides 8: 0, 1, and −1.
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
