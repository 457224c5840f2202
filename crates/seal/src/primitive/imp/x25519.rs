//! X25519 (RFC 7748); the functions clamp the scalar at each use.

use aws_lc_sys as ffi;

/// Computes the scalar times the base point. May leak: nothing.
pub(crate) fn public(scalar: &[u8; 32], out: &mut [u8; 32]) {
    // SAFETY: the function reads 32 bytes and writes 32 bytes.
    unsafe { ffi::X25519_public_from_private(out.as_mut_ptr(), scalar.as_ptr()) }
}

/// Returns whether a point is in its canonical form, that is, a number below the prime 2^255 − 19. RFC 7748 requires
/// readers to accept numbers above the prime, too, and to ignore the highest bit, so some points have several forms.
/// May leak: the result.
pub(crate) fn is_canonical(point: &[u8; 32]) -> bool {
    const PRIME: [u8; 32] = {
        let mut prime = [0xff; 32];
        (prime[0], prime[31]) = (0xed, 0x7f);
        prime
    };
    // Points are public and little-endian, so the comparison begins at the last byte.
    point.iter().rev().lt(PRIME.iter().rev())
}

/// Computes the scalar times a point. Returns `false` if the product is zero. The product of a point of small order and
/// any scalar is zero (RFC 7748, 6.1). May leak: the result.
#[must_use]
pub(crate) fn multiply(scalar: &[u8; 32], point: &[u8; 32], out: &mut [u8; 32]) -> bool {
    // SAFETY: the function reads 32 bytes from `scalar` and 32 bytes from `point`, and writes 32 bytes to `out`.
    unsafe { ffi::X25519(out.as_mut_ptr(), scalar.as_ptr(), point.as_ptr()) == 1 }
}
