//! Operations with 64-byte vectors. The last iteration uses a mask, so there is no separate code for the tail.

use core::arch::x86_64::{
    __m512i, __mmask64, _mm512_loadu_si512, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8, _mm512_or_si512,
    _mm512_set1_epi64, _mm512_setzero_si512, _mm512_storeu_si512, _mm512_ternarylogic_epi64, _mm512_test_epi64_mask,
};

use super::word::Word;

/// The number of bytes in a vector.
const STEP: usize = 64;
/// The number of vectors in one iteration of the loop. The code collects the differences of the vectors in separate
/// registers, so that the loop waits only for loads.
const LANES: usize = 4;

/// Computes `a | (b ^ c)`
const OR_XOR: i32 = 0b1111_0110;
/// Selects bit by bit: `c ? b : a`
const PICK: i32 = 0b1101_1000;

/// Returns a mask of the first `count` bytes of a vector. `count` must be at most 63.
#[inline(always)]
fn first(count: usize) -> __mmask64 {
    (1 << count) - 1
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn load(slice: &[u8; STEP]) -> __m512i {
    // SAFETY: the array is exactly as long as the vector.
    unsafe { _mm512_loadu_si512(slice.as_ptr().cast()) }
}

/// Loads a slice of fewer than 64 bytes, and fills the rest of the vector with zeros.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn load_tail(slice: &[u8]) -> __m512i {
    debug_assert!(slice.len() < STEP);
    // SAFETY: the mask selects only bytes of the slice, and the CPU does not access the other bytes.
    unsafe { _mm512_maskz_loadu_epi8(first(slice.len()), slice.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn store(slice: &mut [u8; STEP], vector: __m512i) {
    // SAFETY: the array is exactly as long as the vector.
    unsafe { _mm512_storeu_si512(slice.as_mut_ptr().cast(), vector) }
}

/// Fills a `slice` of fewer than 64 bytes with the first bytes of `vector`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn store_tail(slice: &mut [u8], vector: __m512i) {
    debug_assert!(slice.len() < STEP);
    // SAFETY: the mask selects only bytes of the slice, and the CPU does not access the other bytes.
    unsafe { _mm512_mask_storeu_epi8(slice.as_mut_ptr().cast(), first(slice.len()), vector) }
}

/// Returns all ones if no bit of `vector` is set, and zero otherwise.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn zero_mask(seen: [__m512i; LANES]) -> usize {
    let all = _mm512_or_si512(_mm512_or_si512(seen[0], seen[1]), _mm512_or_si512(seen[2], seen[3]));
    _mm512_test_epi64_mask(all, all).zero()
}

/// Returns all ones if both slices have the same bytes, and zero otherwise.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn equal(left: &[u8], right: &[u8]) -> usize {
    let (left, left_tail) = left.as_chunks::<STEP>();
    let (right, right_tail) = right.as_chunks::<STEP>();
    let mut seen = [_mm512_setzero_si512(); LANES];
    let (left, left_rest) = left.as_chunks::<LANES>();
    let (right, right_rest) = right.as_chunks::<LANES>();
    for (a, b) in left.iter().zip(right) {
        for lane in 0..LANES {
            seen[lane] = _mm512_ternarylogic_epi64::<OR_XOR>(seen[lane], load(&a[lane]), load(&b[lane]));
        }
    }
    for (a, b) in left_rest.iter().zip(right_rest) {
        seen[0] = _mm512_ternarylogic_epi64::<OR_XOR>(seen[0], load(a), load(b));
    }
    seen[1] = _mm512_ternarylogic_epi64::<OR_XOR>(seen[1], load_tail(left_tail), load_tail(right_tail));
    zero_mask(seen)
}

/// Returns all ones if every byte of the slice is zero, and zero otherwise.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn zero(slice: &[u8]) -> usize {
    let (vectors, tail) = slice.as_chunks::<STEP>();
    let mut seen = [_mm512_setzero_si512(); LANES];
    let (vectors, rest) = vectors.as_chunks::<LANES>();
    for four in vectors {
        for lane in 0..LANES {
            seen[lane] = _mm512_or_si512(seen[lane], load(&four[lane]));
        }
    }
    for vector in rest {
        seen[0] = _mm512_or_si512(seen[0], load(vector));
    }
    seen[1] = _mm512_or_si512(seen[1], load_tail(tail));
    zero_mask(seen)
}

/// Copies the bits of `source` to the target where `mask` has ones.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn assign(target: &mut [u8], source: &[u8], mask: u64) {
    let mask = _mm512_set1_epi64(mask.cast_signed());
    let (target, target_tail) = target.as_chunks_mut::<STEP>();
    let (source, source_tail) = source.as_chunks::<STEP>();
    for (to, from) in target.iter_mut().zip(source) {
        let picked = _mm512_ternarylogic_epi64::<PICK>(load(to), load(from), mask);
        store(to, picked);
    }
    let picked = _mm512_ternarylogic_epi64::<PICK>(load_tail(target_tail), load_tail(source_tail), mask);
    store_tail(target_tail, picked);
}

/// Swaps the bits of two slices where `mask` has ones.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
pub fn swap(left: &mut [u8], right: &mut [u8], mask: u64) {
    let mask = _mm512_set1_epi64(mask.cast_signed());
    let (left, left_tail) = left.as_chunks_mut::<STEP>();
    let (right, right_tail) = right.as_chunks_mut::<STEP>();
    for (a, b) in left.iter_mut().zip(right) {
        let (old_a, old_b) = (load(a), load(b));
        store(a, _mm512_ternarylogic_epi64::<PICK>(old_a, old_b, mask));
        store(b, _mm512_ternarylogic_epi64::<PICK>(old_b, old_a, mask));
    }
    let (old_a, old_b) = (load_tail(left_tail), load_tail(right_tail));
    store_tail(left_tail, _mm512_ternarylogic_epi64::<PICK>(old_a, old_b, mask));
    store_tail(right_tail, _mm512_ternarylogic_epi64::<PICK>(old_b, old_a, mask));
}
