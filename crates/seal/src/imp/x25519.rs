//! X25519 (RFC 7748), which clamps the scalar at each use.

use aws_lc_sys as ffi;

/// The scalar times the base point. May leak: nothing.
pub(crate) fn public(scalar: &[u8; 32], out: &mut [u8; 32]) {
    // SAFETY: reads 32 bytes and writes 32.
    unsafe { ffi::X25519_public_from_private(out.as_mut_ptr(), scalar.as_ptr()) }
}

/// The scalar times a point; no if the product is zero, which a point of small order gives whatever the scalar is (RFC 7748, 6.1). May leak:
/// the answer.
#[must_use]
pub(crate) fn multiply(scalar: &[u8; 32], point: &[u8; 32], out: &mut [u8; 32]) -> bool {
    // SAFETY: reads 32 bytes from each and writes 32.
    unsafe { ffi::X25519(out.as_mut_ptr(), scalar.as_ptr(), point.as_ptr()) == 1 }
}
