//! Compares every back end with the reference implementation in `tests/`, for all schemes, all block sizes and all
//! numbers of data bytes.

#[path = "../../tests/it/reference/mod.rs"]
mod reference;

use std::vec::Vec;

use super::{NO_NOISE, Noise, Row, portable, row::Value};
use crate::Scheme;
use deadpan_ct::Choice;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable)))]
use deadpan_ct::cpu::{Level, level};

struct BackEnd {
    pad: fn(&Row, Value, &[u8], &mut [u8]),
    pad_in_place: fn(&Row, Value, &mut [u8], usize, &Noise),
    unpad: fn(&Row, &[u8]) -> (usize, Choice),
}

const PORTABLE: BackEnd = BackEnd { pad: portable::pad, pad_in_place: portable::pad_in_place, unpad: portable::unpad };

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
const SSE2: BackEnd = BackEnd {
    // SAFETY: `each` returns this back end only if `level` reports that the CPU supports it.
    pad: |row, value, data, block| unsafe { super::sse2::pad(row, value, data, block) },
    // SAFETY: `each` returns this back end only if `level` reports that the CPU supports it.
    pad_in_place: |row, value, block, kept, noise| unsafe { super::sse2::pad_in_place(row, value, block, kept, noise) },
    // SAFETY: `each` returns this back end only if `level` reports that the CPU supports it.
    unpad: |row, block| unsafe { super::sse2::unpad(row, block) },
};

#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
const AVX512: BackEnd = BackEnd {
    // SAFETY: `each` returns this back end only if `level` reports that the CPU supports it.
    pad: |row, value, data, block| unsafe { super::avx512::pad(row, value, data, block) },
    // SAFETY: `each` returns this back end only if `level` reports that the CPU supports it.
    pad_in_place: |row, value, block, kept, noise| unsafe {
        super::avx512::pad_in_place(row, value, block, kept, noise)
    },
    // SAFETY: `each` returns this back end only if `level` reports that the CPU supports it.
    unpad: |row, block| unsafe { super::avx512::unpad(row, block) },
};

#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
const NEON: BackEnd = BackEnd {
    // SAFETY: every AArch64 CPU has NEON.
    pad: |row, value, data, block| unsafe { super::neon::pad(row, value, data, block) },
    // SAFETY: every AArch64 CPU has NEON.
    pad_in_place: |row, value, block, kept, noise| unsafe { super::neon::pad_in_place(row, value, block, kept, noise) },
    // SAFETY: every AArch64 CPU has NEON.
    unpad: |row, block| unsafe { super::neon::unpad(row, block) },
};

#[allow(clippy::print_stdout)]
fn each(test: impl Fn(&BackEnd)) {
    test(&PORTABLE);
    #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable)))]
    for (needed, back_end) in [
        #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
        (Level::Neon, NEON),
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        (Level::Sse2, SSE2),
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        (Level::Avx512, AVX512),
    ] {
        if level() >= needed {
            test(&back_end);
        } else {
            std::println!("{}: skipped", needed.name());
        }
    }
}

/// A generator of bytes that look random, for tests. The bytes are the same in each run.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u8 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 56) as u8
    }
}

fn data(pattern: usize, length: usize, stream: &mut Stream) -> Vec<u8> {
    match pattern {
        0 => (0..length).map(|_| stream.next()).collect(),
        1 => (0..length).map(|_| [0, 1, 2, 0x80][usize::from(stream.next() % 4)]).collect(),
        _ => std::vec![stream.next() % 3; length],
    }
}

/// The byte that fills the memory around a buffer.
const GUARD: u8 = 0x5c;

fn pads(back_end: &BackEnd, scheme: Scheme, data: &[u8], size: u8, stream: &mut Stream) {
    let row = Row::for_scheme(scheme, size);
    let value = match scheme {
        Scheme::ArbitraryTail => Value { data: stream.next().max(1), empty: stream.next() },
        _ => row.value,
    };
    let block = usize::from(size);
    let noise: Noise = core::array::from_fn(|_| stream.next());
    let mut room = [GUARD; 300];
    room[20..20 + block].copy_from_slice(&noise[..block]);
    (back_end.pad)(&row, value, data, &mut room[20..20 + block]);
    let padded = &room[20..20 + block];
    assert!(reference::is_padded(scheme, block, data, padded), "{scheme} {size}: {data:02x?} became {padded:02x?}");
    assert!(room[..20].iter().chain(&room[20 + block..]).all(|&byte| byte == GUARD), "{scheme} {size}: guard");
    if scheme == Scheme::Iso10126 {
        assert_eq!(padded[data.len()..block - 1], noise[data.len()..block - 1], "{size}: not the noise");
    }
    let mut place = [GUARD; 300];
    place[20..20 + data.len()].copy_from_slice(data);
    (back_end.pad_in_place)(
        &row,
        value,
        &mut place[20..20 + block],
        data.len(),
        if row.noisy == 0 { &NO_NOISE } else { &noise },
    );
    assert_eq!(place[..], room[..], "{scheme} {size}: in place");
    unpads(back_end, scheme, &room[20..20 + block]);
    let mut wrong = room;
    let changed = 20 + usize::from(stream.next()) % block;
    wrong[changed] = if stream.next() > 127 { stream.next() % 20 } else { wrong[changed] ^ (1 << (stream.next() % 8)) };
    unpads(back_end, scheme, &wrong[20..20 + block]);
}

fn unpads(back_end: &BackEnd, scheme: Scheme, text: &[u8]) {
    let row = Row::for_scheme(scheme, text.len() as u8);
    let (count, valid) = (back_end.unpad)(&row, text);
    let found = valid.declassify().then(|| text.len() - count);
    assert_eq!(found, reference::unpad(scheme, text.len(), text), "{scheme}: {text:02x?}");
}

#[test]
fn all_blocks_and_all_remainders() {
    each(|back_end| {
        let mut stream = Stream(1);
        for scheme in Scheme::ALL {
            for size in 1..=255 {
                for kept in 0..usize::from(size) {
                    let data = data((kept + usize::from(size)) % 3, kept, &mut stream);
                    pads(back_end, scheme, &data, size, &mut stream);
                }
            }
        }
    });
}

#[test]
fn all_small_blocks() {
    each(|back_end| {
        for scheme in Scheme::ALL {
            for first in 0..=255 {
                unpads(back_end, scheme, &[first]);
                for second in 0..=255 {
                    unpads(back_end, scheme, &[first, second]);
                }
            }
        }
    });
}

#[test]
fn blocks_that_are_all_alike() {
    each(|back_end| {
        for scheme in Scheme::ALL {
            for size in 1..=255 {
                for byte in 0..=255 {
                    unpads(back_end, scheme, &std::vec![byte; size]);
                }
            }
        }
    });
}

#[test]
fn data_ends_with_its_allocation() {
    // The data are copied to an allocation of exactly their length, because Valgrind detects accesses after the end of
    // an allocation.
    each(|back_end| {
        for size in [1, 7, 8, 9, 16, 17, 63, 64, 65, 255] {
            for kept in 0..usize::from(size) {
                let data = data(0, kept, &mut Stream(2)).into_boxed_slice();
                let mut block = std::vec![0; usize::from(size)].into_boxed_slice();
                let row = Row::for_scheme(Scheme::NotLast, size);
                (back_end.pad)(&row, row.value, &data, &mut block);
                assert_eq!((back_end.unpad)(&row, &block).0, usize::from(size) - kept);
            }
        }
    });
}

#[test]
fn last_bytes() {
    let block: Vec<u8> = (1..=255).collect();
    for size in 1..=255 {
        for kept in 0..size {
            assert_eq!(usize::from(portable::last_kept(&block[..size], kept)), kept);
            // For an index after the end of the data, the reader reads the first byte.
            assert_eq!(portable::Reader::new(&block[..kept]).word(kept, 1), u64::from(kept > 0));
        }
    }
}
