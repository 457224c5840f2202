//! Registers of 16 bytes.

use core::arch::x86_64::{
    __m128i, _mm_add_epi8, _mm_and_si128, _mm_cmpeq_epi8, _mm_cmpgt_epi8, _mm_loadu_si128, _mm_madd_epi16,
    _mm_maddubs_epi16, _mm_movemask_epi8, _mm_or_si128, _mm_set1_epi8, _mm_set1_epi32, _mm_shuffle_epi8,
    _mm_srli_epi32, _mm_storeu_si128, _mm_sub_epi8, _mm_subs_epu8, _mm_xor_si128,
};

use super::Flaws;
use super::vector::{self, Vector, instructions};
use crate::Alphabet;

/// Encodes `length` bytes under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` bytes, `target` is writable for `total` bytes, and the CPU has SSSE3.
#[target_feature(enable = "ssse3")]
pub unsafe fn encode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8, total: usize) {
    // SAFETY: the caller promises what the called function requires.
    unsafe { vector::encode::<__m128i>(alphabet, source, length, target, total) }
}

/// Decodes `length` symbols under the contract of `imp`. May leak: the length.
///
/// # Safety
/// `source` is readable for `length` symbols, `target` is writable for the decoded bytes, and the CPU has SSSE3.
#[target_feature(enable = "ssse3")]
pub unsafe fn decode(alphabet: Alphabet, source: *const u8, length: usize, target: *mut u8) -> Flaws {
    // SAFETY: the caller promises what the called function requires.
    unsafe { vector::decode::<__m128i>(alphabet, source, length, target) }
}

/// Shifts words of 32 bits. The shift moves some bits into the neighboring byte, and the caller clears these bits with
/// a mask.
#[inline]
#[target_feature(enable = "ssse3")]
fn shift_right_4(vector: __m128i) -> __m128i {
    _mm_srli_epi32::<4>(vector)
}

/// Writes a multiplication as one instruction in assembly. rustc 1.95 replaces each of the two multiplication
/// intrinsics by several instructions, which nearly halves the speed of encoding.
macro_rules! multiply {
    ($name:ident, $instruction:literal) => {
        #[inline]
        #[target_feature(enable = "ssse3")]
        fn $name(left: __m128i, right: __m128i) -> __m128i {
            let mut product = left;
            // SAFETY: the instruction belongs to this back end and touches only registers.
            unsafe {
                core::arch::asm!(
                    concat!($instruction, " {0}, {1}"),
                    inout(xmm_reg) product,
                    in(xmm_reg) right,
                    options(pure, nomem, nostack, preserves_flags)
                );
            }
            product
        }
    };
}
multiply!(multiply_high, "pmulhuw");
multiply!(multiply_low, "pmullw");

impl Vector for __m128i {
    const SYMBOLS: usize = 16;
    const REACH: usize = 16;

    instructions! {
        shuffle(index) = _mm_shuffle_epi8;
        and(other) = _mm_and_si128;
        or(other) = _mm_or_si128;
        xor(other) = _mm_xor_si128;
        add(other) = _mm_add_epi8;
        subtract(other) = _mm_sub_epi8;
        subtract_saturating(other) = _mm_subs_epu8;
        equal(other) = _mm_cmpeq_epi8;
        greater(other) = _mm_cmpgt_epi8;
        multiply_high(factors) = multiply_high;
        multiply_low(factors) = multiply_low;
        multiply_add_u8(factors) = _mm_maddubs_epi16;
        multiply_add_u16(factors) = _mm_madd_epi16;
        shift_right_4() = shift_right_4;
    }

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        // SAFETY: the caller makes sure that the CPU has the instruction.
        unsafe { _mm_set1_epi8(byte.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn splat_u32(number: u32) -> Self {
        // SAFETY: the caller makes sure that the CPU has the instruction.
        unsafe { _mm_set1_epi32(number.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> Self {
        // SAFETY: the caller makes sure that the CPU has the instruction; the array is as long as the load.
        unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller promises that `SYMBOLS` bytes are valid.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller promises that `SYMBOLS` bytes are valid.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn load_bytes(from: *const u8) -> Self {
        // SAFETY: the caller promises that `REACH` bytes are valid.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_quick(from: *const u8) -> Self {
        // SAFETY: the caller promises that the bytes that `load_bytes` reads are valid. For vectors of 16 bytes, no
        // other load needs fewer instructions.
        unsafe { Self::load_bytes(from) }
    }

    #[inline(always)]
    unsafe fn spread_quick() -> Self {
        // SAFETY: the caller makes sure that the CPU has the instruction.
        unsafe { Self::table(&vector::SPREAD) }
    }

    #[inline(always)]
    unsafe fn store_bytes(self, to: *mut u8) {
        // SAFETY: the caller promises that `SYMBOLS` bytes are valid.
        unsafe { _mm_storeu_si128(to.cast(), self) }
    }

    #[inline(always)]
    unsafe fn tops(self) -> u32 {
        // SAFETY: the caller makes sure that the CPU has the instruction.
        unsafe { _mm_movemask_epi8(self).cast_unsigned() }
    }
}
