//! Compares every back end with loops over bytes. One function tests all operations.

use std::vec::Vec;
use std::{eprintln, vec};

use super::portable;
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
use super::{avx2, avx512, sse2};
use crate::cpu::{Level, level};

struct Backend {
    level: Level,
    equal: unsafe fn(&[u8], &[u8]) -> usize,
    zero: unsafe fn(&[u8]) -> usize,
    assign: unsafe fn(&mut [u8], &[u8], u64),
    swap: unsafe fn(&mut [u8], &mut [u8], u64),
}

macro_rules! backend {
    ($level:ident, $module:ident) => {
        Backend {
            level: Level::$level,
            equal: $module::equal,
            zero: $module::zero,
            assign: $module::assign,
            swap: $module::swap,
        }
    };
}

/// Returns the back ends that this CPU supports, and reports the other back ends as skipped.
#[allow(clippy::print_stderr)]
fn backends() -> Vec<Backend> {
    let all = [
        backend!(Portable, portable),
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        backend!(Sse2, sse2),
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        backend!(Avx2, avx2),
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        backend!(Avx512, avx512),
    ];
    let (here, missing): (Vec<_>, Vec<_>) = all.into_iter().partition(|backend| backend.level <= level());
    for backend in missing {
        eprintln!("skipped: {} is not on this CPU or switched off", backend.level.name());
    }
    here
}

#[test]
fn agree_with_loops_over_bytes() {
    for backend in backends() {
        for length in (0..=300).chain([511, 512, 513, 1024, 4097]) {
            for from in [0, 1, 17] {
                check(&backend, length, from);
            }
        }
    }
}

fn check(backend: &Backend, length: usize, from: usize) {
    let name = backend.level.name();
    let a: Vec<u8> = (0..length + from).map(|place| (place * 37 % 251) as u8).collect();
    let b: Vec<u8> = (0..length + from).map(|place| (place * 59 % 241) as u8 ^ 0xc3).collect();
    let (a, b) = (&a[from..], &b[from..]);
    // SAFETY: `backends` returns only back ends that this CPU supports.
    unsafe {
        assert_eq!((backend.equal)(a, a), usize::MAX, "{name}: {length} equal bytes");
        let zeros = vec![0; length];
        assert_eq!((backend.zero)(&zeros), usize::MAX, "{name}: {length} zeros");
        // The operations must detect one different bit, or one bit that is set, at any position.
        for place in 0..length.min(300) {
            let mut near = a.to_vec();
            near[place] ^= 1 << (place % 8);
            assert_eq!((backend.equal)(a, &near), 0, "{name}: bit at {place} of {length}");
            let mut one = zeros.clone();
            one[place] = 1 << (place % 8);
            assert_eq!((backend.zero)(&one), 0, "{name}: bit at {place} of {length}");
        }
        for (mask, yes) in [(0, false), (u64::MAX, true)] {
            let mut target = a.to_vec();
            (backend.assign)(&mut target, b, mask);
            assert_eq!(target, if yes { b } else { a }, "{name}: assign {length}");
            let (mut left, mut right) = (a.to_vec(), b.to_vec());
            (backend.swap)(&mut left, &mut right, mask);
            let expected = if yes { (b, a) } else { (a, b) };
            assert_eq!((&*left, &*right), expected, "{name}: swap {length}");
        }
    }
}
