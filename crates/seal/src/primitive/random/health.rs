//! Tests of the parts of the random generator.
//!
//! The bounds come from NIST SP 800-90B, 4.4. The bounds are for a source that claims eight bits of entropy for each
//! byte, and for an error probability of 2^-64 in each comparison. The probability that the tests refuse a seed from a
//! good source is below 2^-53.

use crate::Error;
use crate::primitive::imp::keystream;

/// The number of bytes in a seed; the window of the second test has the same length.
pub(super) const SAMPLE: usize = 512;
/// A row of this many equal bytes has a probability of 2^-64 at each position.
const REPEATED: usize = 9;
/// The probability that the first byte of a sample occurs at least this many times in 512 bytes is below 2^-64.
const FREQUENT: usize = 28;

/// Tests the known answer of NIST SP 800-38A, F.5.5, for AES-256 in counter mode.
pub(super) fn known_answer() -> Result<(), Error> {
    const KEY: [u8; 32] = [
        0x60, 0x3d, 0xeb, 0x10, 0x15, 0xca, 0x71, 0xbe, 0x2b, 0x73, 0xae, 0xf0, 0x85, 0x7d, 0x77, 0x81, 0x1f, 0x35,
        0x2c, 0x07, 0x3b, 0x61, 0x08, 0xd7, 0x2d, 0x98, 0x10, 0xa3, 0x09, 0x14, 0xdf, 0xf4,
    ];
    const COUNTER: keystream::Counter =
        [0xf0, 0xf1, 0xf2, 0xf3, 0xf4, 0xf5, 0xf6, 0xf7, 0xf8, 0xf9, 0xfa, 0xfb, 0xfc, 0xfd, 0xfe, 0xff];
    const ANSWER: [u8; 32] = [
        0x0b, 0xdf, 0x7d, 0xf1, 0x59, 0x17, 0x16, 0x33, 0x5e, 0x9a, 0x8b, 0x15, 0xc8, 0x60, 0xc5, 0x02, 0x5a, 0x6e,
        0x69, 0x9d, 0x53, 0x61, 0x19, 0x06, 0x54, 0x33, 0x86, 0x3c, 0x8f, 0x65, 0x7b, 0x94,
    ];
    let mut keystream = [0; 32];
    keystream::fill(&KEY, &COUNTER, &mut keystream);
    if keystream == ANSWER { Ok(()) } else { Err(Error::System("the random generator fails its known answer")) }
}

/// Runs two tests: the repetition count test and the adaptive proportion test. For a sample that passes, the time may
/// leak whether two neighboring bytes are equal, and how often the first byte occurs. Such a leak does no harm.
pub(super) fn check(sample: &[u8]) -> Result<(), Error> {
    let (mut run, mut longest) = (1_usize, 1);
    for pair in sample.windows(2) {
        run = if pair[0] == pair[1] { run + 1 } else { 1 };
        longest = longest.max(run);
    }
    let frequent = sample.iter().filter(|byte| **byte == sample[0]).count();
    if longest >= REPEATED || frequent >= FREQUENT {
        return Err(Error::System("its random bytes repeat themselves, so they are not used"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<u8> {
        (0..SAMPLE).map(|i| (i * 7 + i / 256) as u8).collect()
    }

    #[test]
    fn the_keystream_is_the_known_one() {
        known_answer().expect("AES-256");
    }

    #[test]
    fn a_stuck_source_is_refused() {
        assert!(check(&sample()).is_ok());
        assert!(check(&[0; SAMPLE]).is_err() && check(&[0xff; SAMPLE]).is_err());
        for (length, refused) in [(REPEATED - 1, false), (REPEATED, true)] {
            for at in [0, 100, SAMPLE - length] {
                let mut stuck = sample();
                stuck[at..at + length].fill(0x55);
                assert_eq!(check(&stuck).is_err(), refused, "{length} at {at}");
            }
        }
    }

    #[test]
    fn a_source_with_a_favorite_is_refused() {
        for (count, refused) in [(FREQUENT - 1, false), (FREQUENT, true)] {
            let mut often: Vec<u8> = sample().iter().map(|byte| byte | 1).collect();
            (0..count).for_each(|i| often[i * 18] = 0);
            assert_eq!(check(&often).is_err(), refused, "{count}");
        }
    }
}
