//! The targets for opening sealed files. Claim: the time depends on the secrets only as far as the last column of this
//! table allows.
//!
//! | Target | Secret | May affect the time |
//! |---|---|---|
//! | `seal.tag` | the position at which two tags differ | the length of the tags, and whether they differ |
//! | `seal.floe.open.good` | the data | their length |
//! | `seal.floe.open.bad` | the position of a wrong byte in a segment | the segment's length, and that it is wrong |
//! | `seal.age.open.good` | the data | their length |
//! | `seal.age.open.bad` | the position of a wrong byte in a chunk | the chunk's length, and that it is wrong |
//! | `seal.pem.private` | the key | its kind |
//! | `seal.pbes2.unpad` | the passphrase, the decrypted key, and where it is wrong | that the file does not open |
//! | `seal.key.x25519`, `.p256` | the scalar | that the message is for another key |
//! | `seal.key.xwing`, `.ml_kem_768` | the key, and whether ML-KEM rejected | that the message is for another key |
//! | `seal.share.make` | the secret and the coefficients | the index, the lengths, how many shares are needed |
//! | `seal.share.combine` | the shares | their indices, their lengths, their number |
//! | `seal.message` | the file key and the data | their length |
//!
//! In this table, `seal.pem.private` and all later targets take microseconds. The lab traces all classes of these slow
//! targets, but times only one pair of classes. Computing bounds for many pairs of slow calls takes too long.
//! `seal.message` is only traced.
//!
//! The following functions are not measured:
//! - **Argon2id** (the passphrase of a file). After the first half of the first pass, Argon2id reads addresses that
//!   depend on the passphrase, because this makes attacks costly. In key files, scrypt also reads addresses that depend
//!   on the passphrase. The lab tests no claim about Argon2id or scrypt.
//! - **Sealing.** Keys, IVs and salts are drawn inside the function, so the traces of one input differ. Opening uses
//!   the same cipher.
//! - **Different ML-KEM keys.** The matrix is sampled from a public seed by rejection, so the time may differ between
//!   keys. The lab uses one key, and compares different ciphertexts for this key with each other.

mod age;
mod floe;
mod key;
mod sample;
mod shamir;

use deadpan_lab::harness::SizedTarget;
use deadpan_lab::{Random, Target};
use deadpan_seal::{Kem, PrivateKey, Secret, open, seal};

/// The length in bytes of a tag, and of most keys.
const TAG: usize = 32;

pub(super) fn timing() -> Vec<Target> {
    vec![
        tag(),
        floe::good(),
        floe::bad(),
        age::good(),
        age::bad(),
        key::pem_private(),
        key::pbes2_unpad(),
        key::x25519(),
        key::p256(),
        key::xwing(),
        key::ml_kem_768(),
        shamir::share(),
        shamir::combine(),
        message(),
    ]
}

pub(super) fn speed() -> Vec<SizedTarget> {
    floe::speed()
}

/// Returns a byte that is not zero. XOR with a byte that is not zero changes the value of any byte.
fn flaw(random: &mut Random) -> u8 {
    1 + random.below(255) as u8
}

/// Returns the target for the comparison of two tags. Opening uses this comparison for FLOE's header tag, a header's
/// code and a passphrase's commitment.
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

/// Returns the target that opens whole messages with one key. The file key and the data are secret. The point of a
/// message is public. The target uses P-256 instead of X25519, because the check of an X25519 point depends on the
/// point.
fn message() -> Target {
    let key = PrivateKey::from_seed(Kem::P256, &[7; 32]).expect("a scalar");
    let public = key.public().clone();
    let sealed = move |data: &[u8]| seal(&public, data).expect("a recipient");
    let length = sealed(&[0; TAG]).len();
    Target::new("seal.message", length, move |input| open(&key, input).map(|data| data.len()))
        .class("zeros", {
            let sealed = sealed.clone();
            move |_, input| input.copy_from_slice(&sealed(&[0; TAG]))
        })
        .class("random", move |random, input| {
            let mut data = [0; TAG];
            random.fill(&mut data);
            input.copy_from_slice(&sealed(&data));
        })
        // The memory allocations of this target make its times vary so much that the lab needs minutes to compute a
        // bound.
        .untimed()
}

fn fill_same(random: &mut Random, input: &mut [u8]) {
    random.fill(&mut input[..TAG]);
    input.copy_within(..TAG, TAG);
}

#[cfg(test)]
mod tests;
