//! Compares Padmé with the paper's algorithm, which uses floating-point numbers and jumps.

use proptest::prelude::*;

use deadpan_pad::padme;

fn paper(length: u64) -> u64 {
    if length < 2 {
        return length;
    }
    let e = (length as f64).log2().floor() as u32;
    let s = (f64::from(e)).log2().floor() as u32 + 1;
    let mask = (1_u64 << (e - s)) - 1;
    (length + mask) & !mask
}

#[test]
fn small_lengths() {
    for length in 0..200_000 {
        assert_eq!(padme(length), Some(paper(length)), "{length}");
    }
}

#[test]
fn known_lengths() {
    let known = [
        (0, 0),
        (1, 1),
        (2, 2),
        (3, 3),
        (8, 8),
        (9, 10),
        (10, 10),
        (11, 12),
        (16, 16),
        (17, 18),
        (31, 32),
        (33, 36),
        (1 << 40, 1 << 40),
    ];
    for (length, expected) in known {
        assert_eq!(padme(length), Some(expected), "{length}");
    }
}

#[test]
fn the_top_end() {
    let last = !((1 << 57) - 1);
    assert_eq!(padme(last), Some(last));
    assert_eq!(padme(last + 1), None);
    assert_eq!(padme(u64::MAX), None);
    assert_eq!(padme(last - 1), Some(last));
}

proptest! {
    #[test]
    fn no_more_than_twelve_percent(length in 0..=u64::MAX >> 1, shift in 0..60_u32) {
        let length = length >> shift;
        let padded = padme(length).unwrap();
        prop_assert!(padded >= length && (padded - length) as f64 <= 0.12 * length as f64);
        prop_assert_eq!(padme(padded), Some(padded));
    }
}
