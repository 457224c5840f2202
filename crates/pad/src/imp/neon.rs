//! Blocks of 16 bytes in one register, for every AArch64 CPU. The portable back end processes blocks of other sizes.

use core::arch::aarch64::{
    uint8x16_t, vaddq_u8, vandq_u8, vbslq_u8, vceqq_u8, vcltq_u8, vcombine_u8, vcreate_u8, vdupq_n_u8, veorq_u8,
    vget_lane_u64, vld1q_u8, vreinterpret_u64_u8, vreinterpretq_u16_u8, vshrn_n_u16, vst1q_u8, vsubq_u8,
};

use super::Noise;
use super::portable::{self, Reader, last_kept};
use super::row::{Row, Value};
use super::run::Run;
use deadpan_ct::Choice;

/// The number of bytes in the block and in the vector.
const SIZE: usize = 16;

/// Pads a block of 16 bytes. See [`super::pad`].
#[inline]
#[target_feature(enable = "neon")]
pub fn pad(row: &Row, value: Value, data: &[u8], block: &mut [u8]) {
    let Some(block) = block.as_mut_array::<SIZE>() else { return portable::pad(row, value, data, block) };
    let reader = Reader::new(data);
    let text = vcombine_u8(vcreate_u8(reader.word(0, 8)), vcreate_u8(reader.word(8, 8)));
    let padded = fill(row, value, text, data.len(), reader.last(), load(block));
    store(block, padded);
}

/// Pads a block of 16 bytes in place. See [`super::pad_in_place`].
#[inline]
#[target_feature(enable = "neon")]
pub fn pad_in_place(row: &Row, value: Value, block: &mut [u8], kept: usize, noise: &Noise) {
    let Some(block) = block.as_mut_array::<SIZE>() else {
        return portable::pad_in_place(row, value, block, kept, noise);
    };
    let last = last_kept(block, kept);
    let noise = load(noise.first_chunk().expect("noise is longer than this block"));
    let padded = fill(row, value, load(block), kept, last, noise);
    store(block, padded);
}

/// Checks a block of 16 bytes. See [`super::unpad`].
#[inline]
#[target_feature(enable = "neon")]
pub fn unpad(row: &Row, block: &[u8]) -> (usize, Choice) {
    let Some(block) = block.as_array::<SIZE>() else { return portable::unpad(row, block) };
    let last_byte = block[SIZE - 1];
    let text = load(block);
    let before_end = vsubq_u8(splat(SIZE as u8 - 1), numbers());
    let wanted = vsubq_u8(splat(last_byte & row.tells_value), vandq_u8(before_end, splat(row.steps)));
    let all = u64::from(row.unchecked.cast_unsigned() >> 7) * u64::MAX;
    let last = (u64::from(row.unchecked.cast_unsigned() & 1) * 0xf) << 60;
    let bad = !flags(vceqq_u8(text, wanted)) & !(all | last);
    let has_mark = (row.mark.cast_signed() >> 7).cast_unsigned();
    let marks = flags(vandq_u8(vceqq_u8(text, splat(row.mark)), splat(has_mark)));
    let mut run = Run::new();
    run.extend::<16>(0, bad, marks);
    run.verdict(row, last_byte)
}

/// Returns the first `kept` bytes of `text`, followed by padding. `last` is the last of the kept bytes.
#[inline]
#[target_feature(enable = "neon")]
fn fill(row: &Row, value: Value, text: uint8x16_t, kept: usize, last: u8, noise: uint8x16_t) -> uint8x16_t {
    debug_assert!(kept < SIZE);
    let border = splat(kept as u8);
    let count = (SIZE as u8).wrapping_sub(kept as u8);
    let value = value.pick(kept) ^ (count & row.counts) ^ (last & row.follows);
    let steps = vandq_u8(vsubq_u8(numbers(), border), splat(row.steps));
    let mark = vandq_u8(vceqq_u8(numbers(), border), splat(row.mark));
    let noise = vandq_u8(noise, splat(row.noisy));
    let padding = veorq_u8(veorq_u8(vaddq_u8(splat(value), steps), mark), noise);
    let counted = vandq_u8(vceqq_u8(numbers(), splat(SIZE as u8 - 1)), splat(row.ends_in_count));
    let padding = vbslq_u8(counted, splat(count), padding);
    vbslq_u8(vcltq_u8(numbers(), border), text, padding)
}

/// Returns four bits for each lane. The lanes are all ones or all zeros.
#[inline]
#[target_feature(enable = "neon")]
fn flags(lanes: uint8x16_t) -> u64 {
    vget_lane_u64::<0>(vreinterpret_u64_u8(vshrn_n_u16::<4>(vreinterpretq_u16_u8(lanes))))
}

/// Returns a vector that has the lane number in every lane.
#[inline]
#[target_feature(enable = "neon")]
fn numbers() -> uint8x16_t {
    load(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15])
}

#[inline]
#[target_feature(enable = "neon")]
fn splat(byte: u8) -> uint8x16_t {
    vdupq_n_u8(byte)
}

#[inline]
#[target_feature(enable = "neon")]
fn load(block: &[u8; SIZE]) -> uint8x16_t {
    // SAFETY: the array is as long as the vector.
    unsafe { vld1q_u8(block.as_ptr()) }
}

#[inline]
#[target_feature(enable = "neon")]
fn store(block: &mut [u8; SIZE], vector: uint8x16_t) {
    // SAFETY: the array is as long as the vector.
    unsafe { vst1q_u8(block.as_mut_ptr(), vector) }
}
