//! The functions that do not leak. Every tool measures them. Also the list of all cases.

use std::cell::{LazyCell, RefCell};
use std::hint::black_box;

use aes_gcm::aead::{AeadInOut, KeyInit};
use aes_gcm::{Aes256Gcm, Nonce};

use crate::leaks;
use deadpan_lab::Random;

#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    pub what: &'static str,
    /// Whether the time depends on the class of the input.
    pub leaks: bool,
    /// The number of bytes in an input.
    pub length: usize,
    pub run: fn(&[u8]) -> u64,
    /// For each class, the function that makes an input of this class.
    pub fill: [fn(&mut Random, &mut [u8]); 2],
}

/// The length of each value in the short comparisons, in bytes.
pub const SIDE: usize = 32;
/// The length of each value in the comparison by the standard library, in bytes.
pub const LONG: usize = 1024;

/// Returns all cases. The cases without a leak come first.
pub fn all() -> Vec<Case> {
    let nulls = [
        Case {
            name: "identical",
            what: "comparison of 32 bytes to the end, both classes have the same input",
            leaks: false,
            length: 2 * SIDE,
            run: to_the_end,
            fill: [|_, input| input.fill(7), |_, input| input.fill(7)],
        },
        Case {
            name: "compare",
            what: "comparison of 32 bytes to the end, equal against random",
            leaks: false,
            length: 2 * SIDE,
            run: to_the_end,
            fill: [equal, |random, input| random.fill(input)],
        },
        Case {
            name: "memcmp-same",
            what: "`memcmp` of 1024 bytes, both classes differ in byte 1000",
            leaks: false,
            length: 2 * LONG,
            run: memcmp,
            fill: [differing::<1000>, differing::<1000>],
        },
        Case {
            name: "aes-gcm",
            what: "AES-256-GCM of 64 bytes, zeros against random",
            leaks: false,
            length: 64,
            run: encrypt,
            fill: [|_, input| input.fill(0), |random, input| random.fill(input)],
        },
        Case {
            name: "bimodal",
            what: "a loop of 100 or 400 turns, by a coin that does not depend on the class",
            leaks: false,
            length: SIDE,
            run: bimodal,
            fill: [|_, input| input.fill(0), |random, input| random.fill(input)],
        },
    ];
    nulls.into_iter().chain(leaks::all()).collect()
}

/// Makes both halves equal.
pub fn equal(random: &mut Random, input: &mut [u8]) {
    let (left, right) = input.split_at_mut(input.len() / 2);
    random.fill(left);
    right.copy_from_slice(left);
}

/// Makes both halves equal except for the byte at `PLACE`.
pub fn differing<const PLACE: usize>(random: &mut Random, input: &mut [u8]) {
    equal(random, input);
    input[input.len() / 2 + PLACE] ^= 1;
}

fn to_the_end(input: &[u8]) -> u64 {
    let (left, right) = input.split_at(SIDE);
    black_box(left.iter().zip(right).fold(0, |all, (left, right)| all | (left ^ right))).into()
}

/// Compares with the standard library, which calls `memcmp`.
pub fn memcmp(input: &[u8]) -> u64 {
    input[..LONG].cmp(&input[LONG..]) as u64
}

fn encrypt(input: &[u8]) -> u64 {
    thread_local! {
        static CIPHER: LazyCell<Aes256Gcm> = LazyCell::new(|| Aes256Gcm::new(&[7; 32].into()));
    }
    let mut text = [0; 64];
    text.copy_from_slice(input);
    let nonce = Nonce::from([1; 12]);
    let tag = CIPHER.with(|cipher| cipher.encrypt_inout_detached(&nonce, &[], text.as_mut_slice().into()));
    black_box(&text);
    tag.map_or(0, |tag| tag[0].into())
}

fn bimodal(_: &[u8]) -> u64 {
    thread_local! {
        static COIN: RefCell<Random> = RefCell::new(Random::from_time());
    }
    let coin = COIN.with_borrow_mut(|random| random.bits() & 1);
    let turns = 100 + 300 * coin;
    (0..turns).fold(0, |sum, turn| black_box(sum + turn))
}
