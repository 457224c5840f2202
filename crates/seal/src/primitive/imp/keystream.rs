//! The keystream of AES-256 in counter mode, used as random bytes.
//!
//! AWS-LC's counter mode reads an input, adds the keystream to the input, and uses registers of 16 bytes. On CPUs with
//! AES instructions for 64-byte registers, the code in this module writes the keystream directly, and is three to five
//! times as fast.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
mod vaes;

use aws_lc_sys as ffi;

use deadpan_ct::Wipe;

/// The first counter block. The number in the last eight bytes of the counter must not overflow within one keystream.
pub(crate) type Counter = [u8; 16];

/// The number of bytes in a block of AES.
pub(crate) const BLOCK: usize = 16;
/// The number of bytes that the code clears at once before it adds the keystream to them. This number of bytes fits
/// into the level 1 cache.
const CLEARED: usize = 16 << 10;

/// Fills `output` with the keystream that begins at `counter`. May leak: the length of the output, and the counter.
pub(crate) fn fill(key: &[u8; 32], counter: &Counter, output: &mut [u8]) {
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    if let Some(vaes) = vaes::Vaes::new() {
        return vaes.fill(key, counter, output);
    }
    fill_anywhere(key, counter, output);
}

/// Fills `output` with the help of AWS-LC, on any CPU.
fn fill_anywhere(key: &[u8; 32], counter: &Counter, output: &mut [u8]) {
    let mut schedule = ffi::AES_KEY { rd_key: [0; 60], rounds: 0 };
    let (mut counter, mut ahead, mut used) = (*counter, [0_u8; BLOCK], 0);
    // SAFETY: the function reads 32 bytes, because the key length is 256 bits; it writes to `schedule`, and this code
    // owns `schedule`.
    let refused = unsafe { ffi::AES_set_encrypt_key(key.as_ptr(), 256, &raw mut schedule) };
    assert!(refused == 0, "256 bits are a length of keys");
    for piece in output.chunks_mut(CLEARED) {
        piece.fill(0);
        let bytes = piece.as_mut_ptr();
        // SAFETY: the function allows `piece` to be both the input and the output, and gets the length of `piece`.
        // `counter` and `ahead` have 16 bytes each. `used` is below 16, because the previous call of the function set
        // `used`. The schedule was made above.
        unsafe {
            let (counter, ahead) = (counter.as_mut_ptr(), ahead.as_mut_ptr());
            ffi::AES_ctr128_encrypt(bytes, bytes, piece.len(), &raw const schedule, counter, ahead, &raw mut used);
        }
    }
    schedule.rd_key.wipe();
    ahead.wipe();
}

#[cfg(test)]
mod tests {
    use super::*;
    use deadpan_base64::hex;

    type Fill = fn(&[u8; 32], &Counter, &mut [u8]);

    fn back_ends() -> Vec<(&'static str, Fill)> {
        let wide = wide();
        if wide.is_none() {
            // The test harness hides what `eprintln!` prints, so this code writes directly to standard error.
            let _ = std::io::Write::write_all(&mut std::io::stderr(), b"skipped: VAES: not on this CPU\n");
        }
        [("AWS-LC", fill_anywhere as Fill), ("the chosen one", fill)].into_iter().chain(wide).collect()
    }

    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    fn wide() -> Option<(&'static str, Fill)> {
        let fill: Fill =
            |key, counter, output| vaes::Vaes::new().expect("the same CPU as before").fill(key, counter, output);
        vaes::Vaes::new().map(|_| ("VAES", fill))
    }

    #[cfg(not(all(target_arch = "x86_64", not(deadpan_portable))))]
    fn wide() -> Option<(&'static str, Fill)> {
        None
    }

    /// Tests the output blocks of NIST SP 800-38A, F.5.5.
    #[test]
    fn known_answer() {
        let key = hex::decode(b"603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4").expect("hex");
        let counter = hex::decode(b"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff").expect("hex");
        let wanted = "0bdf7df1591716335e9a8b15c860c5025a6e699d536119065433863c8f657b941bc12c9c01610d5d0d8bd6a3378eca622956e1c8693536b1bee99c73a31576b6";
        for (name, fill) in back_ends() {
            let mut output = [0; 64];
            fill(key.as_array().expect("32"), counter.as_array().expect("16"), &mut output);
            assert_eq!(hex::encode(&output), wanted, "{name}");
        }
    }

    /// Computes the reference keystream block by block. Each block is encrypted with its own counter.
    fn reference(key: &[u8; 32], counter: &Counter, output: &mut [u8]) {
        for (number, block) in (u128::from_be_bytes(*counter)..).zip(output.chunks_mut(BLOCK)) {
            let mut whole = [0; BLOCK];
            fill_anywhere(key, &number.to_be_bytes(), &mut whole);
            block.copy_from_slice(&whole[..block.len()]);
        }
    }

    #[test]
    fn every_length_and_place_is_as_the_reference_has_it() {
        let mut counter = [0x5a; 16];
        for low in [0_u64, 1, 31, 0xff, 0xffff_fffe, u64::MAX - 200] {
            counter[8..].copy_from_slice(&low.to_be_bytes());
            for around in [0, 16, 64, 512, 1024, 1536, CLEARED] {
                for length in [around.max(1) - 1, around, around + 1, around + 33] {
                    if low > u64::MAX - 2000 && length > 2000 {
                        continue;
                    }
                    let mut wanted = vec![0; length];
                    reference(&[9; 32], &counter, &mut wanted);
                    for (name, fill) in back_ends() {
                        // The output has guard bytes on both sides.
                        let mut output = vec![0xaa; length + 128];
                        fill(&[9; 32], &counter, &mut output[64..64 + length]);
                        assert!(output[64..64 + length] == wanted, "{name}: {length} from {low}");
                        assert!(
                            output[..64].iter().chain(&output[64 + length..]).all(|byte| *byte == 0xaa),
                            "{name}: {length}"
                        );
                    }
                }
            }
        }
    }
}
