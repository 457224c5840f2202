//! HKDF as separate extract and expand steps. The extract step and the expand step write their results to the caller's
//! memory.

use aws_lc_sys as ffi;

use crate::Error;

const FAILED: Error = Error::System("key derivation failed");

/// The hash function of HKDF.
#[derive(Clone, Copy)]
pub(crate) enum HkdfHash {
    Sha256,
    Sha384,
}

/// Computes HKDF-Extract with SHA-256. May leak: the lengths.
pub(crate) fn extract(salt: &[u8], secret: &[u8], key: &mut [u8; 32]) -> Result<(), Error> {
    let mut length = 0;
    // SAFETY: the function writes at most one SHA-256 value, and `key` has room for it. The other pointers are passed
    // with the lengths of their slices.
    let done = unsafe {
        ffi::HKDF_extract(
            key.as_mut_ptr(),
            &raw mut length,
            ffi::EVP_sha256(),
            secret.as_ptr(),
            secret.len(),
            salt.as_ptr(),
            salt.len(),
        )
    };
    if done == 1 && length == key.len() { Ok(()) } else { Err(FAILED) }
}

/// Computes HKDF-Expand. May leak: the lengths.
pub(crate) fn expand(hash: HkdfHash, key: &[u8], info: &[u8], out: &mut [u8]) -> Result<(), Error> {
    // SAFETY: these functions only return the address of a constant.
    let digest = unsafe {
        match hash {
            HkdfHash::Sha256 => ffi::EVP_sha256(),
            HkdfHash::Sha384 => ffi::EVP_sha384(),
        }
    };
    // SAFETY: each pointer is passed with the length of its slice. The function writes at most the length of `out` to
    // `out`. The digest is a constant.
    let done = unsafe {
        ffi::HKDF_expand(out.as_mut_ptr(), out.len(), digest, key.as_ptr(), key.len(), info.as_ptr(), info.len())
    };
    if done == 1 { Ok(()) } else { Err(FAILED) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the first and last bytes of the results in RFC 5869, A.1 and A.3 (empty salt and info).
    #[test]
    fn rfc_5869() {
        let mut key = [0; 32];
        let mut out = [0; 42];
        extract(&(0..13).collect::<Vec<u8>>(), &[0x0b; 22], &mut key).unwrap();
        assert_eq!(key[..4], [0x07, 0x77, 0x09, 0x36]);
        expand(HkdfHash::Sha256, &key, &(0xf0..0xfa).collect::<Vec<u8>>(), &mut out).unwrap();
        assert_eq!((&out[..4], &out[38..]), (&[0x3c, 0xb2, 0x5f, 0x25][..], &[0x87, 0x18, 0x58, 0x65][..]));
        extract(&[], &[0x0b; 22], &mut key).unwrap();
        expand(HkdfHash::Sha256, &key, &[], &mut out).unwrap();
        assert_eq!((&out[..4], &out[38..]), (&[0x8d, 0xa4, 0xe7, 0x75][..], &[0xb6, 0x1a, 0x96, 0xc8][..]));
    }

    /// HKDF refuses to compute more than 255 blocks.
    #[test]
    fn too_much() {
        assert!(matches!(expand(HkdfHash::Sha256, &[1; 32], b"", &mut vec![0; 255 * 32 + 1]), Err(Error::System(_))));
    }
}
