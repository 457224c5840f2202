//! Known leaks. An audit that does not report every leak in this module is broken. One function is without a leak.

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

/// A selection between two references by a condition. The compiler selects the address, and loads only one of the
/// values.
///
/// # Safety
/// The pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad_choice_of_addresses__pps(a: *const u64, b: *const u64, bit: bool) -> u64 {
    // SAFETY: the caller fulfills the `# Safety` section.
    let (a, b) = unsafe { (&*a, &*b) };
    if bit { *a } else { *b }
}

/// A selection between two values by a mask. At -O3, the compiler knows that the mask can only be all ones or all
/// zeros, and converts the selection of a value to the selection of an address.
///
/// # Safety
/// The pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn bad3_mask_of_addresses__pps(a: *const u64, b: *const u64, bit: bool) -> u64 {
    let mask = u64::from(bit).wrapping_neg();
    // SAFETY: the caller fulfills the `# Safety` section.
    unsafe { (*a & mask) | (*b & !mask) }
}

/// A jump on one bit: `tbz` on AArch64.
#[unsafe(no_mangle)]
pub extern "C" fn bad_one_bit__s(number: u64) -> u64 {
    if number & 8 == 0 { sideways(number) } else { number }
}

/// A jump on zero: `cbz` on AArch64.
#[unsafe(no_mangle)]
pub extern "C" fn bad_zero__s(number: u64) -> u64 {
    if number == 0 { sideways(number) } else { number }
}

/// A `match` that the compiler converts to a jump table.
#[unsafe(no_mangle)]
pub extern "C" fn bad_jump_table__sp(which: u32, number: u64) -> u64 {
    by_table(which, number)
}

/// The same `match` on a public number: the audit must follow the table, and must find nothing.
#[unsafe(no_mangle)]
pub extern "C" fn ok_jump_table__ps(which: u32, number: u64) -> u64 {
    by_table(which, number)
}

#[inline(always)]
fn by_table(which: u32, number: u64) -> u64 {
    match which {
        0 => sideways(number),
        1 => number ^ 0x55,
        2 => number.wrapping_mul(7),
        3 => sideways(!number),
        4 => number >> 3,
        5 => number.swap_bytes(),
        6 => sideways(number & 0xff),
        7 => number.rotate_left(7),
        8 => sideways(number ^ 1),
        9 => number.reverse_bits(),
        10 => number & 0xf0f0,
        11 => sideways(number << 8),
        12 => number.wrapping_sub(9),
        13 => !number,
        14 => sideways(number >> 8),
        15 => number.wrapping_neg(),
        _ => number | 1,
    }
}

/// Leaks in instructions that only AArch64 has.
#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use core::arch::asm;

    /// A prefetch. It reads no data, but the cache later reveals its address.
    ///
    /// # Safety
    /// Any pointer is valid.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn bad_prefetch__ps(table: *const u8, index: usize) {
        // SAFETY: a prefetch never fails.
        unsafe { asm!("prfm pldl1keep, [{}, {}]", in(reg) table, in(reg) index, options(nostack)) }
    }

    /// A load that moves its pointer by a secret, and a load at the new place.
    ///
    /// # Safety
    /// The pointer is valid for 32 bytes, and `step` is at most 16.
    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn bad_secret_step__ps(bytes: *const u8, step: usize) -> u64 {
        let sum: u64;
        // SAFETY: the caller fulfills the `# Safety` section.
        unsafe {
            asm!(
                "ld1 {{v0.16b}}, [{at}], {step}",
                "ldp {sum}, {other}, [{at}], #16",
                "eor {sum}, {sum}, {other}",
                at = inout(reg) bytes => _,
                step = in(reg) step,
                sum = out(reg) sum,
                other = out(reg) _,
                out("v0") _,
                options(readonly, nostack)
            );
        }
        sum
    }

    /// A comparison after which the second condition is compared only if the first one was true.
    #[unsafe(no_mangle)]
    pub extern "C" fn bad_two_conditions__ss(a: u64, b: u64) -> u64 {
        let result: u64;
        // SAFETY: the code changes only registers and flags.
        unsafe {
            asm!(
                "cmp {a}, #5",
                "ccmp {b}, #7, #0, eq",
                "mov {result}, #1",
                "b.eq 2f",
                "mov {result}, #2",
                "2:",
                a = in(reg) a,
                b = in(reg) b,
                result = out(reg) result,
                options(pure, nomem, nostack)
            );
        }
        result
    }
}
