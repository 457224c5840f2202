//! The field GF(256) of AES, with the polynomial x⁸ + x⁴ + x³ + x + 1. Operations work on eight elements at once. No
//! table index, no jump and no address depends on the value of an element.

use deadpan_ct::Choice;

/// A one in each byte of a word.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Multiplies each of the eight elements of a word by x.
#[inline(always)]
fn double(word: u64) -> u64 {
    let carried = word >> 7 & ONES;
    // x⁸ equals the rest of the polynomial, which is hexadecimal 1b: bits 0, 1, 3 and 4.
    (word & !(ONES << 7)) << 1 ^ carried ^ carried << 1 ^ carried << 3 ^ carried << 4
}

/// Multiplies each of the eight elements of a word by `factor`.
#[inline(always)]
fn scale(mut word: u64, factor: u8) -> u64 {
    let mut product = 0;
    for bit in 0..8 {
        product ^= Choice::from_bit(factor >> bit).select(word, 0);
        word = double(word);
    }
    product
}

pub(super) fn multiply(a: u8, b: u8) -> u8 {
    scale(a.into(), b) as u8
}

/// Returns the inverse of an element, which is its 254th power. For zero, returns zero.
pub(super) fn invert(a: u8) -> u8 {
    // 254 = 2 + 4 + 8 + 16 + 32 + 64 + 128.
    let (mut power, mut product) = (a, 1);
    for _ in 0..7 {
        power = multiply(power, power);
        product = multiply(product, power);
    }
    product
}

/// Adds `factor` times each element of `addend` to `sum`. May leak: the length of the shorter slice.
pub(super) fn add_multiple(sum: &mut [u8], addend: &[u8], factor: u8) {
    each_word(sum, addend, |sum, addend| sum ^ scale(addend, factor));
}

/// Multiplies each element of `value` by `factor` and adds `addend`. This is one step of Horner's rule. May leak: the
/// length of the shorter slice.
pub(super) fn multiply_and_add(value: &mut [u8], factor: u8, addend: &[u8]) {
    each_word(value, addend, |value, addend| scale(value, factor) ^ addend);
}

/// Replaces each word of `left` by the result of `operate` on this word and the corresponding word of `right`. Missing
/// bytes of the last word are zeros.
fn each_word(left: &mut [u8], right: &[u8], operate: impl Fn(u64, u64) -> u64) {
    for (left, right) in left.chunks_mut(8).zip(right.chunks(8)) {
        let length = left.len().min(right.len());
        let word = |bytes: &[u8]| bytes[..length].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let result = operate(word(left), word(right)).to_le_bytes();
        left[..length].copy_from_slice(&result[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the product by the definition: the product of the polynomials, and then the remainder.
    fn plain(a: u8, b: u8) -> u8 {
        let mut product = 0_u16;
        for bit in 0..8 {
            if b >> bit & 1 == 1 {
                product ^= u16::from(a) << bit;
            }
        }
        for bit in (8..15).rev() {
            if product >> bit & 1 == 1 {
                product ^= 0x11b << (bit - 8);
            }
        }
        product as u8
    }

    #[test]
    fn products_are_those_of_the_definition() {
        for a in 0..=255 {
            for b in 0..=255 {
                assert_eq!(multiply(a, b), plain(a, b), "{a} and {b}");
            }
        }
        // FIPS 197, section 4.2.
        assert_eq!(multiply(0x57, 0x83), 0xc1);
        assert_eq!(multiply(0x57, 0x13), 0xfe);
    }

    #[test]
    fn it_is_a_field() {
        for a in 0..=255_u8 {
            assert_eq!((multiply(a, 1), multiply(a, 0)), (a, 0));
            assert_eq!(multiply(a, invert(a)), u8::from(a != 0), "{a}");
            for b in 0..=255 {
                assert_eq!(multiply(a, b), multiply(b, a));
                for c in [1, 2, 0x1b, 0x53, 0x80, 0xff] {
                    assert_eq!(multiply(multiply(a, b), c), multiply(a, multiply(b, c)), "{a}, {b}, {c}");
                    assert_eq!(multiply(a, b ^ c), multiply(a, b) ^ multiply(a, c), "{a}, {b}, {c}");
                }
            }
        }
    }

    #[test]
    fn whole_values_are_computed_like_single_elements() {
        for length in [0, 1, 7, 8, 9, 31, 32, 33] {
            let value: Vec<u8> = (0..length).map(|i| (i * 37 + 5) as u8).collect();
            let addend: Vec<u8> = (0..length).map(|i| (i * 91 + 200) as u8).collect();
            for factor in 0..=255 {
                let mut sum = value.clone();
                add_multiple(&mut sum, &addend, factor);
                let mut step = value.clone();
                multiply_and_add(&mut step, factor, &addend);
                for i in 0..length {
                    assert_eq!(sum[i], value[i] ^ plain(addend[i], factor));
                    assert_eq!(step[i], plain(value[i], factor) ^ addend[i]);
                }
            }
        }
    }
}
