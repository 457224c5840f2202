//! The control functions that need specific instructions. Each function returns `None` if the processor lacks these
//! instructions.

#[cfg(target_arch = "x86_64")]
pub(crate) use x86::{aes512, early_exit512, gather};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::hint::black_box;

    /// Returns the sum of eight table entries. One gather instruction reads the entries at the indexes in `places`.
    /// Returns `None` without AVX2.
    pub(crate) fn gather(table: &[u32; 256], places: &[u8]) -> Option<u32> {
        let places = places.first_chunk::<8>()?;
        // SAFETY: the processor has AVX2.
        is_x86_feature_detected!("avx2").then(|| unsafe { gather_avx2(table, places) })
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn gather_avx2(table: &[u32; 256], places: &[u8; 8]) -> u32 {
        let indexes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(i64::from_le_bytes(*places)));
        // SAFETY: all indexes are below 256, and the table has 256 entries.
        let found = unsafe { _mm256_i32gather_epi32::<4>(table.as_ptr().cast(), indexes) };
        let mut sums = [0_u32; 8];
        // SAFETY: `sums` has room for the 32 bytes that are stored.
        unsafe { _mm256_storeu_si256(sums.as_mut_ptr().cast(), found) };
        sums.iter().fold(0, |sum, entry| sum.wrapping_add(*entry))
    }

    /// Compares two slices in blocks of 64 bytes and stops at the first difference. Returns `None` without AVX-512BW.
    pub(crate) fn early_exit512(left: &[u8], right: &[u8]) -> Option<bool> {
        // SAFETY: the processor has AVX-512BW.
        is_x86_feature_detected!("avx512bw").then(|| unsafe { early_exit_avx512bw(left, right) })
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn early_exit_avx512bw(left: &[u8], right: &[u8]) -> bool {
        for (left, right) in left.chunks_exact(64).zip(right.chunks_exact(64)) {
            // SAFETY: both chunks have the 64 bytes that are loaded.
            let (left, right) =
                unsafe { (_mm512_loadu_si512(left.as_ptr().cast()), _mm512_loadu_si512(right.as_ptr().cast())) };
            if black_box(_mm512_cmpneq_epi8_mask(left, right)) != 0 {
                return false;
            }
        }
        true
    }

    /// Encrypts four AES blocks at once, in place, with four rounds. Returns `None` without AVX-512F and VAES.
    pub(crate) fn aes512(input: &mut [u8]) -> Option<()> {
        let block = input.first_chunk_mut::<64>()?;
        // SAFETY: the processor has AVX-512F and VAES.
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("vaes")).then(|| unsafe { aes_vaes(block) })
    }

    #[inline(never)]
    #[target_feature(enable = "avx512f,vaes")]
    fn aes_vaes(block: &mut [u8; 64]) {
        let key = _mm512_set1_epi8(0x5a);
        // SAFETY: the block has the 64 bytes that are loaded.
        let mut state = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        for _ in 0..4 {
            state = _mm512_aesenc_epi128(state, key);
        }
        // SAFETY: the block has the 64 bytes that are stored.
        unsafe { _mm512_storeu_si512(block.as_mut_ptr().cast(), state) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod portable {
    pub(crate) fn gather(_: &[u32; 256], _: &[u8]) -> Option<u32> {
        None
    }

    pub(crate) fn early_exit512(_: &[u8], _: &[u8]) -> Option<bool> {
        None
    }

    pub(crate) fn aes512(_: &mut [u8]) -> Option<()> {
        None
    }
}

#[cfg(not(target_arch = "x86_64"))]
pub(crate) use portable::{aes512, early_exit512, gather};
