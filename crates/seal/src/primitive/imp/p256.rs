//! ECDH over P-256 (SEC 1), with uncompressed points.

use std::ptr::{null, null_mut};

use aws_lc_sys as ffi;

use super::owned::Owned;
use crate::Error;

/// Bytes in a point: 4, x, y.
pub(crate) const POINT: usize = 65;
/// Bytes in a compressed point: 2 or 3, x.
pub(crate) const COMPRESSED: usize = 33;

/// A private scalar, in an object of AWS-LC that is wiped when freed.
pub(crate) struct Scalar(Owned<ffi::EC_KEY>);

// SAFETY: the object belongs to no thread, and nothing changes it after `from_bytes`; aws-lc allows an EC_KEY to be
// read by many threads.
unsafe impl Send for Scalar {}
// SAFETY: every method only reads the object, and aws-lc allows an EC_KEY to be read by many threads.
unsafe impl Sync for Scalar {}

impl Scalar {
    /// Reads a scalar, big-endian; `None` if it is zero or not below the group's order. May leak: whether it is `None`.
    pub(crate) fn from_bytes(bytes: &[u8; 32]) -> Result<Option<Self>, Error> {
        // SAFETY: reads 32 bytes; the number that comes back, or null, is ours.
        let number = unsafe { Owned::new(ffi::BN_bin2bn(bytes.as_ptr(), bytes.len(), null_mut())) }?;
        // SAFETY: the object that comes back, or null, is ours.
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
        // SAFETY: group, point and key are valid, the key's number was set by `from_bytes`; null means that this part
        // is not wanted.
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

    /// Computes the x coordinate of the scalar times a point; `false` if the bytes are not a point. May leak: whether
    /// they are a point.
    pub(crate) fn multiply(&self, other: &[u8; POINT], out: &mut [u8; 32]) -> Result<bool, Error> {
        let Some(other) = parse(other)? else { return Ok(false) };
        // SAFETY: `out` has the room it says; point and key are valid. Without a function the coordinate itself is
        // written.
        let written =
            unsafe { ffi::ECDH_compute_key(out.as_mut_ptr().cast(), out.len(), other.get(), self.0.get(), None) };
        if written == 32 { Ok(true) } else { Err(Error::System("P-256 failed")) }
    }
}

/// Returns whether these bytes are a point on the curve, other than infinity, in uncompressed form.
pub(crate) fn is_point(bytes: &[u8; POINT]) -> Result<bool, Error> {
    Ok(parse(bytes)?.is_some())
}

/// Returns the compressed form of a point: 2 or 3 for y even or odd, then x.
pub(crate) fn compress(point: &[u8; POINT]) -> [u8; COMPRESSED] {
    let mut compressed = [0; COMPRESSED];
    compressed[0] = 2 | point[POINT - 1] & 1;
    compressed[1..].copy_from_slice(&point[1..COMPRESSED]);
    compressed
}

/// Returns the uncompressed form of a point; `None` if the bytes are not a point in compressed form.
pub(crate) fn decompress(bytes: &[u8; COMPRESSED]) -> Result<Option<[u8; POINT]>, Error> {
    if !matches!(bytes[0], 2 | 3) {
        return Ok(None);
    }
    let (parsed, mut out) = (point()?, [0; POINT]);
    let form = ffi::point_conversion_form_t::POINT_CONVERSION_UNCOMPRESSED;
    // SAFETY: group and point are valid; the bytes come with their length. An x out of range or off the curve is
    // refused there.
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
    // The hybrid forms, 6 and 7, have the same length.
    if bytes[0] != 4 {
        return Ok(None);
    }
    let parsed = point()?;
    // SAFETY: group and point are valid; the bytes come with their length. Coordinates out of range or off the curve
    // are refused there.
    let done =
        unsafe { ffi::EC_POINT_oct2point(ffi::EC_group_p256(), parsed.get(), bytes.as_ptr(), bytes.len(), null_mut()) };
    Ok((done == 1).then_some(parsed))
}

fn point() -> Result<Owned<ffi::EC_POINT>, Error> {
    // SAFETY: the group is a constant; the point that comes back, or null, is ours.
    unsafe { Owned::new(ffi::EC_POINT_new(ffi::EC_group_p256())) }
}
