//! Tests `deadpan-pad`: every scheme, with blocks of many sizes, and with right and wrong padding.

use core::hint::black_box;

use crate::secret::{bytes, hide, hide_one, lengths, show, show_any};
use crate::tally::Tally;
use deadpan_ct::declassify;
use deadpan_ct::imp::valgrind;
use deadpan_pad::{Error, Padding, Random, RandomError, Scheme, padme};

// The reference implementation from the tests of `deadpan-pad`, which works byte by byte.
#[path = "../../../crates/pad/tests/it/reference/mod.rs"]
mod reference;

const BLOCKS: [u8; 14] = [1, 2, 7, 8, 9, 15, 16, 17, 32, 64, 65, 128, 129, 255];

/// A generator whose bytes are secret.
struct Secret(u64);

impl Random for Secret {
    fn fill(&mut self, target: &mut [u8]) -> Result<(), RandomError> {
        self.0 += 1;
        target.copy_from_slice(&bytes(target.len(), self.0));
        valgrind::poison(target);
        Ok(())
    }
}

pub(crate) fn run(tally: &mut Tally) {
    for scheme in Scheme::ALL {
        for block in BLOCKS {
            let Ok(padding) = Padding::new(scheme, block) else {
                return tally.case(format_args!("{scheme} {block}"), || false);
            };
            for length in lengths() {
                let mut data = bytes(length, 50);
                round_trip(tally, padding, &data);
                if let Some(last) = data.last_mut() {
                    *last = 0;
                    round_trip(tally, padding, &data);
                }
            }
            for blocks in 1..=2 {
                wrong(tally, padding, blocks);
            }
        }
    }
}

/// Pads with every padding function, and unpads the result.
fn round_trip(tally: &mut Tally, padding: Padding, data: &[u8]) {
    let (length, block) = (data.len(), usize::from(padding.block()));
    let full = length / block * block;
    let whole = full + block;
    let name = format!("{padding:?} {length}");
    let refused = padding.scheme() == Scheme::Zero && data.last() == Some(&0);
    let is_right = |result: Result<Vec<u8>, Error>| match result {
        Ok(padded) => !refused && reference::is_padded(padding.scheme(), block, data, &padded),
        Err(error) => refused && error == Error::ZeroTail,
    };
    let secret = hide(data);
    tally.case(format_args!("pad_into {name}"), || {
        is_right(padding.pad_into(&secret, &mut vec![0; whole + 1]).map(|padded| show(padded)))
    });
    tally.case(format_args!("pad_into_with {name}"), || {
        is_right(padding.pad_into_with(&secret, &mut hide(&vec![7; whole]), &mut Secret(1)).map(|padded| show(padded)))
    });
    let together = |parts: (&[u8], &mut [u8])| [show(parts.0), show(parts.1)].concat();
    tally.case(format_args!("pad_last_block {name}"), || {
        is_right(padding.pad_last_block(&secret, &mut vec![0; block]).map(together))
    });
    tally.case(format_args!("pad_last_block_with {name}"), || {
        is_right(padding.pad_last_block_with(&secret, &mut vec![0; block + 1], &mut Secret(2)).map(together))
    });
    // The tests of in-place padding also mark the length as secret.
    let buffer = || hide(&[data, &vec![9; whole + 1 - length]].concat());
    tally.case(format_args!("pad_in_place {name}"), || {
        is_right(padding.pad_in_place(&mut buffer(), hide_one(length)).map(|padded| show(padded)))
    });
    tally.case(format_args!("pad_in_place_with {name}"), || {
        is_right(padding.pad_in_place_with(&mut buffer(), hide_one(length), &mut Secret(3)).map(|padded| show(padded)))
    });
    tally.case(format_args!("pad_in_place {name}, no room"), || {
        padding.pad_in_place(&mut hide(&vec![7; whole - 1]), hide_one(length)) == Err(Error::TooSmall { needed: whole })
    });
    if !refused && let Ok(padded) = padding.pad_into(data, &mut vec![0; whole]) {
        removing(tally, padding, padded);
    }
}

/// Unpads with every unpadding function, and compares the results with the reference implementation.
fn removing(tally: &mut Tally, padding: Padding, padded: &[u8]) {
    let name = format!("{padding:?} {padded:02x?}");
    let block = usize::from(padding.block());
    let length = reference::unpad(padding.scheme(), block, padded);
    let data = length.map(|length| padded[..length].to_vec());
    let secret = hide(padded);
    tally.case(format_args!("unpad_ct {name}"), || {
        let (found, valid) = padding.unpad_ct(&secret);
        (declassify(found), valid.declassify()) == (length.unwrap_or(0), length.is_some())
    });
    tally.case(format_args!("unpad {name}"), || padding.unpad(&secret).ok().map(show) == data);
    tally.case(format_args!("unpad_mut {name}"), || {
        padding.unpad_mut(&mut secret.clone()).ok().map(|found| show(found)) == data
    });
}

/// Tests blocks that are not the result of padding: random bytes, one repeated byte, and valid padding with one changed
/// byte.
fn wrong(tally: &mut Tally, padding: Padding, blocks: usize) {
    let block = usize::from(padding.block());
    let size = blocks * block;
    for seed in 60..63 {
        removing(tally, padding, &bytes(size, seed));
    }
    for byte in [0, 1, 2, 3, 16, 0x80, 0xff, padding.block(), padding.block().wrapping_add(1)] {
        removing(tally, padding, &vec![byte; size]);
    }
    let data = vec![0x55; size - block / 2 - 1];
    if let Ok(padded) = padding.pad_into(&data, &mut vec![0; size]) {
        for place in [1, 2, block / 2, block / 2 + 1, block] {
            let mut changed = padded.to_vec();
            changed[size - place.clamp(1, block)] ^= 0x41;
            removing(tally, padding, &changed);
        }
    }
    let mut secret = hide(&bytes(size + 1, 64));
    let part = if block == 1 { 0 } else { size + 1 };
    let name = format!("{padding:?} of {part} bytes");
    tally.case(format_args!("unpad_ct {name}"), || !padding.unpad_ct(&secret[..part]).1.declassify());
    tally.case(format_args!("unpad {name}"), || padding.unpad(&secret[..part]) == Err(Error::NotBlocks));
    tally.case(format_args!("unpad_mut {name}"), || padding.unpad_mut(&mut secret[..part]) == Err(Error::NotBlocks));
}

/// Tests the two functions with a jump that depends on a secret: whether the result is `None`. Both functions are
/// `const`, and a `const` function cannot declassify a value. The test therefore expects one report, for the jump that
/// the documentation of the functions mentions.
pub(crate) fn run_disclosing(tally: &mut Tally) {
    // `black_box` prevents inlining of the functions. If a function were inlined, Valgrind would report the caller's
    // jump on `None` as a jump of the crate.
    let padme: fn(u64) -> Option<u64> = black_box(padme);
    for length in (0..300).chain([1_000_000, 1 << 40, (1 << 62) - 1, 1 << 63, u64::MAX - (1 << 57), u64::MAX]) {
        let expected = plain_padme(length);
        tally.disclosing(format_args!("padme {length}"), || show_any(padme(hide_one(length))) == expected);
    }
    let padded_len: fn(&Padding, usize) -> Option<usize> = black_box(Padding::padded_len);
    for block in BLOCKS {
        let Ok(padding) = Padding::new(Scheme::Pkcs7, block) else { return };
        for length in (0..600).chain([usize::MAX >> 1, usize::MAX]) {
            let expected = (length < 600).then(|| (length / usize::from(block) + 1) * usize::from(block));
            tally.disclosing(format_args!("padded_len {block} {length}"), || {
                show_any(padded_len(&padding, hide_one(length))) == expected
            });
        }
    }
}

/// Computes the Padmé length as the paper does: E is the exponent of the length, S is the number of bits of E, and the
/// last E - S bits of the result are zero.
fn plain_padme(length: u64) -> Option<u64> {
    let exponent = length.checked_ilog2().unwrap_or(0);
    let bits = exponent.checked_ilog2().map_or(0, |log| log + 1);
    let unit = 1_u128 << (exponent - bits);
    u64::try_from(u128::from(length).div_ceil(unit) * unit).ok()
}
