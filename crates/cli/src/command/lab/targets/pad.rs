//! The targets for padding with blocks of 16 bytes. The claims for each function are:
//!
//! | Target | Must not affect the time | May affect the time |
//! |---|---|---|
//! | `pad.pad`, `pad.pad_last_block`, `pad.pad_in_place` | the number of added bytes; the data | one full block |
//! | `pad.unpad_ct` | the number of added bytes and their validity; the data | the length of the input |
//! | `pad.unpad` | the data, and which byte of a padding is wrong | the padding's length, and whether it is valid |
//!
//! `pad.unpad` may take different times for different lengths of the padding and for an invalid padding. The lab
//! nevertheless compares different lengths and invalid paddings, because their times are in fact equal.
//!
//! Without AVX-512, `pad.pad` and `pad.pad_last_block` read at addresses inside the last block. These addresses depend
//! on the number of added bytes, as the documentation of `deadpan_pad` describes. On processors without AVX-512, the
//! lab compares traces only for equal numbers of added bytes. If the data are in the caches, the time does not depend
//! on the number of added bytes.

use std::hint::black_box;

use super::size::SIZES;
use deadpan_ct::cpu::{Level, level};
use deadpan_lab::harness::SizedTarget;
use deadpan_lab::{Random, Target};
use deadpan_pad::{Error, Padding, RandomError, Scheme};

const BLOCK: usize = 16;
/// The length of one full block and one padded block.
const PADDED: usize = 2 * BLOCK;
/// The length of an input: the padded blocks, then the number of bytes to add, then filler bytes that give all copies
/// of an input the same alignment.
const INPUT: usize = PADDED + BLOCK;

/// Random bytes from the lab's generator. The generator of `deadpan_pad` is not used, because it refills its buffer in
/// one of hundreds of calls, regardless of the input.
struct Noise(Random);

impl deadpan_pad::Random for Noise {
    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), RandomError> {
        self.0.fill(bytes);
        Ok(())
    }
}

pub(super) fn timing() -> Vec<Target> {
    Scheme::ALL
        .into_iter()
        .flat_map(|scheme| [pad(scheme), pad_last_block(scheme), pad_in_place(scheme), unpad_ct(scheme), unpad(scheme)])
        .collect()
}

fn padding(scheme: Scheme) -> Padding {
    Padding::new(scheme, BLOCK as u8).expect("a block size that exists")
}

fn noise() -> Noise {
    Noise(Random::new(1))
}

/// Returns the length of the data in an input for padding.
fn kept(input: &[u8]) -> usize {
    PADDED - usize::from(input[PADDED])
}

fn pad(scheme: Scheme) -> Target {
    let (padding, mut noise, mut output) = (padding(scheme), noise(), [0; PADDED]);
    let target = Target::new(format!("pad.pad.{scheme}"), INPUT, move |input| {
        black_box(padding.pad_into_with(&input[..kept(input)], &mut output, &mut noise)).is_ok()
    });
    with_counts(target, addresses_show())
}

fn pad_last_block(scheme: Scheme) -> Target {
    let (padding, mut noise, mut last) = (padding(scheme), noise(), [0; BLOCK]);
    let target = Target::new(format!("pad.pad_last_block.{scheme}"), INPUT, move |input| {
        black_box(padding.pad_last_block_with(&input[..kept(input)], &mut last, &mut noise)).is_ok()
    });
    with_counts(target, addresses_show())
}

fn pad_in_place(scheme: Scheme) -> Target {
    let (padding, mut noise) = (padding(scheme), noise());
    let target = Target::in_place(format!("pad.pad_in_place.{scheme}"), INPUT, move |input| {
        let kept = kept(input);
        black_box(padding.pad_in_place_with(input, kept, &mut noise)).is_ok()
    });
    with_counts(target, false)
}

fn unpad_ct(scheme: Scheme) -> Target {
    let padding = padding(scheme);
    with_paddings(
        Target::new(format!("pad.unpad_ct.{scheme}"), PADDED, move |input| padding.unpad_ct(input)),
        scheme,
        "",
    )
}

fn unpad(scheme: Scheme) -> Target {
    let padding = padding(scheme);
    let run = move |input: &[u8]| padding.unpad(input).map(<[u8]>::len);
    with_paddings(Target::new(format!("pad.unpad.{scheme}"), PADDED, run), scheme, "broken")
}

/// Returns whether the addresses that padding reads depend on the length of the data.
fn addresses_show() -> bool {
    level() < Level::Avx512
}

fn count_name(count: usize) -> String {
    format!("{count} byte{}", if count == 1 { "" } else { "s" })
}

/// Adds one class for each number of padding bytes from 1 to 16. Not every scheme accepts zeros at the end of the data,
/// so the data contain no zeros. If the number of added bytes is `public`, traces are compared only for equal numbers.
fn with_counts(target: Target, public: bool) -> Target {
    let fill = |count: usize| {
        move |random: &mut Random, input: &mut [u8]| {
            fill_data(random, input);
            input[PADDED] = count as u8;
        }
    };
    let outcome = |count: usize| if public { count_name(count) } else { String::new() };
    (1..=BLOCK)
        .fold(target, |target, count| target.class_with_outcome(count_name(count), outcome(count), fill(count)))
        .against_first()
}

/// Adds classes of blocks with 1 to 16 bytes of padding. The lab compares each class with the class for one byte of
/// padding. If the scheme can detect a wrong padding, the lab also compares blocks with a broken padding and valid
/// blocks with a padding of the same length. `outcome` is the public result for a broken padding.
fn with_paddings(target: Target, scheme: Scheme, outcome: &str) -> Target {
    let whole = |count: usize| move |random: &mut Random, input: &mut [u8]| fill_padded(scheme, count, random, input);
    let broken = |count: usize| {
        move |random: &mut Random, input: &mut [u8]| {
            fill_padded(scheme, count, random, input);
            damage(scheme, random, &mut input[PADDED - count..]);
        }
    };
    let target = (1..=BLOCK).fold(target, |target, count| target.class(count_name(count), whole(count)));
    let target = (2..=BLOCK).fold(target, |target, count| target.pair(&count_name(1), &count_name(count)));
    if matches!(scheme, Scheme::NotLast | Scheme::ArbitraryTail) {
        return target;
    }
    (1..=BLOCK).fold(target, |target, count| {
        let name = format!("{}, broken", count_name(count));
        target.class_with_outcome(&name, outcome, broken(count)).pair(&count_name(count), &name)
    })
}

fn fill_data(random: &mut Random, data: &mut [u8]) {
    random.fill(data);
    for byte in data {
        *byte = (*byte).max(1);
    }
}

fn fill_padded(scheme: Scheme, count: usize, random: &mut Random, input: &mut [u8]) {
    fill_data(random, input);
    let mut noise = Noise(Random::new(random.bits()));
    padding(scheme).pad_in_place_with(input, PADDED - count, &mut noise).expect("data that do not end in zero");
}

/// Changes one byte of `added`, a valid padding in `scheme`, so that the padding is no longer valid.
fn damage(scheme: Scheme, random: &mut Random, added: &mut [u8]) {
    let last = added.len() - 1;
    match scheme {
        Scheme::Zero => added[last] = 1 + random.below(255) as u8,
        // The marker byte 0x80 changes to another value that is not zero. If the new value were zero, an earlier byte
        // 0x80 in the data would become the marker.
        Scheme::Iso7816 => added[0] ^= 1 + random.below(127) as u8,
        Scheme::Pkcs7 | Scheme::AnsiX923 | Scheme::Rfc4303 if last > 0 => {
            let place = random.below(last as u64) as usize;
            added[place] ^= 1 + random.below(255) as u8;
        }
        // A padding length of 0, or of 17 or more, is never valid.
        _ => added[last] = (BLOCK as u8).wrapping_add(1 + random.below(256 - BLOCK as u64) as u8),
    }
}

/// Returns the targets for speed. Unpadding reads only the last block, so its speed is measured for short inputs only.
pub(super) fn speed() -> Vec<SizedTarget> {
    let pads = SIZES.into_iter().flat_map(|size| {
        let all = Scheme::ALL.into_iter().filter(move |scheme| *scheme == Scheme::Pkcs7 || size.0 == SIZES[0].0);
        all.map(move |scheme| pad_speed(scheme, size))
    });
    let unpads = SIZES.into_iter().take(2).map(|size| unpad_speed(Scheme::Pkcs7, size));
    pads.chain(unpads).collect()
}

fn pad_speed(scheme: Scheme, (bytes, size): (usize, &'static str)) -> SizedTarget {
    let (padding, mut output) = (padding(scheme), vec![0; bytes + BLOCK]);
    let run = move |input: &[u8]| black_box(padding.pad_into(input, &mut output)).is_ok();
    SizedTarget {
        target: Target::new(format!("pad.pad.{scheme}"), bytes, run).class("random", fill_data),
        bytes: bytes as u64,
        size: size.to_owned(),
    }
}

fn unpad_speed(scheme: Scheme, (bytes, size): (usize, &'static str)) -> SizedTarget {
    let padding = padding(scheme);
    let run = move |input: &[u8]| -> Result<usize, Error> { padding.unpad(input).map(<[u8]>::len) };
    let target = Target::new(format!("pad.unpad.{scheme}"), bytes, run).class("valid", move |random, input| {
        fill_data(random, input);
        let count = 1 + random.below(BLOCK as u64) as usize;
        padding.pad_in_place(input, bytes - count).expect("data that do not end in zero");
    });
    SizedTarget { target, bytes: bytes as u64, size: size.to_owned() }
}

#[cfg(test)]
mod tests;
