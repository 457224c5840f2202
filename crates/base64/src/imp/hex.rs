//! Hexadecimal with arithmetic on words, as in `portable`. The same code is compiled again for wider registers. AArch64
//! has separate code, because it can look up all digits in one register.

#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
pub mod neon;

use crate::hex::Case;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable)))]
use deadpan_ct::cpu::{Level, level};

const ONES: u64 = 0x0101_0101_0101_0101;
const TOPS: u64 = 0x8080_8080_8080_8080;

/// The number of bytes that are processed at a time: enough to fill the widest vector.
const STEP: usize = 32;

/// Encodes each byte of `input` into a pair of digits.
pub fn encode(case: Case, input: &[u8], output: &mut [u8]) {
    assert_eq!(output.len(), input.len() * 2, "output of the wrong length");
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    if level() >= Level::Avx2 {
        // SAFETY: the CPU has AVX2.
        return unsafe { avx2::encode(case, input, output) };
    }
    #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
    if level() == Level::Neon {
        return neon::encode(case, input, output);
    }
    portable::encode(case, input, output);
}

/// Decodes each pair of digits into a byte. Returns a nonzero number if a byte was not a digit.
pub fn decode(input: &[u8], output: &mut [u8]) -> u64 {
    assert_eq!(input.len(), output.len() * 2, "output of the wrong length");
    #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
    if level() >= Level::Avx2 {
        // SAFETY: the CPU has AVX2.
        return unsafe { avx2::decode(input, output) };
    }
    #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
    if level() == Level::Neon {
        return neon::decode(input, output);
    }
    portable::decode(input, output)
}

/// Turns four bytes into eight digits, the first in the lowest byte.
#[inline(always)]
fn to_digits(bytes: u32, gap: u8) -> u64 {
    let wide = u64::from(bytes);
    let wide = (wide | (wide << 16)) & 0x0000_ffff_0000_ffff;
    let wide = (wide | (wide << 8)) & 0x00ff_00ff_00ff_00ff;
    let nibbles = ((wide >> 4) | (wide << 8)) & 0x0f0f_0f0f_0f0f_0f0f;
    // Adding a constant sets the top bit of each byte whose nibble is ten or more. The top bit is then turned into a
    // mask of seven bits.
    let letters = (nibbles + ONES * (128 - 10)) & TOPS;
    nibbles + ONES * u64::from(b'0') + ((letters - (letters >> 7)) & (ONES * u64::from(gap)))
}

/// Turns eight digits into four bytes. The second word is nonzero if a byte was not a digit.
#[inline(always)]
fn to_bytes(digits: u64) -> (u32, u64) {
    let low = digits & !TOPS;
    let reaches = |word: u64, limit: u8| word + ONES * (128 - u64::from(limit));
    let is_number = reaches(low, b'0') & !reaches(low, b'9' + 1);
    // Setting bit 5 turns capitals into small letters, and turns no other character into a letter.
    let small = low | (ONES * 0x20);
    let is_letter = reaches(small, b'a') & !reaches(small, b'f' + 1);
    let flaws = (digits | !(is_number | is_letter)) & TOPS;
    let letters = is_letter & TOPS;
    let nibbles = ((low & (ONES * 0x0f)) + ((letters >> 7) * 9)) & (ONES * 0x0f);
    let pairs = ((nibbles << 4) | (nibbles >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs | (pairs >> 8)) & 0x0000_ffff_0000_ffff;
    ((fours | (fours >> 16)) as u32, flaws)
}

#[inline(always)]
fn encode_step(gap: u8, bytes: &[u8; STEP], digits: &mut [u8; 2 * STEP]) {
    for (eight, four) in digits.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks::<4>().0) {
        *eight = to_digits(u32::from_le_bytes(*four), gap).to_le_bytes();
    }
}

#[inline(always)]
fn decode_step(digits: &[u8; 2 * STEP], bytes: &mut [u8; STEP]) -> u64 {
    let mut flaws = 0;
    for (four, eight) in bytes.as_chunks_mut::<4>().0.iter_mut().zip(digits.as_chunks::<8>().0) {
        let (decoded, bad) = to_bytes(u64::from_le_bytes(*eight));
        *four = decoded.to_le_bytes();
        flaws |= bad;
    }
    flaws
}

/// The code that both back ends share.
pub mod portable {
    use super::{Case, STEP, decode_step, encode_step};
    use deadpan_ct::Wipe;

    #[inline(always)]
    pub fn encode(case: Case, input: &[u8], output: &mut [u8]) {
        let gap = match case {
            Case::Lower => b'a' - b'9' - 1,
            Case::Upper => b'A' - b'9' - 1,
        };
        let (steps, rest) = input.as_chunks::<STEP>();
        let (places, rest_place) = output.as_chunks_mut::<{ 2 * STEP }>();
        for (bytes, digits) in steps.iter().zip(places.iter_mut()) {
            encode_step(gap, bytes, digits);
        }

        let (mut bytes, mut digits) = ([0; STEP], [0; 2 * STEP]);
        bytes[..rest.len()].copy_from_slice(rest);
        encode_step(gap, &bytes, &mut digits);
        rest_place.copy_from_slice(&digits[..2 * rest.len()]);
        bytes.wipe();
        digits.wipe();
    }

    /// Decodes each pair of digits into a byte. Returns a nonzero number if a byte was not a digit.
    #[inline(always)]
    pub fn decode(input: &[u8], output: &mut [u8]) -> u64 {
        let mut flaws = 0;
        let (steps, rest) = input.as_chunks::<{ 2 * STEP }>();
        let (places, rest_place) = output.as_chunks_mut::<STEP>();
        for (digits, bytes) in steps.iter().zip(places.iter_mut()) {
            flaws |= decode_step(digits, bytes);
        }
        let (mut digits, mut bytes) = ([b'0'; 2 * STEP], [0; STEP]);
        digits[..rest.len()].copy_from_slice(rest);
        flaws |= decode_step(&digits, &mut bytes);
        rest_place.copy_from_slice(&bytes[..rest.len() / 2]);
        digits.wipe();
        bytes.wipe();
        flaws
    }
}

/// The portable code, compiled for 32-byte vectors.
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
pub mod avx2 {
    use super::{Case, portable};

    #[target_feature(enable = "avx2")]
    pub fn encode(case: Case, input: &[u8], output: &mut [u8]) {
        portable::encode(case, input, output);
    }

    /// Decodes each pair of digits into a byte. Returns a nonzero number if a byte was not a digit.
    #[target_feature(enable = "avx2")]
    pub fn decode(input: &[u8], output: &mut [u8]) -> u64 {
        portable::decode(input, output)
    }
}
