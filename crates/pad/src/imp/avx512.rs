//! AVX-512 with byte masks. Masks prevent every access to memory outside of a short block, so the rest of a block needs
//! no separate code.

mod sixteen;
mod wide;

use super::Noise;
use super::row::{Row, Value};
use deadpan_ct::Choice;

/// The block size of AES and SM4. A block of 16 bytes fits into a 16-byte register.
const COMMON: usize = 16;

/// Writes a padded block: the bytes of `data`, then the padding that `row` describes. `data` must be shorter than the
/// block. For noisy padding, the block must hold the noise before the call.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub fn pad(row: &Row, value: Value, data: &[u8], block: &mut [u8]) {
    match block.as_mut_array::<COMMON>() {
        Some(block) => sixteen::pad(row, value, data, block),
        None => wide::pad(row, value, data, block),
    }
}

/// Pads a block whose first `kept` bytes are the data. Uses `noise` if the padding is noisy.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub fn pad_in_place(row: &Row, value: Value, block: &mut [u8], kept: usize, noise: &Noise) {
    match block.as_mut_array::<COMMON>() {
        Some(block) => sixteen::pad_in_place(row, value, block, kept, noise),
        None => wide::pad_in_place(row, value, block, kept, noise),
    }
}

/// Returns the number of padding bytes in a block, and whether the padding is right for this row. If the padding is
/// wrong, the number has no meaning.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2")]
pub fn unpad(row: &Row, block: &[u8]) -> (usize, Choice) {
    match block.as_array::<COMMON>() {
        Some(block) => sixteen::unpad(row, block),
        None => wide::unpad(row, block),
    }
}
