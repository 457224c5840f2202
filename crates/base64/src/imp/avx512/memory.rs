//! Loads and stores of vectors.

use core::arch::x86_64::{
    __m512i, __mmask64, _MM_HINT_ET0, _bzhi_u64, _mm_mask_loadu_epi8, _mm_mask_storeu_epi8, _mm_prefetch, _mm_sfence,
    _mm256_mask_loadu_epi8, _mm256_mask_storeu_epi8, _mm512_castsi512_si128, _mm512_castsi512_si256,
    _mm512_inserti32x4, _mm512_inserti64x4, _mm512_mask_loadu_epi8, _mm512_mask_storeu_epi8, _mm512_set1_epi8,
    _mm512_storeu_si512, _mm512_stream_si512,
};

/// Two input sizes. For inputs of at least `AHEAD_FROM` bytes, the code prefetches output lines, because the nearer
/// caches do not contain the output any more. For inputs of at least `STREAM_FROM` bytes, stores bypass the caches,
/// since the output would push other data out of the caches.
const AHEAD_FROM: usize = 512 << 10;
const STREAM_FROM: usize = 24 << 20;
/// The distance of prefetching, in bytes.
const AHEAD: usize = 2 << 10;

/// Returns a mask that selects the first `count` lanes; `count` is at most 64.
#[inline]
#[target_feature(enable = "bmi2")]
pub(super) fn first(count: usize) -> __mmask64 {
    _bzhi_u64(u64::MAX, count as u32)
}

/// The way in which the main loops store vectors. The size of the input determines the way of storing.
pub(super) enum Writing {
    /// Stores into the caches.
    Plain,
    /// Stores into the caches, with prefetching of the next lines.
    Ahead,
    /// Stores that bypass the caches.
    Past,
}

impl Writing {
    /// Returns whether the output for an input of this size must be aligned to whole vectors.
    #[inline(always)]
    pub(super) fn is_past(length: usize) -> bool {
        length >= STREAM_FROM
    }

    #[inline(always)]
    pub(super) fn for_length(length: usize, target: *mut u8) -> Self {
        if Self::is_past(length) && (target as usize).is_multiple_of(64) {
            Self::Past
        } else if length >= AHEAD_FROM {
            Self::Ahead
        } else {
            Self::Plain
        }
    }
}

/// Orders stores that bypass the caches before all later stores.
#[inline(always)]
pub(super) fn fence(length: usize) {
    if Writing::is_past(length) {
        // SAFETY: every x86-64 has SSE.
        unsafe { _mm_sfence() };
    }
}

/// # Safety
/// `place` is writable for 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn write(place: *mut u8, vector: __m512i) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_si512(place.cast(), vector) }
}

/// # Safety
/// The caller fulfills the conditions of [`write`].
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn write_ahead(place: *mut u8, vector: __m512i) {
    _mm_prefetch::<_MM_HINT_ET0>(place.wrapping_add(AHEAD).cast());
    // SAFETY: the caller's promise.
    unsafe { _mm512_storeu_si512(place.cast(), vector) }
}

/// After the last call, the caller must call [`fence`].
///
/// # Safety
/// The caller fulfills the conditions of [`write`], and `place` is aligned to 64 bytes.
#[inline]
#[target_feature(enable = "avx512f")]
pub(super) unsafe fn write_past(place: *mut u8, vector: __m512i) {
    // SAFETY: the caller's promise.
    unsafe { _mm512_stream_si512(place.cast(), vector) }
}

/// Loads up to 64 bytes, and fills the rest of the vector with `fill`.
///
/// Bytes that the mask excludes are not read, but the CPU waits for pending writes to these bytes, for example if a
/// small output lies right after a small input. The load is therefore as narrow as possible.
///
/// # Safety
/// `source` is readable for `count` bytes, and the CPU has the target features of this function.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) unsafe fn load(source: *const u8, count: usize, fill: u8) -> __m512i {
    let fill = _mm512_set1_epi8(fill.cast_signed());
    let lanes = first(count);
    // SAFETY: the mask selects `count` lanes, and all these lanes fit into the chosen width.
    unsafe {
        if count <= 16 {
            let low = _mm_mask_loadu_epi8(_mm512_castsi512_si128(fill), lanes as u16, source.cast());
            _mm512_inserti32x4::<0>(fill, low)
        } else if count <= 32 {
            let low = _mm256_mask_loadu_epi8(_mm512_castsi512_si256(fill), lanes as u32, source.cast());
            _mm512_inserti64x4::<0>(fill, low)
        } else {
            _mm512_mask_loadu_epi8(fill, lanes, source.cast())
        }
    }
}

/// Stores the first `count` bytes of a vector. The store is as narrow as possible, because the CPU would wait for
/// pending writes to bytes that the mask excludes.
///
/// # Safety
/// `target` is writable for `count` bytes, and the CPU has the target features of this function.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,bmi2")]
pub(super) unsafe fn store(target: *mut u8, count: usize, bytes: __m512i) {
    let lanes = first(count);
    // SAFETY: the mask selects `count` lanes, and all these lanes fit into the chosen width.
    unsafe {
        if count <= 16 {
            _mm_mask_storeu_epi8(target.cast(), lanes as u16, _mm512_castsi512_si128(bytes));
        } else if count <= 32 {
            _mm256_mask_storeu_epi8(target.cast(), lanes as u32, _mm512_castsi512_si256(bytes));
        } else {
            _mm512_mask_storeu_epi8(target.cast(), lanes, bytes);
        }
    }
}
