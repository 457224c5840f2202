//! Opening sealed files. Claim: what is secret shows in the time no more than this table says.
//!
//! | Target | Secret | May show |
//! |---|---|---|
//! | `seal.tag` | where two tags differ | their length, and whether they do |
//! | `seal.floe.open.good` | the data | their length |
//! | `seal.floe.open.bad` | where a segment is wrong | its length, and that it is wrong |
//! | `seal.pem.private` | the key | its kind |
//! | `seal.pbes2.unpad` | the passphrase, what is behind it, and where that is wrong | that it is wrong |
//! | `seal.key.x25519` | the scalar | that the message is not for it |
//! | `seal.key.xwing`, `.ml_kem_768` | the key, and whether ML-KEM rejected the ciphertext | that the message is not for it |
//!
//! From `seal.pem.private` on they are traced only: they take from a few to hundreds of microseconds, of which a nanosecond more or less is
//! beyond what a clock can tell on a shared machine in any sensible time.
//!
//! What is missing here, and why:
//! - **Argon2id** (`Passphrase` of a file). From the second half of its first pass on, the memory it reads depends on the passphrase. That is
//!   its bargain for being hard to compute, and scrypt's in key files as well. Nothing is claimed, so there is nothing to hold it to.
//! - **Sealing.** Keys, IVs and salts are drawn inside, and random bytes make the traces of one input differ. The cipher is the one that opens.
//! - **P-256, age's keys and whole headers.** They take and free so many blocks of memory that one input is handled at other addresses each
//!   time. A header's code is compared as in `seal.tag`.
//! - **Different ML-KEM keys.** The matrix is sampled from a public seed by rejection, so its time differs from key to key, and may. Held
//!   against each other are ciphertexts under one key.

mod floe;
mod key;
mod sample;
mod settle;

use super::SizedTarget;
use deadpan_lab::{Random, Target};
use deadpan_seal::Secret;
use std::hint::black_box;

/// Bytes in a tag, and in most keys.
const TAG: usize = 32;

pub(super) fn timing() -> Vec<Target> {
    vec![tag(), floe::good(), floe::bad(), key::pem_private(), key::pbes2_unpad(), key::x25519(), key::xwing(), key::ml_kem_768()]
}

pub(super) fn speed() -> Vec<SizedTarget> {
    floe::speed()
}

/// A target whose traces are compared, and which is not timed: it has classes, and no pairs of them. Each call fails `failures` times in
/// AWS-LC.
fn traced_only<R>(name: &str, length: usize, failures: usize, mut function: impl FnMut(&[u8]) -> R + 'static) -> Target {
    let mut errors = settle::errors(failures);
    // The first time often, until the allocator has blocks of all sizes.
    let mut times = 100;
    let run = move |input: &[u8]| {
        for _ in 0..std::mem::replace(&mut times, 1) {
            drop(black_box(function(input)));
            errors();
            settle::slots();
            settle::heap();
        }
    };
    Target::new(name, length, run).against_first()
}

/// A byte that is not zero, to make another wrong with.
fn flaw(random: &mut Random) -> u8 {
    1 + random.below(255) as u8
}

/// How FLOE's header tag, the code of a header and a passphrase's commitment are compared.
fn tag() -> Target {
    let mut expected = Secret::zeroed(TAG);
    let target = Target::new("seal.tag", 2 * TAG, move |input| {
        let (one, other) = input.split_at(TAG);
        expected.copy_from_slice(one);
        expected.same(other)
    });
    let wrong_at = |place: usize| {
        move |random: &mut Random, input: &mut [u8]| {
            fill_same(random, input);
            input[TAG + place] ^= flaw(random);
        }
    };
    target
        .class_with_outcome("right", "right", fill_same)
        .class("first byte wrong", wrong_at(0))
        .class("last byte wrong", wrong_at(TAG - 1))
        .class("random", |random, input| random.fill(input))
}

fn fill_same(random: &mut Random, input: &mut [u8]) {
    random.fill(&mut input[..TAG]);
    input.copy_within(..TAG, TAG);
}

#[cfg(test)]
mod tests;
