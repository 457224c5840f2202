//! Targets that make a share of a file key, and that compute a file key from shares.

use super::TAG;
use deadpan_lab::{Random, Target};
use deadpan_seal::Secret;
use deadpan_seal::threshold::shamir;

/// The number of shares that are needed to compute the secret.
const NEEDED: usize = 3;

/// An input contains the secret and then the coefficients.
pub(super) fn share() -> Target {
    let mut coefficients: Vec<_> = (1..NEEDED).map(|_| Secret::zeroed(TAG)).collect();
    let target = Target::new("seal.share.make", NEEDED * TAG, move |input| {
        let (secret, rest) = input.split_at(TAG);
        coefficients.iter_mut().zip(rest.chunks(TAG)).for_each(|(place, random)| place.copy_from_slice(random));
        shamir::share(secret, &coefficients, 0xa5).len()
    });
    classes(target)
}

/// Returns the target that computes the secret from shares with fixed, public indices.
pub(super) fn combine() -> Target {
    let target = Target::new("seal.share.combine", NEEDED * TAG, |input| {
        let shares: Vec<(u8, &[u8])> = [2, 7, 0xfe].into_iter().zip(input.chunks(TAG)).collect();
        shamir::combine(&shares).len()
    });
    classes(target)
}

fn classes(target: Target) -> Target {
    target
        .class("zeros", |_: &mut Random, input: &mut [u8]| input.fill(0))
        .class("ones", |_, input| input.fill(0xff))
        .class("highest bits", |_, input| input.fill(0x80))
        .class("random", |random, input| random.fill(input))
        .pair("zeros", "random")
}
