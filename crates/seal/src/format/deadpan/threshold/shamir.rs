//! Shamir's secret sharing over GF(256): any K of N shares determine the secret, and K − 1 shares reveal nothing about
//! it.
//!
//! This module makes shares without check values, for your own protocols. Without a check value, a wrong share gives a
//! wrong secret without an error. [`Threshold`](super::Threshold) adds the checks that a file needs.
//!
//! Each byte of the secret has its own polynomial of degree K − 1. The byte of the secret is the polynomial's value at
//! 0, and the byte of share i is the value at i. All other coefficients are random.
//!
//! ```
//! use deadpan_seal::Secret;
//! use deadpan_seal::threshold::shamir::{combine, share};
//!
//! # fn main() -> Result<(), deadpan_seal::Error> {
//! // Any two of three: a polynomial of degree 1 has one random coefficient.
//! let (secret, coefficients) = (Secret::random(32)?, [Secret::random(32)?]);
//! let [first, third] = [1, 3].map(|index| share(&secret, &coefficients, index));
//! assert!(combine(&[(3, &third), (1, &first)]).same(&secret));
//! # Ok(())
//! # }
//! ```

use super::field::{add_multiple, invert, multiply, multiply_and_add};
use crate::Secret;

/// Returns the share with this index, from 1 to 255. `coefficients` must be random, as long as the secret, and the same
/// for all shares of the secret. The number of coefficients is one less than the number of shares that are needed.
///
/// May leak: the lengths, and the number of coefficients.
#[must_use]
pub fn share(secret: &[u8], coefficients: &[Secret], index: u8) -> Secret {
    debug_assert!(index > 0, "the share with index 0 is the secret");
    let mut value = Secret::zeroed(secret.len());
    for coefficient in coefficients.iter().rev() {
        multiply_and_add(&mut value, index, coefficient);
    }
    multiply_and_add(&mut value, index, secret);
    value
}

/// Returns the secret that these shares determine. Each share comes with its index. There must be at least as many
/// shares as are needed, and their indices must differ.
///
/// May leak: the indices, the lengths, and the number of shares.
#[must_use]
pub fn combine(shares: &[(u8, &[u8])]) -> Secret {
    let length = shares.iter().map(|(_, share)| share.len()).min().unwrap_or_default();
    let mut secret = Secret::zeroed(length);
    for (index, share) in shares {
        add_multiple(&mut secret, share, at_zero(*index, shares.iter().map(|(other, _)| *other)));
    }
    secret
}

/// Returns Lagrange's factor for the share with this index, to compute the polynomial's value at 0. The factor is the
/// product of j / (j − index) over all other indices j. In this field, subtraction is XOR.
fn at_zero(index: u8, all: impl Iterator<Item = u8>) -> u8 {
    all.filter(|other| *other != index)
        .fold(1, |factor, other| multiply(factor, multiply(other, invert(other ^ index))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitive::entropy::Entropy;

    fn fixed(purpose: &str, number: u64) -> Secret {
        let mut secret = Secret::zeroed(32);
        Entropy::Fixed(4).fill(purpose, number, &mut secret).expect("no randomness is needed");
        secret
    }

    fn shares(needed: u64, of: u8) -> (Secret, Vec<Secret>) {
        let (secret, coefficients) = (fixed("secret", 0), (1..needed).map(|i| fixed("c", i)).collect::<Vec<_>>());
        let shares = (1..=of).map(|index| share(&secret, &coefficients, index)).collect();
        (secret, shares)
    }

    /// Returns the shares whose bits are set in `choice`.
    fn chosen(shares: &[Secret], choice: u32) -> Vec<(u8, &[u8])> {
        let numbered = shares.iter().enumerate().filter(|(i, _)| choice >> i & 1 == 1);
        numbered.map(|(i, share)| (i as u8 + 1, &share[..])).collect()
    }

    #[test]
    fn every_five_of_nine_give_the_secret_and_no_four_do() {
        let (secret, shares) = shares(5, 9);
        let mut counts = [0; 10];
        for choice in 1_u32..1 << 9 {
            let chosen = chosen(&shares, choice);
            counts[chosen.len()] += 1;
            assert_eq!(combine(&chosen).same(&secret), chosen.len() >= 5, "{choice:09b}");
        }
        assert_eq!((counts[4], counts[5]), (126, 126));
    }

    /// Tests perfect secrecy by counting. If four of five shares are known, each value of the fifth share gives a
    /// different secret, and all 256 secrets occur. The four shares therefore fit every secret equally well.
    #[test]
    fn four_shares_fit_every_secret_equally_well() {
        let (_, shares) = shares(5, 9);
        for choice in (1_u32..1 << 9).filter(|choice| choice.count_ones() == 4) {
            let four = chosen(&shares, choice);
            let missing = (1..=9).find(|index| four.iter().all(|(other, _)| other != index)).expect("five are missing");
            let mut seen = [[false; 256]; 32];
            for guess in 0..=255 {
                let guess = [guess; 32];
                let all = [&four[..], &[(missing, &guess[..])]].concat();
                for (seen, byte) in seen.iter_mut().zip(combine(&all).iter()) {
                    assert!(!std::mem::replace(&mut seen[usize::from(*byte)], true), "{choice:09b}");
                }
            }
        }
    }

    #[test]
    fn the_extremes_work() {
        for (needed, of) in [(2, 2), (2, 255), (255, 255), (254, 255)] {
            let (secret, shares) = shares(needed, of);
            let numbered: Vec<_> = (1..=of).zip(shares.iter().map(|share| &share[..])).collect();
            let (first, last) = (&numbered[..needed as usize], &numbered[numbered.len() - needed as usize..]);
            assert!(combine(first).same(&secret) && combine(last).same(&secret) && combine(&numbered).same(&secret));
            assert!(!combine(&first[1..]).same(&secret));
        }
    }

    /// With one coefficient, share i is the secret plus i times the coefficient. The expected shares were computed by
    /// hand, with the products in FIPS 197.
    #[test]
    fn a_line_by_hand() {
        let coefficients = [Secret::copy_of(&[0x57, 0x01, 0x00])];
        let secret = [0xc1, 0xfe, 0x53];
        assert_eq!(share(&secret, &coefficients, 0x83)[..], [0, 0xfe ^ 0x83, 0x53]);
        assert_eq!(share(&secret, &coefficients, 0x13)[..], [0xc1 ^ 0xfe, 0xfe ^ 0x13, 0x53]);
    }
}
