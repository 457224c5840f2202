//! Known leaks. An audit that does not report every leak in this module is broken.

use core::slice::from_raw_parts;

/// A comparison that stops at the first difference.
///
/// # Safety
/// The pointers are valid for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad_early_exit__ppp(a: *const u8, b: *const u8, length: usize) -> bool {
    // SAFETY: the caller fulfills the `# Safety` section.
    let (a, b) = unsafe { (from_raw_parts(a, length), from_raw_parts(b, length)) };
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// A comparison by `==` on slices. The compiler converts the comparison to a call to `memcmp`, which stops at the first
/// difference.
///
/// # Safety
/// The pointers are valid for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad_memcmp__ppp(a: *const u8, b: *const u8, length: usize) -> bool {
    // SAFETY: the caller fulfills the `# Safety` section.
    unsafe { from_raw_parts(a, length) == from_raw_parts(b, length) }
}

/// A table lookup. The cache reveals which entry of the table was read.
///
/// # Safety
/// The pointer is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad_table_index__ps(table: *const [u8; 256], index: u8) -> u8 {
    // SAFETY: the caller fulfills the `# Safety` section.
    unsafe { (*table)[usize::from(index)] }
}

/// A division. On many CPUs, the time of a division depends on its operands.
#[unsafe(no_mangle)]
pub extern "C" fn bad_division__ss(a: u64, b: u64) -> u64 {
    a / (b | 1)
}

/// The common base64 decoder, with a lookup table of 256 entries.
///
/// # Safety
/// The pointers are valid for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad_base64_table__pppp(
    source: *const u8,
    length: usize,
    target: *mut u8,
    table: *const [u8; 256],
) {
    for place in 0..length {
        // SAFETY: the caller fulfills the `# Safety` section.
        unsafe { *target.add(place) = (*table)[usize::from(*source.add(place))] };
    }
}

/// The common way to remove PKCS#7 padding: the last byte is the number of checks, and the loop stops at the first
/// wrong byte.
///
/// # Safety
/// The pointer is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad_pkcs7__p(block: *const [u8; 16]) -> usize {
    // SAFETY: the caller fulfills the `# Safety` section.
    let block = unsafe { &*block };
    let count = usize::from(block[15]);
    if count == 0 || count > 16 || block[16 - count..].iter().any(|byte| usize::from(*byte) != count) {
        return usize::MAX;
    }
    16 - count
}

/// The compiler knows that the mask can only be all ones or all zeros. At -O3, the compiler replaces the use of the
/// mask by a jump.
///
/// # Safety
/// The pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad3_naive_mask_assign__pps(target: *mut [u8; 32], source: *const [u8; 32], bit: bool) {
    // SAFETY: the caller fulfills the `# Safety` section.
    let (target, source) = unsafe { (&mut *target, &*source) };
    let mask = u8::from(bit).wrapping_neg();
    for (to, from) in target.iter_mut().zip(source) {
        *to = (*from & mask) | (*to & !mask);
    }
}

/// The function stores a secret on the stack and loads it again. The loaded value is still a secret.
///
/// # Safety
/// The pointer is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad_through_the_stack__p(secret: *const [u64; 40]) -> u64 {
    // SAFETY: the caller fulfills the `# Safety` section.
    let mut copy = unsafe { *secret };
    core::hint::black_box(&mut copy);
    if copy[39] & 1 == 1 { sideways(copy[0]) } else { copy[1] }
}

#[inline(never)]
fn sideways(number: u64) -> u64 {
    core::hint::black_box(number).rotate_left(9)
}
