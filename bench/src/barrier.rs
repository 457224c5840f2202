//! The wall between the measured call and the loop around it: the only `unsafe` of the benchmark.
//!
//! Each barrier is an empty assembly statement. A value that passes through is unknown to the compiler afterwards, so no call can be
//! folded, hoisted or vectorised together with its neighbours; a value that is sunk has to be computed. They cost no instruction, unlike
//! `black_box`, whose store and load would be most of what a half-nanosecond comparison costs.

use core::arch::asm;

/// What fits in registers and can be hidden there.
pub trait Register: Copy + Default + PartialEq {
    /// The same value, about which the compiler knows nothing.
    #[must_use]
    fn hide(self) -> Self;
    /// Computes the value and drops it.
    fn sink(self);
    /// The low bits of a random number.
    #[must_use]
    fn cut(random: u128) -> Self;
}

macro_rules! register {
    ($($int:ty: $class:ident, $template:literal;)*) => { $(
        impl Register for $int {
            #[inline(always)]
            fn hide(mut self) -> Self {
                // SAFETY: the statement is empty; it keeps its one register, and touches neither memory, stack nor flags.
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

register! {
    u8: reg_byte, "/* {0} */";
    u32: reg, "/* {0:e} */";
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

/// The same slice; address, length and contents are unknown to the compiler afterwards.
#[inline(always)]
#[must_use]
pub fn hide_bytes(slice: &[u8]) -> &[u8] {
    let (mut address, mut length) = (slice.as_ptr(), slice.len());
    // SAFETY: the statement is empty and returns both registers as they came, so they still describe `slice`. Memory is not excluded:
    // the compiler must assume that the bytes have changed, and they have not.
    unsafe {
        asm!("/* {0} {1} */", inout(reg) address, inout(reg) length, options(nostack, preserves_flags));
        core::slice::from_raw_parts(address, length)
    }
}

/// As [`hide_bytes`], to be written.
#[inline(always)]
#[must_use]
pub fn hide_bytes_mut(slice: &mut [u8]) -> &mut [u8] {
    let (mut address, mut length) = (slice.as_mut_ptr(), slice.len());
    // SAFETY: as in `hide_bytes`; the borrow is unique because `slice` is not used again.
    unsafe {
        asm!("/* {0} {1} */", inout(reg) address, inout(reg) length, options(nostack, preserves_flags));
        core::slice::from_raw_parts_mut(address, length)
    }
}

/// The same reference; address and contents are unknown to the compiler afterwards.
#[inline(always)]
#[must_use]
pub fn hide_ref<T>(value: &T) -> &T {
    let mut address = core::ptr::from_ref(value);
    // SAFETY: the statement is empty and returns the register as it came, so the pointer still is the reference's.
    unsafe {
        asm!("/* {0} */", inout(reg) address, options(nostack, preserves_flags));
        &*address
    }
}

/// As [`hide_ref`], to be written.
#[inline(always)]
#[must_use]
pub fn hide_mut<T>(value: &mut T) -> &mut T {
    let mut address = core::ptr::from_mut(value);
    // SAFETY: as in `hide_ref`; the borrow is unique because `value` is not used again.
    unsafe {
        asm!("/* {0} */", inout(reg) address, options(nostack, preserves_flags));
        &mut *address
    }
}

/// Has the value written to memory, as if somebody read it there.
#[inline(always)]
pub fn sink_ref<T: ?Sized>(value: &T) {
    let address = core::ptr::from_ref(value).cast::<u8>();
    // SAFETY: the statement is empty. Memory is not excluded, so what was stored must be there.
    unsafe { asm!("/* {0} */", in(reg) address, options(nostack, preserves_flags)) };
}

/// Moves the code behind it by `PLACE` times 16 bytes, and keeps the compiler from merging it with its copies.
#[inline(always)]
pub fn shift<const PLACE: usize>() {
    // SAFETY: no-operations, which do nothing.
    unsafe { asm!(".nops {0}", const PLACE * 16 + 1, options(nomem, nostack, preserves_flags)) };
}
