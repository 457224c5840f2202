//! Audited functions of `deadpan-ct`: every operation, and patterns that compilers are known to convert to jumps.

use core::slice::{from_raw_parts, from_raw_parts_mut};

use deadpan_ct::cpu::Level;
use deadpan_ct::{Choice, CtAssign, CtEq, CtOrd, CtSign, CtZero, Wipe, imp, lookup};

macro_rules! integers {
    ($(
        $int:ident $signed:ident:
        $eq:ident $ne:ident $lt:ident $ge:ident $zero:ident $negative:ident $slt:ident $select:ident $swap:ident;
    )*) => { $(
        #[unsafe(no_mangle)]
        pub extern "C" fn $eq(a: $int, b: $int) -> u8 { a.ct_eq(&b).bit() }
        #[unsafe(no_mangle)]
        pub extern "C" fn $ne(a: $int, b: $int) -> isize { a.ct_ne(&b).mask() }
        #[unsafe(no_mangle)]
        pub extern "C" fn $lt(a: $int, b: $int) -> isize { (a.ct_lt(&b) ^ a.ct_gt(&b)).mask() }
        #[unsafe(no_mangle)]
        pub extern "C" fn $ge(a: $int, b: $int) -> isize { (a.ct_ge(&b) & !a.ct_le(&b)).mask() }
        #[unsafe(no_mangle)]
        pub extern "C" fn $zero(a: $int, b: $int) -> isize { (a.ct_is_zero() | b.ct_is_nonzero()).mask() }
        #[unsafe(no_mangle)]
        pub extern "C" fn $negative(a: $signed, b: $signed) -> isize {
            (a.ct_is_negative() | !b.ct_is_negative()).mask()
        }
        #[unsafe(no_mangle)]
        pub extern "C" fn $slt(a: $signed, b: $signed) -> isize { (a.ct_lt(&b) | b.ct_le(&a)).mask() }
        /// Compares two numbers, and then selects a value by the result of the comparison. Of all patterns, compilers
        /// convert this pattern to a jump most often.
        #[unsafe(no_mangle)]
        pub extern "C" fn $select(a: $int, b: $int) -> $int { a.ct_lt(&b).select(a.wrapping_mul(3), b.wrapping_add(1)) }
        /// # Safety
        /// Both pointers are valid.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $swap(a: *mut $int, b: *mut $int, bit: u8) {
            // SAFETY: the caller fulfills the `# Safety` section.
            let (a, b) = unsafe { (&mut *a, &mut *b) };
            a.ct_swap(b, Choice::from_bit(bit));
        }
    )* };
}

integers! {
    u8 i8:
        ok_eq_u8__ss ok_ne_u8__ss ok_lt_u8__ss ok_ge_u8__ss ok_zero_u8__ss
        ok_negative_i8__ss ok_lt_i8__ss ok_select_u8__ss ok_swap_u8__pps;
    u16 i16:
        ok_eq_u16__ss ok_ne_u16__ss ok_lt_u16__ss ok_ge_u16__ss ok_zero_u16__ss
        ok_negative_i16__ss ok_lt_i16__ss ok_select_u16__ss ok_swap_u16__pps;
    u32 i32:
        ok_eq_u32__ss ok_ne_u32__ss ok_lt_u32__ss ok_ge_u32__ss ok_zero_u32__ss
        ok_negative_i32__ss ok_lt_i32__ss ok_select_u32__ss ok_swap_u32__pps;
    u64 i64:
        ok_eq_u64__ss ok_ne_u64__ss ok_lt_u64__ss ok_ge_u64__ss ok_zero_u64__ss
        ok_negative_i64__ss ok_lt_i64__ss ok_select_u64__ss ok_swap_u64__pps;
    u128 i128:
        ok_eq_u128__ssss ok_ne_u128__ssss ok_lt_u128__ssss ok_ge_u128__ssss ok_zero_u128__ssss
        ok_negative_i128__ssss ok_lt_i128__ssss ok_select_u128__ssss ok_swap_u128__pps;
    usize isize:
        ok_eq_usize__ss ok_ne_usize__ss ok_lt_usize__ss ok_ge_usize__ss ok_zero_usize__ss
        ok_negative_isize__ss ok_lt_isize__ss ok_select_usize__ss ok_swap_usize__pps;
}

#[unsafe(no_mangle)]
pub extern "C" fn ok_choice_algebra__sss(a: u8, b: u8, c: u8) -> u8 {
    let (a, b, c) = (Choice::from_bit(a), Choice::from_bit(b), Choice::from_bit(c));
    a.select((b & !c) ^ a, b | c).bit()
}

/// A conditional copy of 32 bytes. In the past, a compiler converted this copy to a jump.
///
/// # Safety
/// Both pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_assign_32_bytes__pps(target: *mut [u8; 32], source: *const [u8; 32], bit: u8) {
    // SAFETY: the caller fulfills the `# Safety` section.
    let (target, source) = unsafe { (&mut *target, &*source) };
    target.ct_assign(source, Choice::from_bit(bit));
}

/// # Safety
/// Both pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_compare_32_then_assign__ppp(target: *mut [u8; 32], a: *const [u8; 32], b: *const [u8; 32]) {
    // SAFETY: the caller fulfills the `# Safety` section.
    let (target, a, b) = unsafe { (&mut *target, &*a, &*b) };
    target.ct_assign(a, a.ct_eq(b));
}

/// # Safety
/// The pointer is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_lookup_16__ps(table: *const [u32; 16], index: usize) -> u32 {
    // SAFETY: the caller fulfills the `# Safety` section.
    lookup(unsafe { &*table }, index).into_parts().0
}

/// # Safety
/// The pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_lookup_rows__psp(table: *const [[u64; 8]; 16], index: usize, row: *mut [u64; 8]) {
    // SAFETY: the caller fulfills the `# Safety` section.
    unsafe { *row = lookup(&*table, index).unwrap_or([0; 8]) };
}

/// Selects between two references, and must read both values.
///
/// # Safety
/// Both pointers are valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_choose_between_references__pps(a: *const u64, b: *const u64, bit: u8) -> u64 {
    // SAFETY: the caller fulfills the `# Safety` section.
    let (a, b) = unsafe { (&*a, &*b) };
    Choice::from_bit(bit).select(*a, *b)
}

/// Two selections that use the same condition. The compiler must not replace the two selections by one jump.
#[unsafe(no_mangle)]
pub extern "C" fn ok_select_chain__sss(a: u64, b: u64, c: u64) -> u64 {
    let less = a.ct_lt(&b);
    let x = less.select(a, b);
    let y = less.select(b, c);
    x.ct_eq(&y).select(x ^ c, y)
}

/// # Safety
/// The pointers are valid for `length` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_lexicographic__ppp(a: *const u8, b: *const u8, length: usize) -> isize {
    // SAFETY: the caller fulfills the `# Safety` section.
    let (a, b) = unsafe { (from_raw_parts(a, length), from_raw_parts(b, length)) };
    a.ct_lt(b).mask()
}

/// # Safety
/// The pointer is valid for `length` numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ok_wipe__pp(a: *mut u64, length: usize) {
    // SAFETY: the caller fulfills the `# Safety` section.
    unsafe { from_raw_parts_mut(a, length) }.wipe();
}

macro_rules! backends {
    ($($level:ident $module:ident: $equal:ident $zero:ident $assign:ident $swap:ident;)*) => { $(
        const _: Level = Level::$level;
        /// # Safety
        /// The pointers are valid for `length` bytes, and the CPU supports the back end.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $equal(a: *const u8, b: *const u8, length: usize) -> isize {
            // SAFETY: the caller fulfills the `# Safety` section.
            #[allow(unused_unsafe)]
            unsafe { imp::$module::equal(from_raw_parts(a, length), from_raw_parts(b, length)).cast_signed() }
        }
        /// # Safety
        /// The pointers are valid for `length` bytes, and the CPU supports the back end.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $zero(a: *const u8, length: usize) -> isize {
            // SAFETY: the caller fulfills the `# Safety` section.
            #[allow(unused_unsafe)]
            unsafe { imp::$module::zero(from_raw_parts(a, length)).cast_signed() }
        }
        /// # Safety
        /// The pointers are valid for `length` bytes, and the CPU supports the back end.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $assign(a: *mut u8, b: *const u8, length: usize, bit: u8) {
            let mask = Choice::from_bit(bit).mask() as u64;
            // SAFETY: the caller fulfills the `# Safety` section.
            #[allow(unused_unsafe)]
            unsafe { imp::$module::assign(from_raw_parts_mut(a, length), from_raw_parts(b, length), mask) }
        }
        /// # Safety
        /// The pointers are valid for `length` bytes, and the CPU supports the back end.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $swap(a: *mut u8, b: *mut u8, length: usize, bit: u8) {
            let mask = Choice::from_bit(bit).mask() as u64;
            // SAFETY: the caller fulfills the `# Safety` section.
            #[allow(unused_unsafe)]
            unsafe { imp::$module::swap(from_raw_parts_mut(a, length), from_raw_parts_mut(b, length), mask) }
        }
    )* };
}

backends! {
    Portable portable: ok_equal_portable__ppp ok_all_zero_portable__pp ok_assign_portable__ppps ok_swap_portable__ppps;
}

#[cfg(target_arch = "x86_64")]
backends! {
    Sse2 sse2: ok_equal_sse2__ppp ok_all_zero_sse2__pp ok_assign_sse2__ppps ok_swap_sse2__ppps;
    Avx2 avx2: ok_equal_avx2__ppp ok_all_zero_avx2__pp ok_assign_avx2__ppps ok_swap_avx2__ppps;
    Avx512 avx512: ok_equal_avx512__ppp ok_all_zero_avx512__pp ok_assign_avx512__ppps ok_swap_avx512__ppps;
}
