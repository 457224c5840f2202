//! scrypt (RFC 7914); `aws-lc-rs` does not offer this function.

/// Returns `false` if the parameters are not allowed, or if scrypt would need more memory than `memory` or than the
/// system has.
///
/// May leak: all lengths and parameters. May also leak information about the passphrase to programs that share the
/// processor's caches: by design, scrypt reads memory at addresses that depend on the passphrase.
#[must_use]
pub(crate) fn derive(passphrase: &[u8], salt: &[u8], n: u64, r: u64, p: u64, memory: usize, output: &mut [u8]) -> bool {
    assert!(r < 1 << 32, "the caller's ceilings are far below");
    // SAFETY: the three pointers come from slices that live until the call returns, and each pointer is passed with the
    // length of its slice. The function writes only to `output`, which is mutably borrowed, and keeps none of the
    // pointers. The function checks the parameters itself. The assertion ensures that `r` is below 2^32, so that the
    // sums in the function do not overflow.
    let done = unsafe {
        aws_lc_sys::EVP_PBE_scrypt(
            passphrase.as_ptr().cast(),
            passphrase.len(),
            salt.as_ptr(),
            salt.len(),
            n,
            r,
            p,
            memory,
            output.as_mut_ptr(),
            output.len(),
        )
    };
    done == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests the first bytes of the results in RFC 7914, section 12.
    #[test]
    fn known_answers() {
        let answers = [
            ("", "", [16, 1, 1], [0x77, 0xd6, 0x57, 0x62, 0x38, 0x65, 0x7b, 0x20]),
            ("password", "NaCl", [1024, 8, 16], [0xfd, 0xba, 0xbe, 0x1c, 0x9d, 0x34, 0x72, 0x00]),
            ("pleaseletmein", "SodiumChloride", [16384, 8, 1], [0x70, 0x23, 0xbd, 0xcb, 0x3a, 0xfd, 0x73, 0x48]),
        ];
        for (passphrase, salt, [n, r, p], start) in answers {
            let mut output = [0; 64];
            assert!(derive(passphrase.as_bytes(), salt.as_bytes(), n, r, p, 1 << 25, &mut output));
            assert_eq!(output[..8], start);
        }
    }

    #[test]
    fn too_much_is_refused() {
        let mut output = [0; 64];
        assert!(!derive(b"", b"", 1 << 20, 8, 1, 1 << 25, &mut output), "more memory than allowed");
        assert!(!derive(b"", b"", 15, 8, 1, 1 << 25, &mut output), "no power of two");
    }
}
