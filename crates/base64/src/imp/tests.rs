//! Compares every back end with the reference. The same functions test all back ends.

use std::vec::Vec;
use std::{eprintln, vec};

use super::{Flaws, bytes_for, reference, symbols_for};
use crate::Alphabet;
use deadpan_ct::cpu::{Level, level};

type Encode = unsafe fn(Alphabet, *const u8, usize, *mut u8, usize);
type Decode = unsafe fn(Alphabet, *const u8, usize, *mut u8) -> Flaws;

struct Backend {
    level: Level,
    encode: Encode,
    decode: Decode,
}

/// Returns the back ends that this CPU has, and reports the other back ends as skipped.
#[allow(clippy::print_stderr)]
fn backends() -> Vec<Backend> {
    let all = [
        Backend { level: Level::Portable, encode: super::portable::encode, decode: super::portable::decode },
        #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
        Backend { level: Level::Neon, encode: super::neon::encode, decode: super::neon::decode },
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        Backend { level: Level::Ssse3, encode: super::ssse3::encode, decode: super::ssse3::decode },
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        Backend { level: Level::Avx2, encode: super::avx2::encode, decode: super::avx2::decode },
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        Backend { level: Level::Avx512, encode: super::avx512::encode, decode: super::avx512::decode },
    ];
    let (here, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(|backend| backend.level <= level());
    for backend in missing {
        eprintln!("skipped: {} is not on this CPU or switched off", backend.level.name());
    }
    here
}

const ALPHABETS: [Alphabet; 2] = [Alphabet::Standard, Alphabet::UrlSafe];
/// Three kinds of lengths: lengths at which back ends change between full and incomplete vectors, lengths near 1024
/// bytes (from which accesses are aligned), and a few long lengths.
const LENGTHS: [(usize, usize); 3] = [(0, 300), (1000, 1100), (4090, 4100)];

fn lengths() -> impl Iterator<Item = usize> {
    LENGTHS.into_iter().flat_map(|(from, to)| from..=to)
}

/// Returns bytes without a pattern. Every run gets the same bytes.
fn noise(length: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(step).collect()
}

impl Backend {
    /// Runs the back end on buffers at given distances from the beginning of a cache line, and checks that the bytes
    /// around the output are unchanged.
    fn encode_at(&self, alphabet: Alphabet, input: &[u8], from: usize, to: usize) -> Vec<u8> {
        let mut source = vec![0xee; input.len() + 192];
        let from = source.as_ptr().align_offset(64) + from;
        source[from..from + input.len()].copy_from_slice(input);
        // Encodes with padding, and without.
        let [bare, padded] = [symbols_for(input.len()), input.len().div_ceil(3) * 4].map(|total| {
            let mut target = vec![0xaa; total + 192];
            let to = target.as_ptr().align_offset(64) + to;
            // SAFETY: both ranges lie inside their vectors, and `backends` returns only back ends that this CPU has.
            unsafe { (self.encode)(alphabet, source[from..].as_ptr(), input.len(), target[to..].as_mut_ptr(), total) };
            assert!(target[..to].iter().chain(&target[to + total..]).all(|byte| *byte == 0xaa), "wrote outside");
            target[to..to + total].to_vec()
        });
        assert!(padded.starts_with(&bare) && padded[bare.len()..].iter().all(|byte| *byte == b'='), "padding");
        bare
    }

    fn decode_at(&self, alphabet: Alphabet, input: &[u8], from: usize, to: usize) -> (Vec<u8>, Flaws) {
        let mut source = vec![0xee; input.len() + 192];
        let from = source.as_ptr().align_offset(64) + from;
        source[from..from + input.len()].copy_from_slice(input);
        let length = bytes_for(input.len());
        let mut target = vec![0xaa; length + 192];
        let to = target.as_ptr().align_offset(64) + to;
        // SAFETY: as in `encode_at`.
        let flaws = unsafe { (self.decode)(alphabet, source[from..].as_ptr(), input.len(), target[to..].as_mut_ptr()) };
        assert!(target[..to].iter().chain(&target[to + length..]).all(|byte| *byte == 0xaa), "wrote outside");
        (target[to..to + length].to_vec(), flaws)
    }

    fn check(&self, alphabet: Alphabet, symbols: &[u8], from: usize, to: usize) {
        let (bytes, flaws) = self.decode_at(alphabet, symbols, from, to);
        let name = self.level.name();
        match reference::decode(alphabet, symbols) {
            Some((expected, trailing)) => {
                assert_eq!(flaws.symbols, 0, "{name}: flaw seen in {symbols:?}");
                assert_eq!(flaws.trailing != 0, trailing, "{name}: bits behind {symbols:?}");
                assert!(bytes == expected, "{name}: wrong bytes for {symbols:?}");
            }
            None => assert_ne!(flaws.symbols, 0, "{name}: flaw missed in {symbols:?}"),
        }
    }
}

#[test]
fn agrees_at_every_length_and_alignment() {
    for backend in backends() {
        for (length, alphabet) in lengths().flat_map(|length| ALPHABETS.map(|alphabet| (length, alphabet))) {
            let input = noise(length);
            let symbols = reference::encode(alphabet, &input);
            for (from, to) in [(0, 0), (length % 64, length * 7 % 64), (1, 63), (16, 16)] {
                let output = backend.encode_at(alphabet, &input, from, to);
                assert!(output == symbols, "{} encodes {length} bytes at {from} to {to}", backend.level.name());
                backend.check(alphabet, &symbols, from, to);
            }
        }
    }
}

#[test]
fn sees_every_wrong_byte_in_every_place() {
    for backend in backends() {
        for alphabet in ALPHABETS {
            for length in [2, 3, 4, 22, 43, 64, 131, 271] {
                let symbols = reference::encode(alphabet, &noise(length))[..length].to_vec();
                for (place, wrong) in (0..length).flat_map(|place| (0..=255).map(move |wrong| (place, wrong))) {
                    let mut symbols = symbols.clone();
                    symbols[place] = wrong;
                    backend.check(alphabet, &symbols, 0, 0);
                }
            }
        }
    }
}

#[test]
fn converts_in_place() {
    for backend in backends() {
        for length in lengths() {
            let input = noise(length);
            let symbols = reference::encode(Alphabet::Standard, &input);
            let mut buffer = vec![0; symbols.len() - length];
            buffer.extend_from_slice(&input);
            let (start, end) = (buffer.as_mut_ptr(), symbols.len() - length);
            // SAFETY: the input lies at the end of the buffer, and the output fills the whole buffer.
            unsafe { (backend.encode)(Alphabet::Standard, start.add(end), length, start, symbols.len()) };
            assert!(buffer == symbols, "{} encodes {length} bytes in place", backend.level.name());
            // SAFETY: input and output both begin at the start of the buffer.
            let flaws = unsafe { (backend.decode)(Alphabet::Standard, start, symbols.len(), start) };
            assert_eq!((flaws.symbols, flaws.trailing), (0, 0));
            assert!(buffer[..length] == input, "{} decodes {length} bytes in place", backend.level.name());
        }
    }
}

#[test]
fn agrees_past_the_last_cache() {
    let length = (24 << 20) + 4321;
    let input = noise(length);
    for backend in backends() {
        let symbols = backend.encode_at(Alphabet::Standard, &input, 3, 8);
        let places = [0, 1, 62, 63, 64, 4096, length / 6 * 4, symbols.len() - 100];
        for place in places {
            let group = place / 4;
            let expected = reference::encode(Alphabet::Standard, &input[group * 3..group * 3 + 60]);
            assert_eq!(symbols[group * 4..group * 4 + 80], expected, "{} at {place}", backend.level.name());
        }
        let (bytes, flaws) = backend.decode_at(Alphabet::Standard, &symbols, 5, 9);
        assert_eq!((flaws.symbols, flaws.trailing), (0, 0));
        assert!(bytes == input, "{} decodes", backend.level.name());
        for place in places {
            let mut symbols = symbols.clone();
            symbols[place] = b'!';
            assert_ne!(backend.decode_at(Alphabet::Standard, &symbols, 0, 0).1.symbols, 0, "flaw missed at {place}");
        }
    }
}
