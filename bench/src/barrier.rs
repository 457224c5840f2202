//! Optimization barriers between the measured call and the loop around it. Only this module and `base64/barrier.rs` of
//! `bench/src` have `unsafe` code.
//!
//! Each barrier is an empty assembly statement. After a barrier hides a value, the compiler knows nothing about the
//! value. The compiler can therefore not fold, hoist or vectorize several calls together. If a value is passed to a
//! barrier's `sink`, the compiler must compute the value. A barrier costs no instruction. `black_box`, in contrast,
//! costs a store and a load, which take longer than a comparison, which takes half a nanosecond.

use core::arch::asm;

/// A type whose values fit into registers, so that a barrier can hide them.
pub trait Register: Copy + Default + PartialEq {
    /// Returns the value. The compiler then knows nothing about the value.
    #[must_use]
    fn hide(self) -> Self;
    /// Makes the compiler compute the value, and then drops the value.
    fn sink(self);
    /// Makes a value of this type from the low bits of a random number.
    #[must_use]
    fn cut(random: u128) -> Self;
}

macro_rules! register {
    ($($int:ty: $class:ident, $template:literal;)*) => { $(
        impl Register for $int {
            #[inline(always)]
            fn hide(mut self) -> Self {
                // SAFETY: the statement is empty. The statement leaves its register unchanged, and touches neither
                // memory, stack nor flags.
                unsafe { asm!($template, inout($class) self, options(nomem, nostack, preserves_flags)) };
                self
            }

            #[inline(always)]
            fn sink(self) {
                // SAFETY: as in `hide`.
                unsafe { asm!($template, in($class) self, options(nomem, nostack, preserves_flags)) };
            }

            fn cut(random: u128) -> Self {
                random as Self
            }
        }
    )* };
}

#[cfg(target_arch = "x86_64")]
register! {
    u8: reg_byte, "/* {0} */";
    u32: reg, "/* {0:e} */";
}
#[cfg(target_arch = "aarch64")]
register! {
    u8: reg, "/* {0:w} */";
    u32: reg, "/* {0:w} */";
}
register! {
    u64: reg, "/* {0} */";
    i64: reg, "/* {0} */";
    usize: reg, "/* {0} */";
    isize: reg, "/* {0} */";
}

impl Register for u128 {
    #[inline(always)]
    fn hide(self) -> Self {
        u128::from((self as u64).hide()) | (u128::from(((self >> 64) as u64).hide()) << 64)
    }

    #[inline(always)]
    fn sink(self) {
        (self as u64).sink();
        ((self >> 64) as u64).sink();
    }

    fn cut(random: u128) -> Self {
        random
    }
}

impl Register for bool {
    #[inline(always)]
    fn hide(self) -> Self {
        u8::from(self).hide() != 0
    }

    #[inline(always)]
    fn sink(self) {
        u8::from(self).sink();
    }

    fn cut(random: u128) -> Self {
        random & 1 == 1
    }
}

impl<T: Register> Register for (T, T) {
    #[inline(always)]
    fn hide(self) -> Self {
        (self.0.hide(), self.1.hide())
    }

    #[inline(always)]
    fn sink(self) {
        self.0.sink();
        self.1.sink();
    }

    fn cut(random: u128) -> Self {
        (T::cut(random), T::cut(random.rotate_left(64)))
    }
}

/// Returns the slice. The compiler then knows nothing about the address, length and contents of the slice.
#[inline(always)]
#[must_use]
pub fn hide_bytes(slice: &[u8]) -> &[u8] {
    let (mut address, mut length) = (slice.as_ptr(), slice.len());
    // SAFETY: the statement is empty and leaves both registers unchanged, so the registers still describe `slice`. The
    // options do not include `nomem`, so the compiler must assume that the bytes have changed. The bytes have not
    // changed.
    unsafe {
        asm!("/* {0} {1} */", inout(reg) address, inout(reg) length, options(nostack, preserves_flags));
        core::slice::from_raw_parts(address, length)
    }
}

/// Returns the mutable slice. The compiler then knows nothing about the address, length and contents of the slice.
#[inline(always)]
#[must_use]
pub fn hide_bytes_mut(slice: &mut [u8]) -> &mut [u8] {
    let (mut address, mut length) = (slice.as_mut_ptr(), slice.len());
    // SAFETY: as in `hide_bytes`, the statement is empty and leaves both registers unchanged. The borrow is unique
    // because `slice` is not used again.
    unsafe {
        asm!("/* {0} {1} */", inout(reg) address, inout(reg) length, options(nostack, preserves_flags));
        core::slice::from_raw_parts_mut(address, length)
    }
}

/// Returns the reference. The compiler then knows nothing about the address and contents of the value.
#[inline(always)]
#[must_use]
pub fn hide_ref<T>(value: &T) -> &T {
    let mut address = core::ptr::from_ref(value);
    // SAFETY: the statement is empty and leaves the register unchanged, so the register still has the pointer of the
    // reference.
    unsafe {
        asm!("/* {0} */", inout(reg) address, options(nostack, preserves_flags));
        &*address
    }
}

/// Returns the mutable reference. The compiler then knows nothing about the address and contents of the value.
#[inline(always)]
#[must_use]
pub fn hide_mut<T>(value: &mut T) -> &mut T {
    let mut address = core::ptr::from_mut(value);
    // SAFETY: as in `hide_ref`, the statement is empty and leaves the register unchanged. The borrow is unique because
    // `value` is not used again.
    unsafe {
        asm!("/* {0} */", inout(reg) address, options(nostack, preserves_flags));
        &mut *address
    }
}

#[inline(always)]
pub fn sink_ref<T: ?Sized>(value: &T) {
    let address = core::ptr::from_ref(value).cast::<u8>();
    // SAFETY: the statement is empty. The options do not include `nomem`, so the compiler must have written all stored
    // values to memory.
    unsafe { asm!("/* {0} */", in(reg) address, options(nostack, preserves_flags)) };
}

/// Inserts `PLACE` times 16 bytes before the code that follows this call. The call also prevents the compiler from
/// merging this code with other copies of the same code.
#[inline(always)]
pub fn shift<const PLACE: usize>() {
    // SAFETY: the instructions are no-operations.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        asm!(".nops {0}", const PLACE * 16 + 1, options(nomem, nostack, preserves_flags));
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        asm!(".rept {0}", "nop", ".endr", const PLACE * 4 + 1, options(nomem, nostack, preserves_flags));
    }
}
