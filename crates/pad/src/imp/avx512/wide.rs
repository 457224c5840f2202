//! Blocks of any size. The code processes 64 bytes at a time. Loads and stores use masks, so that the last bytes of a
//! block need no separate code.

use core::arch::x86_64::{
    __m512i, __mmask64, _mm512_add_epi8, _mm512_and_si512, _mm512_broadcastb_epi8, _mm512_castsi512_si128,
    _mm512_cmpeq_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_loadu_si512, _mm512_mask_cmpeq_epi8_mask,
    _mm512_mask_cmpneq_epi8_mask, _mm512_mask_mov_epi8, _mm512_mask_storeu_epi8, _mm512_maskz_compress_epi8,
    _mm512_maskz_loadu_epi8, _mm512_maskz_mov_epi8, _mm512_or_si512, _mm512_set1_epi8, _mm512_setzero_si512,
    _mm512_sub_epi8, _mm512_xor_si512,
};

use super::super::Noise;
use super::super::row::{Row, Value};
use super::super::run::Run;
use deadpan_ct::Choice;

/// The number of bytes in a vector.
const STEP: usize = 64;

/// The lane number of every lane.
static NUMBERS: [u8; STEP] = {
    let mut numbers = [0; STEP];
    let mut lane = 0;
    while lane < STEP {
        numbers[lane] = lane as u8;
        lane += 1;
    }
    numbers
};

/// Writes a padded block: the bytes of `data`, then the padding that `row` describes. `data` must be shorter than the
/// block. For noisy padding, the block must hold the noise before the call.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub fn pad(row: &Row, value: Value, data: &[u8], block: &mut [u8]) {
    debug_assert!(data.len() < block.len() && block.len() == usize::from(row.size));
    let start = block.as_mut_ptr();
    // SAFETY: `write` reads the first `kept` bytes of the source, and `data` has that many bytes. `write` also accesses
    // `size` bytes of the target, which is the block. The block also holds the noise.
    unsafe { write(row, value, data.as_ptr(), data.len() as u8, start, start, block.len() as u8) }
}

/// Pads a block whose first `kept` bytes are the data. Uses `noise` if the padding is noisy.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub fn pad_in_place(row: &Row, value: Value, block: &mut [u8], kept: usize, noise: &Noise) {
    debug_assert!(kept < block.len() && block.len() == usize::from(row.size));
    let start = block.as_mut_ptr();
    // SAFETY: as in `pad`, but the source is the block itself. `write` reads no lane beyond `size`, and the noise has
    // at least `size` bytes.
    unsafe { write(row, value, start, kept as u8, noise.as_ptr(), start, block.len() as u8) }
}

/// Returns the number of padding bytes in a block, and whether the padding is right for this row. If the padding is
/// wrong, the number has no meaning.
#[inline(never)]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub fn unpad(row: &Row, block: &[u8]) -> (usize, Choice) {
    debug_assert_eq!(block.len(), usize::from(row.size));
    let last_byte = block[block.len() - 1];
    let final_lane = splat((block.len() - 1) as u8);
    let expected = splat(last_byte & row.tells_value);
    let (marks, steps) = (splat(row.mark), splat(row.steps));
    let (all_checked, last_checked) = (!wide(row.unchecked.cast_unsigned()), row.unchecked & 1 == 0);
    let mut run = Run::new();
    for (number, chunk) in block.chunks(STEP).enumerate() {
        let at = number * STEP;
        let lane = _mm512_add_epi8(numbers(), splat(at as u8));
        let inside = u64::MAX >> (STEP - chunk.len());
        // SAFETY: the mask selects only bytes of the chunk, and the CPU does not access the other bytes.
        let text = unsafe { _mm512_maskz_loadu_epi8(inside, chunk.as_ptr().cast()) };
        let wanted = _mm512_sub_epi8(expected, _mm512_and_si512(_mm512_sub_epi8(final_lane, lane), steps));
        let last = _mm512_cmpeq_epi8_mask(lane, final_lane);
        let checked = inside & all_checked & if last_checked { u64::MAX } else { !last };
        let bad = _mm512_mask_cmpneq_epi8_mask(checked, text, wanted);
        let marked = _mm512_mask_cmpeq_epi8_mask(wide(row.mark), text, marks);
        run.extend::<64>(at, bad, marked);
    }
    run.verdict(row, last_byte)
}

/// Writes the data and the padding to the target.
///
/// # Safety
/// `source` must be readable for `kept` or `size` bytes, whichever number is smaller. `noise` must be readable and
/// `target` writable for `size` bytes. The three pointers may point to the same memory.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
unsafe fn write(row: &Row, value: Value, source: *const u8, kept: u8, noise: *const u8, target: *mut u8, size: u8) {
    let count = size.wrapping_sub(kept);
    let value = value.pick(usize::from(kept)) ^ (count & row.counts);
    let mut value = splat(value);
    if row.follows != 0 {
        // SAFETY: `last_byte` requires only what the caller of this function promises.
        value = _mm512_xor_si512(value, unsafe { last_byte(source, kept, size) });
    }
    let (border, end, final_lane) = (splat(kept), splat(size), splat(size.wrapping_sub(1)));
    let mut at = 0;
    while at < usize::from(size) {
        let lane = _mm512_add_epi8(numbers(), splat(at as u8));
        let inside = _mm512_cmplt_epu8_mask(lane, end);
        let data = _mm512_cmplt_epu8_mask(lane, border) & inside;
        let first = _mm512_cmpeq_epi8_mask(lane, border);
        let counting = _mm512_cmpeq_epi8_mask(lane, final_lane) & wide(row.ends_in_count);
        let steps = _mm512_and_si512(_mm512_sub_epi8(lane, border), splat(row.steps));
        let mut padding =
            _mm512_xor_si512(_mm512_add_epi8(value, steps), _mm512_maskz_mov_epi8(first, splat(row.mark)));
        // SAFETY: the masks select only lanes below `size`, and for the source only lanes that are also below `kept`.
        // The CPU does not access the other bytes.
        unsafe {
            if row.noisy != 0 {
                padding = _mm512_xor_si512(padding, _mm512_maskz_loadu_epi8(inside, noise.add(at).cast()));
            }
            padding = _mm512_mask_mov_epi8(padding, counting, splat(count));
            let old = _mm512_maskz_loadu_epi8(data, source.wrapping_add(at).cast());
            _mm512_mask_storeu_epi8(target.add(at).cast(), inside, _mm512_mask_mov_epi8(padding, data, old));
        }
        at += STEP;
    }
}

/// Returns a vector that has, in every lane, the last of the first `kept` bytes, or zero if `kept` is zero. Each chunk
/// of the block is loaded exactly once under a mask, so the addresses of the loads do not depend on `kept`.
///
/// # Safety
/// `source` must be readable for `kept` or `size` bytes, whichever number is smaller.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
unsafe fn last_byte(source: *const u8, kept: u8, size: u8) -> __m512i {
    let (border, last) = (splat(kept), splat(kept.wrapping_sub(1)));
    let mut found = _mm512_setzero_si512();
    let mut at = 0;
    while at < usize::from(size) {
        let lane = _mm512_add_epi8(numbers(), splat(at as u8));
        let data = _mm512_cmplt_epu8_mask(lane, border) & _mm512_cmplt_epu8_mask(lane, splat(size));
        // SAFETY: the mask selects only lanes below `kept` and `size`. The CPU does not access the other bytes.
        let text = unsafe { _mm512_maskz_loadu_epi8(data, source.wrapping_add(at).cast()) };
        let here = _mm512_maskz_compress_epi8(_mm512_cmpeq_epi8_mask(lane, last), text);
        found = _mm512_or_si512(found, here);
        at += STEP;
    }
    _mm512_broadcastb_epi8(_mm512_castsi512_si128(found))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn splat(byte: u8) -> __m512i {
    _mm512_set1_epi8(byte.cast_signed())
}

/// Returns a vector that has the lane number in every lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
fn numbers() -> __m512i {
    // SAFETY: the array is as long as the vector.
    unsafe { _mm512_loadu_si512(NUMBERS.as_ptr().cast()) }
}

/// Turns a condition, `ff` or `00`, into a mask of all lanes: all ones or all zeros.
#[inline(always)]
fn wide(condition: u8) -> __mmask64 {
    i64::from(condition.cast_signed() >> 7).cast_unsigned()
}
