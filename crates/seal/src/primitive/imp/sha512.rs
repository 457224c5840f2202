//! SHA-512 (FIPS 180-4) for long messages, which are hashed in pieces.
//!
//! AWS-LC has fast code only for Intel processors. On other processors, the code for AVX2 and BMI in this module takes
//! a quarter less time than AWS-LC. On a CPU without AVX2 or BMI, AWS-LC computes the hash. AWS-LC is also the
//! reference for the tests.

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
mod x86_64;

use aws_lc_rs::digest::{Context, SHA512};

/// The number of bytes in a digest.
pub(crate) const DIGEST: usize = 64;

/// A message that is being hashed.
pub(crate) enum Sha512 {
    /// The code of AWS-LC, for every CPU.
    AwsLc(Box<Context>),
    /// Uses vector instructions for the schedule of two blocks at once, and BMI instructions for the rounds.
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    Vectors(Box<x86_64::Sha512Message>),
}

impl Sha512 {
    /// Begins a message, using the fastest back end for this CPU.
    pub(crate) fn new() -> Self {
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        if let Some(compress) = x86_64::Sha512Compress::new() {
            return Self::Vectors(Box::new(x86_64::Sha512Message::new(compress)));
        }
        Self::AwsLc(Box::new(Context::new(&SHA512)))
    }

    /// Adds data to the message. May leak: the length of the data.
    pub(crate) fn update(&mut self, data: &[u8]) {
        match self {
            Self::AwsLc(context) => context.update(data),
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            Self::Vectors(message) => message.update(data),
        }
    }

    /// Returns the digest of the message. May leak: the length of the message.
    pub(crate) fn finish(self) -> [u8; DIGEST] {
        match self {
            Self::AwsLc(context) => context.finish().as_ref().try_into().expect("SHA-512 has 64 bytes"),
            #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
            Self::Vectors(message) => message.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::digest::digest;

    use super::*;

    /// Returns a new message for every back end that this CPU supports, with the name of the back end.
    fn back_ends() -> Vec<(&'static str, Sha512)> {
        #[cfg_attr(not(all(target_arch = "x86_64", not(deadpan_portable))), allow(unused_mut))]
        let mut all = vec![("AWS-LC", Sha512::AwsLc(Box::new(Context::new(&SHA512))))];
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        for (name, found) in [("AVX2", x86_64::Sha512Compress::avx2()), ("AVX-512", x86_64::Sha512Compress::avx512())] {
            match found {
                Some(compress) => all.push((name, Sha512::Vectors(Box::new(x86_64::Sha512Message::new(compress))))),
                None => {
                    // The test harness hides what `eprintln!` prints, so this code writes directly to standard error.
                    let line = format!("skipped: {name}: not on this CPU\n");
                    let _ = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
                }
            }
        }
        all
    }

    fn data(length: usize) -> Vec<u8> {
        (0..length as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
    }

    /// The lengths go up to eight blocks, so that a message ends at every byte of the first block and of the second
    /// block of a pair.
    #[test]
    fn every_length_is_as_the_reference() {
        let data = data(5000);
        for length in (0..1100).chain([4095, 4096, 5000]) {
            for (name, mut message) in back_ends() {
                message.update(&data[..length]);
                assert_eq!(message.finish(), digest(&SHA512, &data[..length]).as_ref(), "{name}: {length}");
            }
        }
    }

    #[test]
    fn pieces_of_any_length_make_the_same_message() {
        let data = data(3000);
        let wanted = digest(&SHA512, &data);
        for step in [1, 7, 127, 128, 129, 255, 256, 257, 511, 1000] {
            for (name, mut message) in back_ends() {
                for piece in data.chunks(step) {
                    message.update(piece);
                    message.update(b"");
                }
                assert_eq!(message.finish(), wanted.as_ref(), "{name}: pieces of {step}");
            }
        }
    }

    /// Tests NIST's value for "abc".
    #[test]
    fn a_known_answer() {
        for (name, mut message) in back_ends() {
            message.update(b"abc");
            let digest = message.finish();
            assert_eq!(digest[..4], [0xdd, 0xaf, 0x35, 0xa1], "{name}");
            assert_eq!(digest[60..], [0xa5, 0x4c, 0xa4, 0x9f], "{name}");
        }
    }
}
