//! Functions that mark values as secret or public, and functions that make the bytes for the tests.

use core::hint::black_box;

use deadpan_ct::imp::{Plain, bytes_mut, valgrind};

/// Returns lengths near the block lengths of kernels and of streams.
pub(crate) fn lengths() -> impl Iterator<Item = usize> {
    (0..=130)
        .chain([191, 192, 193, 255, 256, 257, 300, 511, 512, 513, 767, 768, 769, 1023, 1024, 1025, 4095, 4096, 4097])
}

/// Returns bytes without a pattern. The bytes are the same in each run.
pub(crate) fn bytes(length: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ length as u64 ^ 0x2545_f491_4f6c_dd1d;
    let step = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(step).collect()
}

/// Returns a secret copy.
pub(crate) fn hide<T: Plain + Clone>(items: &[T]) -> Vec<T> {
    let mut copy = items.to_vec();
    valgrind::poison(bytes_mut(&mut copy));
    black_box(copy)
}

/// Returns a public copy.
pub(crate) fn show<T: Plain + Clone>(items: &[T]) -> Vec<T> {
    let mut copy = items.to_vec();
    valgrind::unpoison(bytes_mut(&mut copy));
    black_box(copy)
}

/// Returns a secret copy.
pub(crate) fn hide_array<T: Plain + Copy, const N: usize>(items: [T; N]) -> [T; N] {
    let mut copy = items;
    valgrind::poison(bytes_mut(&mut copy));
    black_box(copy)
}

/// Returns a public copy.
pub(crate) fn show_array<T: Plain + Copy, const N: usize>(items: [T; N]) -> [T; N] {
    let mut copy = items;
    valgrind::unpoison(bytes_mut(&mut copy));
    black_box(copy)
}

/// Returns the number, marked as secret.
pub(crate) fn hide_one<T: Plain + Copy>(number: T) -> T {
    let [number] = hide_array([number]);
    number
}

/// Returns the number, marked as public.
pub(crate) fn show_one<T: Plain + Copy>(number: T) -> T {
    let [number] = show_array([number]);
    number
}

/// Returns a value of any type, marked as public.
#[allow(unsafe_code)]
pub(crate) fn show_any<T: Copy>(value: T) -> T {
    let mut value = value;
    // SAFETY: the slice covers exactly the bytes of the value. The code neither reads nor writes these bytes: it tells
    // Valgrind only their address and number.
    valgrind::unpoison(unsafe { core::slice::from_raw_parts_mut((&raw mut value).cast(), size_of::<T>()) });
    black_box(value)
}
