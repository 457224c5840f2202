//! Computes checksums of joined pieces: the checksum of `x ‖ y` from the checksums of `x` and `y`, without the bytes of
//! `x` and `y`.
//!
//! `crc-fast` can also join checksums, but builds a matrix for each call. Building the matrix takes longer than
//! computing the checksum of the piece.

use crc_fast::{CrcAlgorithm, checksum};

/// Returns the CRC-64/NVME of `bytes`.
pub(crate) fn crc64(bytes: &[u8]) -> u64 {
    checksum(CrcAlgorithm::Crc64Nvme, bytes)
}

/// Returns the CRC-32 of `bytes` that PNG uses.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    checksum(CrcAlgorithm::Crc32IsoHdlc, bytes) as u32
}

/// Returns the CRC-64/NVME of two joined pieces from the checksums of the pieces and the length of the second piece.
pub(crate) fn join64(first: u64, second: u64, length: u64) -> u64 {
    CRC64.shift(first, length) ^ second
}

/// Returns the CRC-32 of two joined pieces from the checksums of the pieces and the length of the second piece.
pub(crate) fn join32(first: u32, second: u32, length: u64) -> u32 {
    shift32(first, length) ^ second
}

/// Multiplies a CRC-32 by `x` to the power of `8 · length`. The multiplication has the same effect on the CRC as
/// appending `length` bytes.
pub(crate) fn shift32(crc: u32, length: u64) -> u32 {
    CRC32.shift(u64::from(crc), length) as u32
}

static CRC64: Field = Field::new(0x9A6C_9329_AC4B_C9B5, 63);
static CRC32: Field = Field::new(0xEDB8_8320, 31);

/// Polynomials over GF(2) modulo a generator. The highest bit of a word is the coefficient of `x⁰`.
struct Field {
    generator: u64,
    top: u32,
    /// `x` to the power of `8 · 2ᵏ`.
    powers: [u64; 64],
}

impl Field {
    const fn new(generator: u64, top: u32) -> Self {
        let mut field = Self { generator, top, powers: [0; 64] };
        field.powers[0] = 1 << (top - 8);
        let mut at = 1;
        while at < 64 {
            field.powers[at] = field.multiply(field.powers[at - 1], field.powers[at - 1]);
            at += 1;
        }
        field
    }

    const fn multiply(&self, first: u64, mut second: u64) -> u64 {
        let (mut product, mut at) = (0, self.top + 1);
        while at > 0 {
            at -= 1;
            product ^= second & (first >> at & 1).wrapping_neg();
            second = second >> 1 ^ self.generator & (second & 1).wrapping_neg();
        }
        product
    }

    fn shift(&self, mut crc: u64, mut length: u64) -> u64 {
        while length != 0 {
            crc = self.multiply(self.powers[length.trailing_zeros() as usize], crc);
            length &= length - 1;
        }
        crc
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_checksums_are_those_of_the_joined_pieces() {
        let bytes: Vec<u8> = (0_u32..100_000).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        for length in [0, 1, 2, 63, 64, 65, 255, 4096, 65_535, 100_000] {
            for at in [0, 1, length / 3, length / 2, length] {
                let (first, second) = bytes[..length].split_at(at.min(length));
                let rest = second.len() as u64;
                assert_eq!(join64(crc64(first), crc64(second), rest), crc64(&bytes[..length]), "{length} at {at}");
                assert_eq!(join32(crc32(first), crc32(second), rest), crc32(&bytes[..length]), "{length} at {at}");
            }
        }
    }
}
