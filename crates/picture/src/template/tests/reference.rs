//! An implementation of the format that is easy to read: it works on one sample at a time.

use super::super::signs::Signs;
use super::super::{Distortion, Hiding, Order, Seed};
use crate::Label;

/// Embeds. The doors (sealed labels) are sealed with the secret of the set first, and then with the secrets of
/// `hiding`.
pub(super) fn embed(
    samples: &mut [u8],
    label: &Label,
    part: &[u8],
    hiding: &Hiding,
    seed: &Seed,
    signs: &[u8; 16],
) -> Distortion {
    let signs = Signs::new(signs);
    let random: Vec<u8> = (0..samples.len().div_ceil(64) as u64).flat_map(|line| signs.in_line(line)).collect();
    let before = samples.to_vec();
    let mut change = |at: usize, bits: usize, value: u8| {
        let fits = |number: &i32| (0..256).contains(number) && number % (1 << bits) == i32::from(value);
        let distance = |number: &i32| (number - i32::from(samples[at])).abs();
        let least = (0..256).filter(fits).min_by_key(distance).expect("a number");
        let mut nearest = (0..256).filter(|number| fits(number) && distance(number) == distance(&least));
        let down = nearest.next().expect("a number");
        let chosen = if random[at / 8] >> (at % 8) & 1 == 1 { down } else { nearest.next().unwrap_or(down) };
        samples[at] = chosen as u8;
    };

    let mut contents = label.to_bytes().to_vec();
    contents.extend([hiding.bits.get(), hiding.doors.len() as u8 + 1, u8::from(hiding.order == Order::InOrder)]);
    contents.extend([0; 5]);
    contents.extend(hiding.set_key);
    let mut front = seed.0.to_vec();
    let set = blake3::derive_key("deadpan picture set 1", &hiding.set_key);
    for secret in [set].into_iter().chain(hiding.doors.iter().map(|secret| secret.bytes)) {
        let message = [&b"deadpan picture door"[..], &seed.0].concat();
        let mut stream = [0; 128];
        blake3::Hasher::new_keyed(&secret).update(&message).finalize_xof().fill(&mut stream);
        let sealed: Vec<u8> = contents.iter().zip(&stream).map(|(byte, mask)| byte ^ mask).collect();
        let code = blake3::keyed_hash(stream[96..].try_into().expect("32 bytes"), &sealed);
        front.extend(sealed);
        front.extend(&code.as_bytes()[..8]);
    }
    for at in 0..front.len() * 8 {
        change(at, 1, front[at / 8] >> (at % 8) & 1);
    }

    let bits = usize::from(hiding.bits.get());
    let places = places(before.len(), part.len(), hiding, seed);
    let masked = mask(part, hiding, seed);
    for (value, &place) in places.iter().enumerate() {
        let bit = |at: usize| masked.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1);
        change(place, bits, (0..bits).map(|at| bit(value * bits + at) << at).sum());
    }
    let differences = samples.iter().zip(&before).map(|(new, old)| u64::from(new.abs_diff(*old)));
    let squares = differences.clone().map(|difference| difference * difference).sum();
    let changed = differences.filter(|&difference| difference > 0).count() as u64;
    Distortion { squares, changed, samples: before.len() as u64 }
}

/// Extracts.
pub(super) fn extract(samples: &[u8], length: usize, hiding: &Hiding) -> Vec<u8> {
    let seed = Seed(std::array::from_fn(|byte| (0..8).map(|bit| (samples[byte * 8 + bit] & 1) << bit).sum()));
    let bits = usize::from(hiding.bits.get());
    let places = places(samples.len(), length, hiding, &seed);
    let mut masked = vec![0; length];
    for at in 0..length * 8 {
        masked[at / 8] |= (samples[places[at / bits]] >> (at % bits) & 1) << (at % 8);
    }
    mask(&masked, hiding, &seed)
}

fn mask(part: &[u8], hiding: &Hiding, seed: &Seed) -> Vec<u8> {
    let mut mask = stream("deadpan picture mask 1", hiding, seed);
    part.iter().map(|byte| byte ^ next(&mut mask)).collect()
}

/// Returns the sample of each value.
fn places(samples: usize, length: usize, hiding: &Hiding, seed: &Seed) -> Vec<usize> {
    let reserved = 3 + 13 * (hiding.doors.len() + 1);
    let (lines, values) = (samples / 64 - reserved, (8 * length).div_ceil(usize::from(hiding.bits.get())));
    if hiding.order == Order::InOrder {
        return (0..values).map(|value| reserved * 64 + value).collect();
    }
    let mut stream = stream("deadpan picture places 1", hiding, seed);
    let mut table = vec![];
    for _ in 0..256 {
        let random: Vec<usize> =
            (0..64).map(|_| usize::from(u16::from_be_bytes([next(&mut stream), next(&mut stream)]))).collect();
        let mut permutation: Vec<usize> = (0..64).collect();
        for j in (1..64).rev() {
            permutation.swap(j, random[j] * (j + 1) / 65536);
        }
        table.push(permutation);
    }
    let mut places = vec![];
    for line in 0..lines {
        let (row, add) = (usize::from(next(&mut stream)), usize::from(next(&mut stream)) % 64);
        let count = (line + 1) * values / lines - line * values / lines;
        places.extend((0..count).map(|j| (reserved + line) * 64 + (table[row][j] ^ add)));
    }
    places
}

fn stream(context: &str, hiding: &Hiding, seed: &Seed) -> blake3::OutputReader {
    blake3::Hasher::new_derive_key(context).update(&hiding.set_key).update(&seed.0).finalize_xof()
}

fn next(stream: &mut blake3::OutputReader) -> u8 {
    let mut byte = [0];
    stream.fill(&mut byte);
    byte[0]
}
