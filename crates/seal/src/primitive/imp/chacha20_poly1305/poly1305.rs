//! Poly1305's arithmetic modulo 2^130 - 5, one number at a time. The vector code needs this arithmetic before and after
//! its work.
//!
//! A number has three limbs of 44, 44 and 42 bits. Between two operations, a limb may have a few more bits.

use std::array;

use super::TAG;
use deadpan_ct::Wiped;

/// The masks for the bits of the limbs.
pub(super) const LOW: u64 = (1 << 44) - 1;
pub(super) const HIGH: u64 = (1 << 42) - 1;

/// The third limb of the number 2^128, which Poly1305 adds to each block of a message.
pub(super) const PAD: u64 = 1 << 40;

/// The limbs of a number, the least significant one first.
pub(super) type Limbs = [u64; 3];

/// The number of powers of the point r that a [`Poly1305Key`] holds.
pub(super) const POWERS: usize = 8;

/// A key for one message (RFC 8439, section 2.5).
pub(super) struct Poly1305Key {
    /// The first powers of the point r, one after the other.
    powers: Wiped<[u64; 3 * POWERS]>,
    /// The number that is added to the sum at the end.
    end: Wiped<u128>,
}

impl Poly1305Key {
    /// Makes the key from the first 32 bytes of a keystream.
    pub(super) fn new(words: &[u32; 16]) -> Self {
        let number = |words: &[u32]| words.iter().rev().fold(0_u128, |number, word| number << 32 | u128::from(*word));
        let point = limbs(number(&words[..4]) & 0x0fff_fffc_0fff_fffc_0fff_fffc_0fff_ffff);
        let mut key = Self { powers: Wiped::new([0; 3 * POWERS]), end: Wiped::new(number(&words[4..8])) };
        let mut power = [1, 0, 0];
        for place in key.powers.as_chunks_mut().0 {
            power = multiply(&power, &point);
            *place = power;
        }
        key
    }

    /// Returns a power of the point.
    pub(super) fn power(&self, exponent: usize) -> &Limbs {
        &self.powers.as_chunks().0[exponent - 1]
    }

    /// Adds the last block, which holds the length of the sealed data, and returns the tag of the message. `sum` is the
    /// sum of the previous blocks, each multiplied by its power of the point r.
    pub(super) fn tag(&self, sum: &Limbs, length: usize) -> [u8; TAG] {
        let last = limbs((length as u128) << 64);
        let sum = [sum[0] + last[0], sum[1] + last[1], sum[2] + last[2] + PAD];
        let sum = reduce(&multiply(&sum, self.power(1)));
        let number = u128::from(sum[0]) | u128::from(sum[1]) << 44 | u128::from(sum[2]) << 88;
        number.wrapping_add(*self.end).to_le_bytes()
    }
}

/// Returns the limbs of a number.
fn limbs(number: u128) -> Limbs {
    [number as u64 & LOW, (number >> 44) as u64 & LOW, (number >> 88) as u64]
}

/// Returns the product of two numbers. 2^132 equals 20 modulo 2^130 - 5. The part of a product that begins at 2^132 is
/// therefore multiplied by 20 and added to a lower limb.
pub(super) fn multiply(one: &Limbs, other: &Limbs) -> Limbs {
    let times = |x: u64, y: u64| u128::from(x) * u128::from(y);
    let [x, y] = [one, other];
    let above = [0, 20 * y[1], 20 * y[2]];
    let first = times(x[0], y[0]) + times(x[1], above[2]) + times(x[2], above[1]);
    let second = times(x[0], y[1]) + times(x[1], y[0]) + times(x[2], above[2]) + (first >> 44);
    let third = times(x[0], y[2]) + times(x[1], y[1]) + times(x[2], y[0]) + (second >> 44);
    let first = (first as u64 & LOW) + 5 * (third >> 42) as u64;
    [first & LOW, (second as u64 & LOW) + (first >> 44), third as u64 & HIGH]
}

/// Returns the number below 2^130 - 5 that equals `number` modulo 2^130 - 5.
fn reduce(number: &Limbs) -> Limbs {
    let mut whole = *number;
    // After the first run of the loop, the part above 2^130 is so small that the second run leaves nothing above 2^130.
    for _ in 0..2 {
        whole[0] += 5 * (whole[2] >> 42);
        whole[2] &= HIGH;
        whole = carried(whole);
    }
    let mut less = carried([whole[0] + 5, whole[1], whole[2]]);
    // If `whole` + 5 is at least 2^130, the answer is `whole` - (2^130 - 5).
    let reached = (less[2] >> 42).wrapping_neg();
    less[2] &= HIGH;
    array::from_fn(|limb| whole[limb] & !reached | less[limb] & reached)
}

/// Moves the bits that do not fit into a limb to the next limb. The third limb may then have too many bits.
fn carried([mut first, mut second, mut third]: Limbs) -> Limbs {
    second += first >> 44;
    first &= LOW;
    third += second >> 44;
    second &= LOW;
    [first, second, third]
}
