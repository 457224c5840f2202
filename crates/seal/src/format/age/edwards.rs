//! The X25519 form of Ed25519 public keys: u = (1 + y) / (1 - y) modulo 2^255 - 19 (RFC 7748, section 4.1).
//!
//! This module uses only public keys, so its functions do not run in constant time.

/// A number modulo 2^255 - 19, in four limbs. Between two steps of a calculation, the number may be greater than the
/// prime.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Field([u64; 4]);

const PRIME: [u64; 4] = [u64::MAX - 18, u64::MAX, u64::MAX, u64::MAX >> 1];
const ONE: Field = Field([1, 0, 0, 0]);
/// The constant d of the curve.
const D: Field = Field([0x75eb_4dca_1359_78a3, 0x0070_0a4d_4141_d8ab, 0x8cc7_4079_7779_e898, 0x5203_6cee_2b6f_fe73]);

/// Returns the X25519 form of an Ed25519 public key. Returns `None` if the bytes are not the canonical form of a point.
/// Also returns `None` for the neutral point, which has no X25519 form.
pub(super) fn to_x25519(point: &[u8; 32]) -> Option<[u8; 32]> {
    let mut bytes = *point;
    // The highest bit is the sign of x.
    bytes[31] &= 0x7f;
    let y = Field::from_bytes(&bytes)?;
    let square = y.times(y);
    // x² = (y² - 1) / (d y² + 1), so a point exists only if this quotient has a square root.
    let x_square = square.minus(ONE).times(D.times(square).plus(ONE).inverse());
    if !x_square.is_square() || y == ONE {
        return None;
    }
    Some(ONE.plus(y).times(ONE.minus(y).inverse()).to_bytes())
}

impl Field {
    /// Reads a number in little-endian order. Returns `None` if the number is not below the prime.
    fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        let mut limbs = [0; 4];
        for (limb, bytes) in limbs.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *limb = u64::from_le_bytes(*bytes);
        }
        limbs.iter().rev().lt(PRIME.iter().rev()).then_some(Self(limbs))
    }

    fn to_bytes(self) -> [u8; 32] {
        let mut bytes = [0; 32];
        for (bytes, limb) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(self.0) {
            *bytes = limb.to_le_bytes();
        }
        bytes
    }

    fn reduced(mut self) -> Self {
        while !self.0.iter().rev().lt(PRIME.iter().rev()) {
            let mut borrow = false;
            for (limb, prime) in self.0.iter_mut().zip(PRIME) {
                let (low, one) = limb.overflowing_sub(prime);
                let (low, two) = low.overflowing_sub(borrow.into());
                (*limb, borrow) = (low, one || two);
            }
        }
        self
    }

    /// Returns the number in these limbs plus `high` times 2^256. 2^256 is 38 modulo the prime.
    fn folded(mut limbs: [u64; 4], high: u64) -> Self {
        let mut carry = u128::from(high) * 38;
        while carry > 0 {
            for limb in &mut limbs {
                carry += u128::from(*limb);
                *limb = carry as u64;
                carry >>= 64;
            }
            carry *= 38;
        }
        Self(limbs).reduced()
    }

    fn plus(self, other: Self) -> Self {
        let (mut limbs, mut carry) = ([0; 4], 0);
        for (limb, (one, two)) in limbs.iter_mut().zip(self.0.iter().zip(other.0)) {
            carry += u128::from(*one) + u128::from(two);
            *limb = carry as u64;
            carry >>= 64;
        }
        Self::folded(limbs, carry as u64)
    }

    fn minus(self, other: Self) -> Self {
        let (mut negative, mut borrow) = ([0; 4], false);
        for (limb, (prime, number)) in negative.iter_mut().zip(PRIME.iter().zip(other.0)) {
            let (low, one) = prime.overflowing_sub(number);
            let (low, two) = low.overflowing_sub(borrow.into());
            (*limb, borrow) = (low, one || two);
        }
        self.plus(Self(negative))
    }

    fn times(self, other: Self) -> Self {
        let mut wide = [0_u64; 8];
        for (i, one) in self.0.iter().enumerate() {
            let mut carry = 0;
            for (j, two) in other.0.iter().enumerate() {
                carry += u128::from(*one) * u128::from(*two) + u128::from(wide[i + j]);
                wide[i + j] = carry as u64;
                carry >>= 64;
            }
            wide[i + 4] = carry as u64;
        }
        let (mut limbs, mut carry) = ([0; 4], 0);
        for (i, limb) in limbs.iter_mut().enumerate() {
            carry += u128::from(wide[i]) + u128::from(wide[i + 4]) * 38;
            *limb = carry as u64;
            carry >>= 64;
        }
        Self::folded(limbs, carry as u64)
    }

    /// Returns this number to the power of `exponent`, which is given in limbs.
    fn power(self, exponent: [u64; 4]) -> Self {
        (0..256).rev().fold(ONE, |power, bit| {
            let square = power.times(power);
            if exponent[bit / 64] >> (bit % 64) & 1 == 1 { square.times(self) } else { square }
        })
    }

    fn inverse(self) -> Self {
        self.power([PRIME[0] - 2, PRIME[1], PRIME[2], PRIME[3]])
    }

    /// Returns whether the number is zero or has a square root, by Euler's criterion with the exponent (p - 1) / 2.
    fn is_square(self) -> bool {
        let half = [
            PRIME[0] >> 1 | PRIME[1] << 63,
            PRIME[1] >> 1 | PRIME[2] << 63,
            PRIME[2] >> 1 | PRIME[3] << 63,
            PRIME[3] >> 1,
        ];
        self == Self([0; 4]) || self.power(half) == ONE
    }
}

#[cfg(test)]
mod tests {
    use aws_lc_rs::digest::{SHA512, digest};
    use aws_lc_rs::signature::{Ed25519KeyPair, KeyPair};

    use super::*;
    use crate::primitive::imp::x25519;

    /// Multiplying the base point by the scalar of an Ed25519 seed gives the X25519 form of the seed's public key.
    #[test]
    fn the_form_is_that_of_the_private_key() {
        for seed in 0..50_u8 {
            let pair = Ed25519KeyPair::from_seed_unchecked(&[seed; 32]).expect("a key");
            let point = pair.public_key().as_ref().as_array().copied().expect("32 bytes");
            let hash = digest(&SHA512, &[seed; 32]);
            let mut expected = [0; 32];
            x25519::public(hash.as_ref().first_chunk().expect("64 bytes"), &mut expected);
            assert_eq!(to_x25519(&point), Some(expected), "{seed}");
        }
    }

    #[test]
    fn other_bytes_are_no_points() {
        let mut neutral = [0; 32];
        neutral[0] = 1;
        assert_eq!(to_x25519(&neutral), None);
        // These bytes are the prime, which is another form of the number zero.
        let mut prime = [0xff; 32];
        (prime[0], prime[31]) = (0xed, 0x7f);
        assert_eq!(to_x25519(&prime), None);
        // For about half of all values of y, no point has this y.
        let points = (2..200_u8).filter(|byte| to_x25519(&[*byte; 32].map(|byte| byte & 0x7f)).is_some()).count();
        assert!((60..140).contains(&points), "{points}");
    }
}
