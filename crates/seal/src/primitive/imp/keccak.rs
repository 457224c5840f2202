//! SHA3-256 and SHAKE256 (FIPS 202). The functions write the results to the caller's memory.

use std::ptr::null_mut;

use aws_lc_sys as ffi;

use crate::Error;

/// Computes SHA3-256. May leak: the length.
pub(crate) fn sha3_256(data: &[u8], out: &mut [u8; 32]) -> Result<(), Error> {
    // SAFETY: the function takes no arguments and returns a constant.
    digest(unsafe { ffi::EVP_sha3_256() }, data, out)
}

/// May leak: the lengths.
pub(crate) fn shake256(data: &[u8], out: &mut [u8]) -> Result<(), Error> {
    // SAFETY: the function takes no arguments and returns a constant.
    digest(unsafe { ffi::EVP_shake256() }, data, out)
}

/// Computes a digest. AWS-LC keeps the state on its stack, and wipes the state afterwards.
fn digest(function: *const ffi::EVP_MD, data: &[u8], out: &mut [u8]) -> Result<(), Error> {
    const FAILED: Error = Error::System("hashing failed");
    let mut length = u32::try_from(out.len()).map_err(|_| FAILED)?;
    // SAFETY: `data` is passed with its length. For SHA3-256, the function writes 32 bytes, and `out` has 32 bytes.
    // SHAKE256 writes `length` bytes.
    let done = unsafe {
        ffi::EVP_Digest(data.as_ptr().cast(), data.len(), out.as_mut_ptr(), &raw mut length, function, null_mut())
    };
    if done == 1 { Ok(()) } else { Err(FAILED) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests NIST's values for the empty message.
    #[test]
    fn empty_message() {
        let mut out = [0; 32];
        sha3_256(b"", &mut out).unwrap();
        assert_eq!(out[..4], [0xa7, 0xff, 0xc6, 0xf8]);
        assert_eq!(out[28..], [0x80, 0xf8, 0x43, 0x4a]);
        shake256(b"", &mut out).unwrap();
        assert_eq!(out[..4], [0x46, 0xb9, 0xdd, 0x2b]);
        // A longer output begins with the shorter output, even if the longer output exceeds the block of 136 bytes.
        let mut long = [0; 300];
        shake256(b"", &mut long).unwrap();
        assert_eq!(long[..32], out);
        assert_ne!(long[268..], [0; 32]);
    }
}
