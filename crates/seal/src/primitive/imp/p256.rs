//! ECDH over P-256 (SEC 1), with uncompressed points.

use std::ptr::{null, null_mut};

use aws_lc_sys as ffi;

use super::owned::Owned;
use crate::Error;

/// The number of bytes in an uncompressed point: the byte 4, then x and y.
pub(crate) const POINT: usize = 65;
/// The number of bytes in a compressed point: the byte 2 or 3, then x.
pub(crate) const COMPRESSED: usize = 33;

/// A private scalar in an object of AWS-LC. AWS-LC wipes the object when it frees the object.
pub(crate) struct Scalar(Owned<ffi::EC_KEY>);

// SAFETY: the object does not belong to any thread, and nothing changes the object after `from_bytes`. AWS-LC allows
// many threads to read an EC_KEY.
unsafe impl Send for Scalar {}
// SAFETY: every method only reads the object, and AWS-LC allows many threads to read an EC_KEY.
unsafe impl Sync for Scalar {}

impl Scalar {
    /// Reads a big-endian scalar. Returns `None` if the scalar is zero or not below the order of the group. May leak:
    /// whether the result is `None`.
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Result<Option<Self>, Error> {
        // SAFETY: the function reads 32 bytes; the call returns null or a new number that this code owns.
        let number = unsafe { Owned::new(ffi::BN_bin2bn(bytes.as_ptr(), bytes.len(), null_mut())) }?;
        // SAFETY: the call returns null or a new object that this code owns.
        let key = unsafe { Owned::new(ffi::EC_KEY_new()) }?;
        // SAFETY: the key is valid; the group is a constant.
        if unsafe { ffi::EC_KEY_set_group(key.get(), ffi::EC_group_p256()) } != 1 {
            return Err(Error::System("P-256 is missing"));
        }
        // SAFETY: both objects are valid; the number is copied.
        let fits = unsafe { ffi::EC_KEY_set_private_key(key.get(), number.get()) } == 1;
        Ok(fits.then_some(Self(key)))
    }

    /// Computes the scalar times the base point. May leak: nothing.
    pub(crate) fn public(&self, out: &mut [u8; POINT]) -> Result<(), Error> {
        const FAILED: Error = Error::System("P-256 failed");
        let product = point()?;
        // SAFETY: the group, the point and the key are valid, and `from_bytes` set the private number of the key. A
        // null pointer is allowed for an argument that is not needed.
        let done = unsafe {
            let number = ffi::EC_KEY_get0_private_key(self.0.get());
            ffi::EC_POINT_mul(ffi::EC_group_p256(), product.get(), number, null(), null(), null_mut())
        };
        if done != 1 {
            return Err(FAILED);
        }
        let form = ffi::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED;
        // SAFETY: group and point are valid; at most `out.len()` bytes are written.
        let written = unsafe {
            ffi::EC_POINT_point2oct(ffi::EC_group_p256(), product.get(), form, out.as_mut_ptr(), out.len(), null_mut())
        };
        if written == POINT { Ok(()) } else { Err(FAILED) }
    }

    /// Multiplies a point by the scalar, and writes the x coordinate of the product to `out`. Returns `false` if the
    /// bytes are not a point. May leak: whether the bytes are a point.
    pub(crate) fn multiply(&self, other: &[u8; POINT], out: &mut [u8; 32]) -> Result<bool, Error> {
        let Some(other) = parse(other)? else { return Ok(false) };
        // SAFETY: `out` is passed with its length, and the point and the key are valid. Without a key derivation
        // function, AWS-LC writes the x coordinate and not a hash of the x coordinate.
        let written =
            unsafe { ffi::ECDH_compute_key(out.as_mut_ptr().cast(), out.len(), other.get(), self.0.get(), None) };
        if written == 32 { Ok(true) } else { Err(Error::System("P-256 failed")) }
    }
}

/// Returns whether `bytes` are the uncompressed form of a point on the curve other than infinity.
pub(crate) fn is_point(bytes: &[u8; POINT]) -> Result<bool, Error> {
    Ok(parse(bytes)?.is_some())
}

/// Returns the compressed form of a point: first a byte (2 if y is even, 3 if y is odd), then x.
pub(crate) fn compress(point: &[u8; POINT]) -> [u8; COMPRESSED] {
    let mut compressed = [0; COMPRESSED];
    compressed[0] = 2 | point[POINT - 1] & 1;
    compressed[1..].copy_from_slice(&point[1..COMPRESSED]);
    compressed
}

/// Returns the uncompressed form of a point, or `None` if `bytes` are not the compressed form of a point.
pub(crate) fn decompress(bytes: &[u8; COMPRESSED]) -> Result<Option<[u8; POINT]>, Error> {
    if !matches!(bytes[0], 2 | 3) {
        return Ok(None);
    }
    let (parsed, mut out) = (point()?, [0; POINT]);
    let form = ffi::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED;
    // SAFETY: the group and the point are valid, and the bytes are passed with their length. AWS-LC refuses an x that
    // is out of range, or that is not the x coordinate of a point on the curve.
    let done =
        unsafe { ffi::EC_POINT_oct2point(ffi::EC_group_p256(), parsed.get(), bytes.as_ptr(), bytes.len(), null_mut()) };
    if done != 1 {
        return Ok(None);
    }
    // SAFETY: group and point are valid; at most `out.len()` bytes are written.
    let written = unsafe {
        ffi::EC_POINT_point2oct(ffi::EC_group_p256(), parsed.get(), form, out.as_mut_ptr(), out.len(), null_mut())
    };
    if written == POINT { Ok(Some(out)) } else { Err(Error::System("P-256 failed")) }
}

fn parse(bytes: &[u8; POINT]) -> Result<Option<Owned<ffi::EC_POINT>>, Error> {
    // The function refuses the hybrid forms, which begin with 6 or 7 and have the same length.
    if bytes[0] != 4 {
        return Ok(None);
    }
    let parsed = point()?;
    // SAFETY: the group and the point are valid, and the bytes are passed with their length. AWS-LC refuses coordinates
    // that are out of range or not on the curve.
    let done =
        unsafe { ffi::EC_POINT_oct2point(ffi::EC_group_p256(), parsed.get(), bytes.as_ptr(), bytes.len(), null_mut()) };
    Ok((done == 1).then_some(parsed))
}

fn point() -> Result<Owned<ffi::EC_POINT>, Error> {
    // SAFETY: the group is a constant; the call returns null or a new point that this code owns.
    unsafe { Owned::new(ffi::EC_POINT_new(ffi::EC_group_p256())) }
}
