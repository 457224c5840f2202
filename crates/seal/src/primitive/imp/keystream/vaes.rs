//! The keystream on registers of 64 bytes. Each register holds four blocks. The code processes eight registers at a
//! time, to keep both AES units of the CPU busy.

use core::arch::x86_64::*;
use std::array;

use super::{BLOCK, Counter};
use deadpan_ct::Wiped;
use deadpan_ct::cpu::{Level, level};

const ROUNDS: usize = 14;
const REGISTER: usize = 64;
const AT_ONCE: usize = 8;
const STEP: usize = AT_ONCE * REGISTER;

/// The round keys of AES-256, one after the other.
type Schedule = Wiped<[u8; (ROUNDS + 1) * BLOCK]>;

/// A proof that the CPU has AES on 64-byte registers.
#[derive(Clone, Copy)]
pub(super) struct Vaes(());

impl Vaes {
    pub(super) fn new() -> Option<Self> {
        let has = level() >= Level::Avx512 && is_x86_feature_detected!("vaes") && is_x86_feature_detected!("aes");
        has.then_some(Self(()))
    }

    pub(super) fn fill(self, key: &[u8; 32], counter: &Counter, output: &mut [u8]) {
        // SAFETY: `self` proves that the CPU has the instructions that the called function uses.
        unsafe { fill(key, counter, output) }
    }
}

// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "aes,vaes,avx512f,avx512bw,sse2")]
fn fill(key: &[u8; 32], counter: &Counter, output: &mut [u8]) {
    let schedule = expand(key);
    let high = i64::from_be_bytes(*counter[..8].as_array().expect("half of it"));
    let low = i64::from_be_bytes(*counter[8..].as_array().expect("half of it"));
    // Four counters with the least significant byte first, so that numbers can be added to the counters.
    let first = _mm512_set_epi64(high, low, high, low, high, low, high, low);
    let mut counters = _mm512_add_epi64(first, _mm512_set_epi64(0, 3, 0, 2, 0, 1, 0, 0));
    let (steps, rest) = output.as_chunks_mut::<STEP>();
    for step in steps {
        counters = one_step(&schedule, counters, step);
    }
    if !rest.is_empty() {
        let mut step = Wiped::new([0; STEP]);
        one_step(&schedule, counters, &mut step);
        rest.copy_from_slice(&step[..rest.len()]);
    }
}

/// Computes the keystream for 32 counters. Returns the next counters.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "aes,vaes,avx512f,avx512bw,sse2")]
#[inline]
fn one_step(schedule: &Schedule, mut counters: __m512i, step: &mut [u8; STEP]) -> __m512i {
    let keys: [__m512i; ROUNDS + 1] = array::from_fn(|round| {
        let key = &schedule[round * BLOCK..(round + 1) * BLOCK];
        // SAFETY: the slice is as long as the register, and the load needs no alignment.
        _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(key.as_ptr().cast()) })
    });
    let reverse = _mm512_broadcast_i32x4(_mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
    let four = _mm512_set_epi64(0, 4, 0, 4, 0, 4, 0, 4);
    let mut blocks = [_mm512_setzero_si512(); AT_ONCE];
    for block in &mut blocks {
        *block = _mm512_xor_si512(_mm512_shuffle_epi8(counters, reverse), keys[0]);
        counters = _mm512_add_epi64(counters, four);
    }
    for key in &keys[1..ROUNDS] {
        for block in &mut blocks {
            *block = _mm512_aesenc_epi128(*block, *key);
        }
    }
    for (block, output) in blocks.iter().zip(step.as_chunks_mut::<REGISTER>().0) {
        let last = _mm512_aesenclast_epi128(*block, keys[ROUNDS]);
        // SAFETY: `output` is as long as the register, and the store needs no alignment.
        unsafe { _mm512_storeu_si512(output.as_mut_ptr().cast(), last) };
    }
    counters
}

/// Computes the key expansion of FIPS 197. The code computes two round keys at a time.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "aes,sse2")]
fn expand(key: &[u8; 32]) -> Schedule {
    let mut schedule = Wiped::new([0; (ROUNDS + 1) * BLOCK]);
    // SAFETY: both halves of the key are as long as a register.
    let mut pair = unsafe { [_mm_loadu_si128(key.as_ptr().cast()), _mm_loadu_si128(key.as_ptr().add(BLOCK).cast())] };
    let mut places = schedule.as_chunks_mut::<BLOCK>().0.iter_mut();
    let mut put = |key: __m128i| {
        let place = places.next().expect("fifteen round keys");
        // SAFETY: the slot for the round key is as long as the register.
        unsafe { _mm_storeu_si128(place.as_mut_ptr().cast(), key) };
    };
    put(pair[0]);
    put(pair[1]);
    macro_rules! next {
        ($($round_constant:literal)*) => { $(
            let word = _mm_shuffle_epi32::<0xff>(_mm_aeskeygenassist_si128::<$round_constant>(pair[1]));
            pair[0] = _mm_xor_si128(sums(pair[0]), word);
            put(pair[0]);
            if $round_constant != 64 {
                let word = _mm_shuffle_epi32::<0xaa>(_mm_aeskeygenassist_si128::<0>(pair[0]));
                pair[1] = _mm_xor_si128(sums(pair[1]), word);
                put(pair[1]);
            }
        )* };
    }
    next!(1 2 4 8 16 32 64);
    schedule
}

/// Replaces each word by the exclusive or of this word and all words before it.
// SAFETY: the caller only has to ensure that the CPU supports the features in `target_feature`.
#[target_feature(enable = "sse2")]
#[inline]
fn sums(words: __m128i) -> __m128i {
    let two = _mm_xor_si128(words, _mm_slli_si128::<4>(words));
    _mm_xor_si128(two, _mm_slli_si128::<8>(two))
}
