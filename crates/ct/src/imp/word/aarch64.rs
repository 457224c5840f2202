//! On AArch64, a comparison stores its result in the flags, and one `csetm` turns the flags into a mask. A selection is
//! one comparison of the mask with zero, and one `csel` for each register.
//!
//! Only registers of 32 and of 64 bits can be compared. Shorter numbers are extended, and the extension is usually part
//! of the load. Numbers of 128 bits take two registers, and the second comparison continues the first.

use core::arch::asm;

use super::Word;

/// Makes a mask from the flags that a comparison sets.
macro_rules! mask {
    ($($compare:expr),+; $condition:literal; $($operand:expr),+) => {{
        let mask: usize;
        // SAFETY: the code is a comparison and a conditional set, and changes only registers and the flags. The mask is
        // written last, so it can take the register of an operand.
        unsafe {
            asm!(
                $($compare,)+
                concat!("csetm {mask}, ", $condition),
                $(in(reg) $operand,)+
                mask = lateout(reg) mask,
                options(pure, nomem, nostack)
            );
        }
        mask
    }};
}

/// Implements `Word` for integers that fill a register. The macro takes the type, the operand modifier, and the
/// conditions for "less" and for "less or equal".
macro_rules! words {
    ($($int:ty: $modifier:literal $less:literal $less_or_equal:literal;)*) => { $(
        impl Word for $int {
            #[inline(always)]
            fn equal(self, other: Self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, {1", $modifier, "}"); "eq"; self, other)
            }

            #[inline(always)]
            fn different(self, other: Self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, {1", $modifier, "}"); "ne"; self, other)
            }

            #[inline(always)]
            fn less(self, other: Self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, {1", $modifier, "}"); $less; self, other)
            }

            #[inline(always)]
            fn less_or_equal(self, other: Self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, {1", $modifier, "}"); $less_or_equal; self, other)
            }

            #[inline(always)]
            fn zero(self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, #0"); "eq"; self)
            }

            #[inline(always)]
            fn nonzero(self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, #0"); "ne"; self)
            }

            #[inline(always)]
            fn select(self, other: Self, mask: usize) -> Self {
                let picked: Self;
                // SAFETY: the code is a comparison and a conditional selection, and changes only registers and the
                // flags. The result is written last, so it can take the register of an operand.
                unsafe {
                    asm!(
                        "cmp {mask}, #0",
                        concat!("csel {picked", $modifier, "}, {then", $modifier, "}, {other", $modifier, "}, ne"),
                        mask = in(reg) mask,
                        then = in(reg) self,
                        other = in(reg) other,
                        picked = lateout(reg) picked,
                        options(pure, nomem, nostack)
                    );
                }
                picked
            }
        }
    )* };
}

words! {
    u32: ":w" "lo" "ls";
    i32: ":w" "lt" "le";
    u64: ":x" "lo" "ls";
    i64: ":x" "lt" "le";
    usize: ":x" "lo" "ls";
    isize: ":x" "lt" "le";
}

/// Implements `Word` for integers that are extended to 32 bits.
macro_rules! short_words {
    ($($int:ty: $wide:ty;)*) => { $(
        impl Word for $int {
            #[inline(always)]
            fn equal(self, other: Self) -> usize {
                <$wide>::from(self).equal(other.into())
            }

            #[inline(always)]
            fn different(self, other: Self) -> usize {
                <$wide>::from(self).different(other.into())
            }

            #[inline(always)]
            fn less(self, other: Self) -> usize {
                <$wide>::from(self).less(other.into())
            }

            #[inline(always)]
            fn less_or_equal(self, other: Self) -> usize {
                <$wide>::from(self).less_or_equal(other.into())
            }

            #[inline(always)]
            fn zero(self) -> usize {
                <$wide>::from(self).zero()
            }

            #[inline(always)]
            fn nonzero(self) -> usize {
                <$wide>::from(self).nonzero()
            }

            #[inline(always)]
            fn select(self, other: Self, mask: usize) -> Self {
                <$wide>::from(self).select(other.into(), mask) as Self
            }
        }
    )* };
}

short_words! {
    u8: u32;
    i8: i32;
    u16: u32;
    i16: i32;
}

/// Splits a number that occupies two registers: returns its lower half and its upper half.
macro_rules! halves {
    ($number:expr) => {
        ($number as u64, ($number >> 64) as u64)
    };
}

/// Implements `Word` for integers that occupy two registers. The macro takes the type and the condition for "less".
macro_rules! wide_words {
    ($($int:ty: $less:literal $at_least:literal;)*) => { $(
        impl Word for $int {
            #[inline(always)]
            fn equal(self, other: Self) -> usize {
                let ((low, high), (other_low, other_high)) = (halves!(self), halves!(other));
                // If the lower halves differ, `ccmp` sets the flags to zero, which means "not equal".
                mask!("cmp {0}, {2}", "ccmp {1}, {3}, #0, eq"; "eq"; low, high, other_low, other_high)
            }

            #[inline(always)]
            fn different(self, other: Self) -> usize {
                let ((low, high), (other_low, other_high)) = (halves!(self), halves!(other));
                mask!("cmp {0}, {2}", "ccmp {1}, {3}, #0, eq"; "ne"; low, high, other_low, other_high)
            }

            #[inline(always)]
            fn less(self, other: Self) -> usize {
                let ((low, high), (other_low, other_high)) = (halves!(self), halves!(other));
                mask!("cmp {0}, {2}", "sbcs xzr, {1}, {3}"; $less; low, high, other_low, other_high)
            }

            #[inline(always)]
            fn less_or_equal(self, other: Self) -> usize {
                let ((low, high), (other_low, other_high)) = (halves!(other), halves!(self));
                mask!("cmp {0}, {2}", "sbcs xzr, {1}, {3}"; $at_least; low, high, other_low, other_high)
            }

            #[inline(always)]
            fn zero(self) -> usize {
                let (low, high) = halves!(self);
                (low | high).zero()
            }

            #[inline(always)]
            fn nonzero(self) -> usize {
                let (low, high) = halves!(self);
                (low | high).nonzero()
            }

            #[inline(always)]
            fn select(self, other: Self, mask: usize) -> Self {
                let ((then_low, then_high), (other_low, other_high)) = (halves!(self), halves!(other));
                let (low, high): (u64, u64);
                // SAFETY: the code is a comparison and two conditional selections, and changes only registers and the
                // flags. The first result is written before the last operands are read, so it has a register of its
                // own.
                unsafe {
                    asm!(
                        "cmp {mask}, #0",
                        "csel {low}, {then_low}, {other_low}, ne",
                        "csel {high}, {then_high}, {other_high}, ne",
                        mask = in(reg) mask,
                        then_low = in(reg) then_low,
                        other_low = in(reg) other_low,
                        then_high = in(reg) then_high,
                        other_high = in(reg) other_high,
                        low = out(reg) low,
                        high = lateout(reg) high,
                        options(pure, nomem, nostack)
                    );
                }
                low as Self | (high as Self) << 64
            }
        }
    )* };
}

wide_words! {
    u128: "lo" "hs";
    i128: "lt" "ge";
}
