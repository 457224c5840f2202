//! G on 32-byte and 64-byte registers.
//!
//! A block is a matrix of 8 × 8 pairs of words. With AVX-512, a block fills sixteen registers, two registers for each
//! row. Between the rows and the columns, the words stay in the registers.

use std::arch::x86_64::*;
use std::array;

use super::portable;
use crate::primitive::imp::blocks::{Block, WORDS};
use deadpan_ct::cpu::{Level, level};

/// The number of words in a 64-byte register.
const LANES: usize = 8;
const REGISTERS: usize = WORDS / LANES;

/// Four registers that hold the same word (a, b, c or d) of 32 mixing functions.
type Four = [__m512i; 4];

/// A proof that the CPU has AVX2.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    pub(super) fn new() -> Option<Self> {
        (level() >= Level::Avx2).then_some(Self(()))
    }

    #[inline(always)]
    pub(super) fn compress(self, previous: &Block, reference: &Block, block: &mut Block, add: bool) {
        // SAFETY: `self` proves that the CPU has the instructions that the called function uses.
        unsafe { avx2(previous, reference, block, add) }
    }
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx2")]
fn avx2(previous: &Block, reference: &Block, block: &mut Block, add: bool) {
    portable(previous, reference, block, add);
}

/// A proof that the CPU has AVX-512 F and BW.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    pub(super) fn new() -> Option<Self> {
        (level() >= Level::Avx512).then_some(Self(()))
    }

    #[inline(always)]
    pub(super) fn compress(self, previous: &Block, reference: &Block, block: &mut Block, add: bool) {
        // SAFETY: `self` proves that the CPU has the instructions that the called function uses.
        unsafe { avx512(previous, reference, block, add) }
    }
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw")]
fn avx512(previous: &Block, reference: &Block, block: &mut Block, add: bool) {
    let input: [__m512i; REGISTERS] =
        array::from_fn(|register| _mm512_xor_si512(load(previous, register), load(reference, register)));
    let rows = permute_rows(input);
    let columns = permute_columns(rows);
    for (register, output) in columns.into_iter().enumerate() {
        // The two inputs are loaded a second time, because there are not enough registers to keep them.
        let input = _mm512_xor_si512(load(previous, register), load(reference, register));
        let mut output = _mm512_xor_si512(output, input);
        if add {
            output = _mm512_xor_si512(output, load(block, register));
        }
        store(block, register, output);
    }
}

/// Applies P to each row. A row fills two registers: the first register holds four a's and four b's, and the second
/// register holds four c's and four d's.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn permute_rows(matrix: [__m512i; REGISTERS]) -> [__m512i; REGISTERS] {
    // Pairs of rows are rearranged, so that one register holds the a's of both rows, and the next register holds the
    // b's of both rows.
    let rows = |pair: usize, half: usize| [matrix[4 * pair + half], matrix[4 * pair + 2 + half]];
    let lower = |[x, y]: [__m512i; 2]| _mm512_shuffle_i64x2::<0b01_00_01_00>(x, y);
    let upper = |[x, y]: [__m512i; 2]| _mm512_shuffle_i64x2::<0b11_10_11_10>(x, y);
    let mut a: Four = array::from_fn(|pair| lower(rows(pair, 0)));
    let mut b: Four = array::from_fn(|pair| upper(rows(pair, 0)));
    let mut c: Four = array::from_fn(|pair| lower(rows(pair, 1)));
    let mut d: Four = array::from_fn(|pair| upper(rows(pair, 1)));
    mix(&mut a, &mut b, &mut c, &mut d);
    b = b.map(|b| _mm512_permutex_epi64::<0b00_11_10_01>(b));
    c = c.map(|c| _mm512_permutex_epi64::<0b01_00_11_10>(c));
    d = d.map(|d| _mm512_permutex_epi64::<0b10_01_00_11>(d));
    mix(&mut a, &mut b, &mut c, &mut d);
    b = b.map(|b| _mm512_permutex_epi64::<0b10_01_00_11>(b));
    c = c.map(|c| _mm512_permutex_epi64::<0b01_00_11_10>(c));
    d = d.map(|d| _mm512_permutex_epi64::<0b00_11_10_01>(d));
    array::from_fn(|register| {
        let pair = register / 4;
        match register % 4 {
            0 => lower([a[pair], b[pair]]),
            1 => lower([c[pair], d[pair]]),
            2 => upper([a[pair], b[pair]]),
            _ => upper([c[pair], d[pair]]),
        }
    })
}

/// Applies P to each column. A column has one pair of words in each row: the a's in rows 0 and 1, the b's in rows 2 and
/// 3, and so on. A register holds the pairs of four columns, so the words need no rearranging.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn permute_columns(matrix: [__m512i; REGISTERS]) -> [__m512i; REGISTERS] {
    // The closure returns the columns 0 to 3 of both rows, and then the columns 4 to 7 of both rows.
    let rows = |word: usize| -> Four { array::from_fn(|i| matrix[4 * word + 2 * (i % 2) + i / 2]) };
    let [mut a, mut b, mut c, mut d] = [rows(0), rows(1), rows(2), rows(3)];
    mix(&mut a, &mut b, &mut c, &mut d);
    [b, c, d] = [left(b), swap(c), right(d)];
    mix(&mut a, &mut b, &mut c, &mut d);
    [b, c, d] = [right(b), swap(c), left(d)];
    let all = [a, b, c, d];
    array::from_fn(|register| all[register / 4][2 * (register % 2) + register / 2 % 2])
}

/// Rotates the four words of each column by one: the words 0 1, 2 3 become 1 2, 3 0.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn left([p, q, r, s]: Four) -> Four {
    let next = |x, y| _mm512_alignr_epi8::<8>(y, x);
    [next(p, q), next(q, p), next(r, s), next(s, r)]
}

/// Rotates the four words of each column by three: the words 0 1, 2 3 become 3 0, 1 2.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn right(words: Four) -> Four {
    swap(left(words))
}

/// Rotates the four words of each column by two: the words 0 1, 2 3 become 2 3, 0 1.
#[inline(always)]
fn swap([p, q, r, s]: Four) -> Four {
    [q, p, s, r]
}

/// Computes the mixing function GB 32 times at once.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn mix(a: &mut Four, b: &mut Four, c: &mut Four, d: &mut Four) {
    let sum = |x, y| {
        let product = _mm512_mul_epu32(x, y);
        _mm512_add_epi64(_mm512_add_epi64(x, y), _mm512_add_epi64(product, product))
    };
    macro_rules! half {
        ($first:literal, $second:literal) => {
            *a = array::from_fn(|i| sum(a[i], b[i]));
            *d = array::from_fn(|i| _mm512_ror_epi64::<$first>(_mm512_xor_si512(d[i], a[i])));
            *c = array::from_fn(|i| sum(c[i], d[i]));
            *b = array::from_fn(|i| _mm512_ror_epi64::<$second>(_mm512_xor_si512(b[i], c[i])));
        };
    }
    half!(32, 24);
    half!(16, 63);
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn load(block: &Block, register: usize) -> __m512i {
    let words = &block.0.as_chunks::<LANES>().0[register];
    // SAFETY: the words are as long as the register, and blocks are aligned to 64 bytes.
    unsafe { _mm512_load_si512(words.as_ptr().cast()) }
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn store(block: &mut Block, register: usize, value: __m512i) {
    let words = &mut block.0.as_chunks_mut::<LANES>().0[register];
    // SAFETY: the words are as long as the register, and blocks are aligned to 64 bytes.
    unsafe { _mm512_store_si512(words.as_mut_ptr().cast(), value) }
}

/// Starts reading every cache line of the block into the cache.
#[inline(always)]
pub(super) fn prefetch(block: &Block) {
    for line in block.0.as_chunks::<LANES>().0 {
        // SAFETY: every x86-64 CPU has the prefetch instruction, and this instruction never faults.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) }
    }
}
