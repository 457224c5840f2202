//! Tests the output of the generator, the times of new seeds, and the output in the child of a fork.

use std::collections::HashSet;
use std::io::Read;

use super::generator::{BETWEEN, FIRST, Generator, PIECE};
use crate::primitive::entropy::Entropy;

fn fixed(seed: u8) -> Generator {
    Generator::with_entropy(Entropy::Fixed(seed)).expect("a generator")
}

fn take(generator: &mut Generator, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    generator.fill(&mut bytes).expect("random bytes");
    bytes
}

/// Tests that no sequence of eight bytes occurs twice. With real seeds, the probability that two of a million sequences
/// are equal is 2^-25. This test uses fixed seeds.
#[test]
fn nothing_comes_twice_however_requests_are_cut() {
    let mut seen = HashSet::new();
    for (seed, lengths) in [
        (1, vec![8; 2000]),
        (2, vec![FIRST - 40, FIRST - 32, FIRST - 24, FIRST, FIRST + 8]),
        (3, vec![PIECE - 8, 16, PIECE, 8, PIECE + 8]),
        (4, vec![24, 480, 488, 32, 4096, 65536, 8]),
    ] {
        let mut generator = fixed(seed);
        for length in lengths {
            for word in take(&mut generator, length).as_chunks::<8>().0 {
                assert!(seen.insert(*word), "seed {seed}, a request of {length}");
            }
        }
    }
}

#[test]
fn every_length_is_filled_to_its_end() {
    for around in [0, 1, 32, FIRST - 32, FIRST, PIECE] {
        for length in [around.max(1) - 1, around, around + 1] {
            let mut generator = fixed(5);
            let mut bytes = vec![0; length + 16];
            generator.fill(&mut bytes[..length]).expect("random bytes");
            assert_eq!(bytes[length..], [0; 16], "behind {length}");
            let tail = &bytes[length.saturating_sub(16)..length];
            assert!(length < 16 || tail.iter().any(|byte| *byte != 0), "the end of {length}");
        }
    }
}

#[test]
fn generators_differ_and_the_same_seed_gives_the_same() {
    let mut all: HashSet<Vec<u8>> = (0..50).map(|_| take(&mut Generator::new().expect("a generator"), 32)).collect();
    assert_eq!(all.len(), 50);
    assert!(all.insert(take(&mut fixed(1), 32)) && all.insert(take(&mut fixed(2), 32)));
    assert_eq!(take(&mut fixed(1), PIECE + 99), take(&mut fixed(1), PIECE + 99));
}

/// The keystream begins with the next key; the generator never returns this key. The output is the rest of the
/// keystream.
#[test]
fn each_request_has_a_key_of_its_own() {
    let (mut whole, mut cut) = (fixed(1), fixed(1));
    let one = take(&mut whole, 64);
    assert_eq!(take(&mut cut, 32), one[..32], "the first request begins alike");
    assert_ne!(take(&mut cut, 32), one[32..], "the second does not go on under the old key");
}

#[test]
fn a_seed_is_taken_when_it_is_due() {
    let mut generator = fixed(1);
    assert_eq!(generator.seeds(), 1);
    let mut bytes = vec![0; PIECE];
    for _ in 0..BETWEEN / PIECE as u64 {
        generator.fill(&mut bytes).expect("random bytes");
    }
    assert_eq!(generator.seeds(), 1, "all that one seed is good for");
    generator.fill(&mut bytes[..1]).expect("random bytes");
    assert_eq!(generator.seeds(), 2, "one byte more");
    generator.reseed().expect("a seed");
    assert_eq!(generator.seeds(), 3);

    let (mut with, mut without) = (fixed(1), fixed(1));
    with.reseed().expect("a seed");
    assert_ne!(take(&mut with, 32), take(&mut without, 32), "a seed changes what comes");
}

/// The new key depends on the old key. So an attacker who knows one seed also needs the earlier seeds to compute the
/// output.
#[test]
fn a_known_seed_does_not_make_the_state_known() {
    let (mut one, mut other) = (fixed(1), fixed(1));
    take(&mut one, 1);
    one.reseed().expect("a seed");
    other.reseed().expect("a seed");
    assert_ne!(take(&mut one, 32), take(&mut other, 32));
}

#[test]
#[cfg(target_os = "linux")]
fn a_child_does_not_repeat_its_parent() {
    use crate::primitive::imp::transient::in_child;
    let mut generator = Generator::new().expect("a generator");
    take(&mut generator, 100);
    let answer = |generator: &mut Generator| -> [u8; 64] { take(generator, 64).try_into().expect("64 bytes") };
    let children = [in_child(|| answer(&mut generator)), in_child(|| answer(&mut generator))];
    let parent = answer(&mut generator);
    assert!(children[0] != parent && children[1] != parent && children[0] != children[1]);
    // The seed source in this test gives the same bytes to every process. So the outputs of both processes differ only
    // because the child finds an empty page and takes a second seed.
    let mut generator = fixed(1);
    assert_eq!(
        in_child(|| {
            take(&mut generator, 1);
            [generator.seeds() as u8]
        }),
        [2]
    );
    assert_eq!(generator.seeds(), 1);
}

#[test]
fn it_reads_without_an_end_and_shows_nothing() {
    let mut bytes = Vec::new();
    Generator::new().expect("a generator").take(100_000).read_to_end(&mut bytes).expect("random bytes");
    assert_eq!(bytes.len(), 100_000);
    assert_eq!(format!("{:?}", fixed(1)), "Generator(..)");
}

#[test]
fn short_and_long_requests_are_filled() {
    for length in [0, 1, 32, 4095, 4096, 4097, 100_000] {
        let (mut one, mut other) = (vec![0; length], vec![0; length]);
        super::fill(&mut one).expect("random bytes");
        super::fill(&mut other).expect("random bytes");
        assert!(length < 16 || one != other, "{length}");
    }
}

/// Runs classical statistical tests over 8 MiB from a fixed seed. The tests find errors in the code around AES, but not
/// in AES itself. Each bound is seven and a half standard deviations from the mean. The probability that a good
/// generator exceeds a bound is below 2^-40.
#[test]
fn bytes_look_random() {
    let bytes = take(&mut fixed(42), 8 << 20);
    let bits = bytes.len() as f64 * 8.0;
    let far = |name: &str, deviations: f64| assert!(deviations.abs() < 7.5, "{name}: {deviations} standard deviations");

    let ones: u32 = bytes.iter().map(|byte| byte.count_ones()).sum();
    far("monobit", (f64::from(ones) - bits / 2.0) / (bits / 4.0).sqrt());

    let changes = |word: &[u8; 8]| {
        let word = u64::from_le_bytes(*word);
        ((word ^ word >> 1) & (u64::MAX >> 1)).count_ones()
    };
    let words = bytes.as_chunks::<8>().0;
    let runs: u32 = words.iter().map(changes).sum();
    let places = words.len() as f64 * 63.0;
    far("runs", (f64::from(runs) - places / 2.0) / (places / 4.0).sqrt());

    let mut counts = [0_u32; 256];
    bytes.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let expected = bytes.len() as f64 / 256.0;
    let chi: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    // Wilson and Hilferty's cube root makes the distribution of the value nearly normal, even far from the mean.
    let spread = 2.0 / (9.0 * 255.0);
    far("chi-square of bytes", ((chi / 255.0).cbrt() - (1.0 - spread)) / spread.sqrt());

    for lag in [1, 2, 16, FIRST - 32, FIRST] {
        let sum: f64 = bytes
            .iter()
            .zip(&bytes[lag..])
            .map(|(one, other)| (f64::from(*one) - 127.5) * (f64::from(*other) - 127.5))
            .sum();
        let variance = (256.0_f64.powi(2) - 1.0) / 12.0;
        far(&format!("correlation at {lag}"), sum / variance / ((bytes.len() - lag) as f64).sqrt());
    }
}
