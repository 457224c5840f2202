//! Computes the Adler-32 checksum of joined pieces from the checksums of the pieces.

const PRIME: u64 = 65_521;

/// The checksum of some bytes, and their number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Adler {
    sum: u32,
    length: u64,
}

impl Default for Adler {
    fn default() -> Self {
        Self { sum: 1, length: 0 }
    }
}

impl Adler {
    pub(crate) fn over(bytes: &[u8]) -> Self {
        Self { sum: simd_adler32::adler32(&bytes), length: bytes.len() as u64 }
    }

    /// Returns the checksum of these bytes followed by the bytes of `next`.
    pub(crate) fn then(self, next: Self) -> Self {
        let low = |sum: u32| u64::from(sum & 0xffff);
        let high = |sum: u32| u64::from(sum >> 16);
        let before = low(self.sum) + PRIME - 1;
        let (a, b) = (before + low(next.sum), high(self.sum) + high(next.sum) + before * (next.length % PRIME));
        Self { sum: (((b % PRIME) << 16) | (a % PRIME)) as u32, length: self.length + next.length }
    }

    pub(crate) fn sum(self) -> u32 {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_have_the_checksum_of_the_whole() {
        let bytes: Vec<u8> = (0..300_000_u32).map(|at| (at.wrapping_mul(at) >> 7) as u8 | 0x80).collect();
        for cut in [0, 1, 65_520, 65_521, 65_522, 200_000, 300_000] {
            let (first, second) = bytes.split_at(cut);
            assert_eq!(Adler::over(first).then(Adler::over(second)), Adler::over(&bytes));
        }
    }
}
