//! Removes white space. The positions of the white space are public, and the other bytes are secret.

#[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
pub mod neon;

#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(deadpan_portable)))]
use deadpan_ct::cpu::{Level, level};
use deadpan_ct::{Choice, CtEq, CtOrd, declassify};

const TOPS: u64 = 0x8080_8080_8080_8080;
const ONES: u64 = 0x0101_0101_0101_0101;

/// Sets the top bit of every byte of `low` that is at least `limit`. Other bits have no meaning. The bytes and the
/// limit are below 128.
#[inline(always)]
const fn reaches(low: u64, limit: u64) -> u64 {
    low + ONES * (128 - limit)
}

/// Narrows a word to a `usize` that is zero only if the word is zero.
#[inline(always)]
const fn fold(word: u64) -> usize {
    (word | (word >> 32)) as usize
}

/// Moves the bytes of `buffer` that are not white space to its front, and returns their number.
pub fn squeeze(buffer: &mut [u8]) -> usize {
    let start = buffer.as_mut_ptr();
    // SAFETY: the source and the target are the same memory with the same length, and the output position never exceeds
    // the input position.
    unsafe { squeeze_raw(start, buffer.len(), start) }
}

/// Copies the bytes of `input` that are not white space to the front of `output`, which is at least as long. Returns
/// their number.
pub fn squeeze_into(input: &[u8], output: &mut [u8]) -> usize {
    assert!(output.len() >= input.len(), "output too small");
    // SAFETY: the output is writable for the length of the input. The input and the output are two borrows, so they do
    // not overlap.
    unsafe { squeeze_raw(input.as_ptr(), input.len(), output.as_mut_ptr()) }
}

/// Returns the position of the first line feed or carriage return, or the length if there is none. The bytes leak
/// nothing else.
#[cfg(feature = "alloc")]
pub fn line_end(bytes: &[u8]) -> usize {
    let (words, rest) = bytes.as_chunks::<8>();
    let has_end = |word: u64| {
        let low = word & !TOPS;
        let either = (reaches(low, 10) & !reaches(low, 11)) | (reaches(low, 13) & !reaches(low, 14));
        fold(either & !word & TOPS)
    };
    let whole = words.iter().take_while(|word| declassify(has_end(u64::from_le_bytes(**word))) == 0).count() * 8;
    let rest = words.get(whole / 8).map_or(rest, |word| word);
    let is_end = |byte: &u8| (byte.ct_eq(&b'\n') | byte.ct_eq(&b'\r')).declassify();
    whole + rest.iter().position(is_end).unwrap_or(rest.len())
}

/// Returns the length without the white space at the end. The bytes leak nothing else.
#[cfg(feature = "alloc")]
pub fn trimmed_len(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| !is_space(*byte).declassify()).map_or(0, |last| last + 1)
}

/// *Yes* for space, tab, line feed, vertical tab, form feed and carriage return.
#[inline(always)]
pub fn is_space(byte: u8) -> Choice {
    byte.ct_eq(&b' ') | byte.wrapping_sub(9).ct_lt(&5)
}

/// # Safety
/// `source` is readable and `target` is writable for `length` bytes. If the two ranges overlap, `target` does not begin
/// after `source`.
unsafe fn squeeze_raw(source: *const u8, length: usize, target: *mut u8) -> usize {
    // SAFETY: the caller promises what the kernels require, and `level` returns a level only if the CPU and the
    // operating system support it.
    unsafe {
        #[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
        if level() == Level::Avx512 {
            return avx512(source, length, target);
        }
        #[cfg(all(target_arch = "aarch64", not(deadpan_portable)))]
        if level() == Level::Neon {
            return neon::squeeze(source, length, target);
        }
        portable(source, length, target)
    }
}

/// Copies each word as a whole if it contains no white space; otherwise copies its bytes one by one.
///
/// # Safety
/// `source` is readable and `target` is writable for `length` bytes. If the two ranges overlap, `target` does not begin
/// after `source`.
pub unsafe fn portable(source: *const u8, length: usize, target: *mut u8) -> usize {
    let (mut read, mut written) = (0, 0);
    // SAFETY: `written` never exceeds `read`, and `read` never exceeds `length`. A word is loaded before it is stored.
    unsafe {
        while read < length {
            let here = source.add(read);
            if length - read >= 8 {
                let word = here.cast::<u64>().read_unaligned();
                let low = word & !TOPS;
                let space = (reaches(low, 9) & !reaches(low, 14)) | (reaches(low, 32) & !reaches(low, 33));
                let any = space & !word & TOPS;
                if declassify(fold(any)) == 0 {
                    target.add(written).cast::<u64>().write_unaligned(word);
                    read += 8;
                    written += 8;
                    continue;
                }
            }
            for _ in 0..(length - read).min(8) {
                let byte = source.add(read).read();
                target.add(written).write(byte);
                read += 1;
                written += 1 - declassify(usize::from(is_space(byte).bit()));
            }
        }
    }
    written
}

/// Removes white space within a register, with the instruction `vpcompressb`.
///
/// # Safety
/// The caller fulfills the conditions of `portable`, and the CPU has the target features of this function.
#[cfg(all(target_arch = "x86_64", not(deadpan_portable)))]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi2,bmi2,popcnt")]
pub unsafe fn avx512(source: *const u8, length: usize, target: *mut u8) -> usize {
    use core::arch::x86_64::{
        _bzhi_u64, _mm512_cmpeq_epi8_mask, _mm512_cmplt_epu8_mask, _mm512_mask_storeu_epi8, _mm512_maskz_compress_epi8,
        _mm512_maskz_loadu_epi8, _mm512_set1_epi8, _mm512_sub_epi8,
    };
    let (mut read, mut written) = (0, 0);
    while read < length {
        let count = (length - read).min(64);
        let lanes = _bzhi_u64(u64::MAX, count as u32);
        // SAFETY: the mask of the load selects at most the rest of the input. The mask of the store selects at most as
        // many bytes as were read.
        unsafe {
            let bytes = _mm512_maskz_loadu_epi8(lanes, source.add(read).cast());
            let controls = _mm512_cmplt_epu8_mask(_mm512_sub_epi8(bytes, _mm512_set1_epi8(9)), _mm512_set1_epi8(5));
            let space = controls | _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(32));
            let kept = declassify((lanes & !space) as usize) as u64;
            let many = kept.count_ones();
            let packed = _mm512_maskz_compress_epi8(kept, bytes);
            _mm512_mask_storeu_epi8(target.add(written).cast(), _bzhi_u64(u64::MAX, many), packed);
            written += many as usize;
        }
        read += count;
    }
    written
}
