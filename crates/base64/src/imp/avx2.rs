//! The back end for AVX2. Each register of 32 bytes is used as two halves of 16 bytes.

use core::arch::x86_64::{
    __m256i, _mm_add_epi8, _mm_loadu_si128, _mm_set1_epi8, _mm_storeu_si128, _mm256_add_epi8, _mm256_and_si256,
    _mm256_broadcastsi128_si256, _mm256_castsi256_si128, _mm256_cmpeq_epi8, _mm256_cmpgt_epi8,
    _mm256_extracti128_si256, _mm256_loadu_si256, _mm256_loadu2_m128i, _mm256_madd_epi16, _mm256_maddubs_epi16,
    _mm256_movemask_epi8, _mm256_or_si256, _mm256_set_m128i, _mm256_set1_epi8, _mm256_set1_epi32, _mm256_shuffle_epi8,
    _mm256_srli_epi32, _mm256_storeu_si256, _mm256_sub_epi8, _mm256_subs_epu8, _mm256_xor_si256,
};

use super::Flaws;
use super::vector::{self, Vector, instructions};
use crate::Alphabet;

/// Encodes `length` bytes under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` bytes, `target` is writable for `total` bytes, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn encode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8, total: usize) {
    // SAFETY: the caller promises what the called function requires.
    unsafe { vector::encode::<__m256i>(alphabet, source, length, target, total) }
}

/// Decodes `length` symbols under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` symbols, `target` is writable for the decoded bytes, and the CPU has AVX2.
#[target_feature(enable = "avx2")]
pub unsafe fn decode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    // SAFETY: the caller promises what the called function requires.
    unsafe { vector::decode::<__m256i>(alphabet, source, length, target) }
}

/// Shifts words of 32 bits. The shift moves some bits into the neighboring byte, and the caller clears these bits with
/// a mask.
#[inline]
#[target_feature(enable = "avx2")]
fn shift_right_4(vector: __m256i) -> __m256i {
    _mm256_srli_epi32::<4>(vector)
}

/// Writes a multiplication as one instruction in assembly. rustc 1.95 replaces each of the two multiplication
/// intrinsics by several instructions, which nearly halves the speed of encoding.
macro_rules! multiply {
    ($name:ident, $instruction:literal) => {
        #[inline]
        #[target_feature(enable = "avx2")]
        fn $name(left: __m256i, right: __m256i) -> __m256i {
            let product;
            // SAFETY: this is an instruction of this back end, and it touches only registers.
            unsafe {
                core::arch::asm!(
                    concat!($instruction, " {0}, {1}, {2}"),
                    lateout(ymm_reg) product,
                    in(ymm_reg) left,
                    in(ymm_reg) right,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            product
        }
    };
}
multiply!(multiply_high, "vpmulhuw");
multiply!(multiply_low, "vpmullw");

impl Vector for __m256i {
    const SYMBOLS: usize = 32;
    const REACH: usize = 28;

    instructions! {
        shuffle(index) = _mm256_shuffle_epi8;
        and(other) = _mm256_and_si256;
        or(other) = _mm256_or_si256;
        xor(other) = _mm256_xor_si256;
        add(other) = _mm256_add_epi8;
        subtract(other) = _mm256_sub_epi8;
        subtract_saturating(other) = _mm256_subs_epu8;
        equal(other) = _mm256_cmpeq_epi8;
        greater(other) = _mm256_cmpgt_epi8;
        multiply_high(factors) = multiply_high;
        multiply_low(factors) = multiply_low;
        multiply_add_u8(factors) = _mm256_maddubs_epi16;
        multiply_add_u16(factors) = _mm256_madd_epi16;
        shift_right_4() = shift_right_4;
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: the caller makes sure that the CPU has the instruction.
        unsafe { _mm256_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn splat_u32(number: u32) -> Self {
        // SAFETY: the caller makes sure that the CPU has the instruction.
        unsafe { _mm256_set1_epi32(number.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> Self {
        // SAFETY: the caller makes sure that the CPU has the instruction; the array is as long as the load.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller promises that `SYMBOLS` bytes are valid.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller promises that `SYMBOLS` bytes are valid.
        unsafe { _mm256_storeu_si256(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn load_bytes(from: *const u8) -> Self {
        // SAFETY: the caller promises that `REACH` bytes are valid: the two loads of 16 bytes at 0 and at 12 read 28
        // bytes together, which is `REACH`.
        unsafe { _mm256_loadu2_m128i(from.add(12).cast(), from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_quick(from: *const u8) -> Self {
        // SAFETY: the caller promises that the four bytes before `from` and the 28 bytes that begin at `from` are
        // valid.
        unsafe { _mm256_loadu_si256(from.sub(4).cast()) }
    }

    #[inline(always)]
    unsafe fn spread_quick() -> Self {
        // SAFETY: the caller makes sure that the CPU has the instruction. In the first half of the register, the twelve
        // bytes begin at byte four. In the second half, the twelve bytes begin at byte zero.
        unsafe {
            let spread = _mm_loadu_si128(vector::SPREAD.as_ptr().cast());
            _mm256_set_m128i(spread, _mm_add_epi8(spread, _mm_set1_epi8(4)))
        }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8) {
        // SAFETY: the caller promises that `SYMBOLS` bytes are valid. The first store writes 16 bytes at offset 0. The
        // second store writes 16 bytes at offset 12, and overwrites the last four bytes of the first store.
        unsafe {
            _mm_storeu_si128(to.cast(), _mm256_castsi256_si128(self));
            _mm_storeu_si128(to.add(12).cast(), _mm256_extracti128_si256::<1>(self));
        }
    }

    #[inline(always)]
    unsafe fn tops(self) -> u32 {
        // SAFETY: the caller makes sure that the CPU has the instruction.
        unsafe { _mm256_movemask_epi8(self).cast_unsigned() }
    }
}
