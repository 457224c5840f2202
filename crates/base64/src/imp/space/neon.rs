//! Removes white space within a register on AArch64. The places of the white space are public, so they may choose a row
//! of a table.

use core::arch::aarch64::{
    uint8x8_t, uint8x16_t, vaddv_u8, vand_u8, vceqq_u8, vcltq_u8, vdupq_n_u8, vget_high_u8, vget_low_u8, vld1_u8,
    vld1q_u8, vmaxvq_u8, vorrq_u8, vst1_u8, vst1q_u8, vsubq_u8, vtbl1_u8,
};

use deadpan_ct::declassify;

/// The number of bytes in a register.
const STEP: usize = 16;

/// For each set of bytes that are kept out of eight: their numbers in order.
static KEPT: [[u8; 8]; 256] = {
    let mut rows = [[0; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut byte, mut at) = (0, 0);
        while byte < 8 {
            if set >> byte & 1 == 1 {
                rows[set][at] = byte as u8;
                at += 1;
            }
            byte += 1;
        }
        set += 1;
    }
    rows
};

/// # Safety
/// The caller fulfills the conditions of [`super::portable`].
pub unsafe fn squeeze(source: *const u8, length: usize, target: *mut u8) -> usize {
    let (mut read, mut written) = (0, 0);
    // SAFETY: NEON is part of AArch64. `written` never exceeds `read`, so each store ends at the latest where the next
    // load begins.
    unsafe {
        while length - read >= STEP {
            let bytes = vld1q_u8(source.add(read));
            let spaces = spaces(bytes);
            if declassify(usize::from(vmaxvq_u8(spaces))) == 0 {
                vst1q_u8(target.add(written), bytes);
                written += STEP;
            } else {
                let first = spaces_of(vget_low_u8(spaces));
                vst1_u8(target.add(written), pack(vget_low_u8(bytes), first));
                written += first.count_zeros() as usize;
                let second = spaces_of(vget_high_u8(spaces));
                vst1_u8(target.add(written), pack(vget_high_u8(bytes), second));
                written += second.count_zeros() as usize;
            }
            read += STEP;
        }
        written + super::portable(source.add(read), length - read, target.add(written))
    }
}

/// Returns all ones for each byte that is white space.
#[inline(always)]
fn spaces(bytes: uint8x16_t) -> uint8x16_t {
    // SAFETY: NEON is part of AArch64.
    unsafe {
        let controls = vcltq_u8(vsubq_u8(bytes, vdupq_n_u8(9)), vdupq_n_u8(5));
        vorrq_u8(controls, vceqq_u8(bytes, vdupq_n_u8(b' ')))
    }
}

/// Returns one bit for each byte of `spaces`, and makes these bits public.
#[inline(always)]
fn spaces_of(spaces: uint8x8_t) -> u8 {
    // SAFETY: NEON is part of AArch64; the array is as long as the register.
    let bits = unsafe { vaddv_u8(vand_u8(spaces, vld1_u8([1, 2, 4, 8, 16, 32, 64, 128].as_ptr()))) };
    declassify(usize::from(bits)) as u8
}

/// Moves the bytes that are not in the set `spaces` to the front.
#[inline(always)]
fn pack(bytes: uint8x8_t, spaces: u8) -> uint8x8_t {
    // SAFETY: NEON is part of AArch64; a row is as long as the register.
    unsafe { vtbl1_u8(bytes, vld1_u8(KEPT[usize::from(!spaces)].as_ptr())) }
}
