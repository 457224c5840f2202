//! Targets that open valid and invalid chunks of age files.

use super::flaw;
use deadpan_lab::{Random, Target};
use deadpan_seal::age::ChunkCipher;

/// The number of bytes of data in a chunk: the size of one page.
const DATA: usize = 4096;
const TAG: usize = 16;
const SEALED: usize = DATA + TAG;

fn cipher() -> ChunkCipher {
    ChunkCipher::new(&[7; 32]).expect("a key")
}

fn opener(name: &str) -> Target {
    let (mut cipher, mut data) = (cipher(), vec![0; DATA]);
    Target::new(name, SEALED, move |input| cipher.open(0, true, input, &mut data).is_ok())
}

/// Returns a function that fills data with `fill` and seals the data.
fn sealed(mut fill: impl FnMut(&mut Random, &mut [u8]) + 'static) -> impl FnMut(&mut Random, &mut [u8]) + 'static {
    let (mut cipher, mut data) = (cipher(), vec![0; DATA]);
    move |random, input| {
        fill(random, &mut data);
        cipher.seal(0, true, &data, input).expect("a chunk");
    }
}

/// Returns a target that opens chunks with different data.
pub(super) fn good() -> Target {
    opener("seal.age.open.good")
        .class("zeros", sealed(|_, data| data.fill(0)))
        .class("ones", sealed(|_, data| data.fill(0xff)))
        .class("random", sealed(|random, data| random.fill(data)))
}

/// Returns a target that opens chunks with a wrong byte at a position where a check could end early.
pub(super) fn bad() -> Target {
    let places = [
        ("first byte of the tag wrong", DATA),
        ("last byte of the tag wrong", SEALED - 1),
        ("first byte of the data wrong", 0),
        ("last byte of the data wrong", DATA - 1),
    ];
    places.into_iter().fold(opener("seal.age.open.bad"), |target, (name, place)| {
        let mut sealed = sealed(|random, data| random.fill(data));
        target.class(name, move |random, input| {
            sealed(random, input);
            input[place] ^= flaw(random);
        })
    })
}
