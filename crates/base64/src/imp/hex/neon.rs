//! Hexadecimal with registers of 16 bytes on AArch64.

use core::arch::aarch64::{
    uint8x16_t, uint8x16x2_t, vaddq_u8, vandq_u8, vbslq_u8, vcltq_u8, vdupq_n_u8, vld1q_u8, vld2q_u8, vmaxvq_u8,
    vmvnq_u8, vorrq_u8, vqtbl1q_u8, vshrq_n_u8, vsliq_n_u8, vst1q_u8, vst2q_u8, vsubq_u8,
};

use super::Case;
use deadpan_ct::Wipe;

/// The number of bytes in a register.
const STEP: usize = 16;

/// Encodes each byte of `input` into a pair of digits.
pub fn encode(case: Case, input: &[u8], output: &mut [u8]) {
    let digits = match case {
        Case::Lower => b"0123456789abcdef",
        Case::Upper => b"0123456789ABCDEF",
    };
    // SAFETY: NEON is part of AArch64; the array is as long as the register.
    let digits = unsafe { vld1q_u8(digits.as_ptr()) };
    let (steps, rest) = input.as_chunks::<STEP>();
    let (places, rest_place) = output.as_chunks_mut::<{ 2 * STEP }>();
    for (bytes, place) in steps.iter().zip(places.iter_mut()) {
        encode_step(digits, bytes, place);
    }
    let (mut bytes, mut edge) = ([0; STEP], [0; 2 * STEP]);
    bytes[..rest.len()].copy_from_slice(rest);
    encode_step(digits, &bytes, &mut edge);
    rest_place.copy_from_slice(&edge[..2 * rest.len()]);
    bytes.wipe();
    edge.wipe();
}

/// Decodes each pair of digits into a byte. Returns a nonzero number if a byte was not a digit.
pub fn decode(input: &[u8], output: &mut [u8]) -> u64 {
    // SAFETY: NEON is part of AArch64.
    let mut good = unsafe { vdupq_n_u8(0xff) };
    let (steps, rest) = input.as_chunks::<{ 2 * STEP }>();
    let (places, rest_place) = output.as_chunks_mut::<STEP>();
    for (digits, place) in steps.iter().zip(places.iter_mut()) {
        decode_step(&mut good, digits, place);
    }
    let (mut digits, mut edge) = ([b'0'; 2 * STEP], [0; STEP]);
    digits[..rest.len()].copy_from_slice(rest);
    decode_step(&mut good, &digits, &mut edge);
    rest_place.copy_from_slice(&edge[..rest.len() / 2]);
    digits.wipe();
    edge.wipe();
    // SAFETY: NEON is part of AArch64.
    unsafe { u64::from(vmaxvq_u8(vmvnq_u8(good))) }
}

#[inline(always)]
fn encode_step(digits: uint8x16_t, bytes: &[u8; STEP], place: &mut [u8; 2 * STEP]) {
    // SAFETY: NEON is part of AArch64; the arrays are as long as one and as two registers.
    unsafe {
        let bytes = vld1q_u8(bytes.as_ptr());
        let first = vqtbl1q_u8(digits, vshrq_n_u8::<4>(bytes));
        let second = vqtbl1q_u8(digits, vandq_u8(bytes, vdupq_n_u8(0x0f)));
        vst2q_u8(place.as_mut_ptr(), uint8x16x2_t(first, second));
    }
}

/// Decodes 32 digits, and clears the bytes of `good` where one of two characters is not a digit.
#[inline(always)]
fn decode_step(good: &mut uint8x16_t, digits: &[u8; 2 * STEP], place: &mut [u8; STEP]) {
    // SAFETY: NEON is part of AArch64; the arrays are as long as two registers and as one.
    unsafe {
        let uint8x16x2_t(first, second) = vld2q_u8(digits.as_ptr());
        let ((first, is_first), (second, is_second)) = (values(first), values(second));
        *good = vandq_u8(*good, vandq_u8(is_first, is_second));
        vst1q_u8(place.as_mut_ptr(), vsliq_n_u8::<4>(second, first));
    }
}

/// Returns the values of 16 digits, and all ones for each character that is a digit.
#[inline(always)]
fn values(digits: uint8x16_t) -> (uint8x16_t, uint8x16_t) {
    // SAFETY: NEON is part of AArch64.
    unsafe {
        let number = vsubq_u8(digits, vdupq_n_u8(b'0'));
        // Setting bit 5 turns capitals into small letters, and turns no other character into a letter.
        let letter = vsubq_u8(vorrq_u8(digits, vdupq_n_u8(0x20)), vdupq_n_u8(b'a'));
        let is_number = vcltq_u8(number, vdupq_n_u8(10));
        let is_letter = vcltq_u8(letter, vdupq_n_u8(6));
        (vbslq_u8(is_number, number, vaddq_u8(letter, vdupq_n_u8(10))), vorrq_u8(is_number, is_letter))
    }
}
