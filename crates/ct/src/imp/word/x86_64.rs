//! On x86-64, a comparison stores its result in a flag, and one `cmov` turns the flag into a mask. A compiler would
//! instead make a `bool` from the flag, and would need four instructions for the mask. A selection is one `test`, and
//! one `cmov` for each register. With arithmetic instead of `test` and `cmov`, a selection needs three operations.

use core::arch::asm;

use super::Word;

/// Makes a mask from the flags that one instruction sets.
macro_rules! mask {
    ($compare:expr, $condition:literal, $class:ident, $($operand:expr),+) => {{
        let mut mask = 0_usize;
        // SAFETY: the code is a comparison and a conditional move, and changes only registers and the flags.
        unsafe {
            asm!(
                $compare,
                concat!("cmov", $condition, " {mask}, {ones}"),
                $(in($class) $operand,)+
                mask = inout(reg) mask,
                ones = in(reg) usize::MAX,
                options(pure, nomem, nostack)
            );
        }
        mask
    }};
}

/// Implements `Word` for integers. The macro takes the type, the register class, the operand modifier, the
/// conditions for "less" and for "less or equal", and the macro for selection.
macro_rules! words {
    ($($int:ty: $class:ident $modifier:literal $less:literal $less_or_equal:literal $select:ident;)*) => { $(
        impl Word for $int {
            #[inline(always)]
            fn equal(self, other: Self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, {1", $modifier, "}"), "e", $class, self, other)
            }

            #[inline(always)]
            fn different(self, other: Self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, {1", $modifier, "}"), "ne", $class, self, other)
            }

            #[inline(always)]
            fn less(self, other: Self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, {1", $modifier, "}"), $less, $class, self, other)
            }

            #[inline(always)]
            fn less_or_equal(self, other: Self) -> usize {
                mask!(concat!("cmp {0", $modifier, "}, {1", $modifier, "}"), $less_or_equal, $class, self, other)
            }

            #[inline(always)]
            fn zero(self) -> usize {
                mask!(concat!("test {0", $modifier, "}, {0", $modifier, "}"), "e", $class, self)
            }

            #[inline(always)]
            fn nonzero(self) -> usize {
                mask!(concat!("test {0", $modifier, "}, {0", $modifier, "}"), "ne", $class, self)
            }

            $select!($int, $modifier);
        }
    )* };
}

macro_rules! by_move {
    ($int:ty, $modifier:literal) => {
        #[inline(always)]
        fn select(self, other: Self, mask: usize) -> Self {
            let mut picked = other;
            // SAFETY: the code is a test and a conditional move, and changes only registers and the flags.
            unsafe {
                asm!(
                    "test {mask}, {mask}",
                    concat!("cmovnz {picked", $modifier, "}, {then", $modifier, "}"),
                    mask = in(reg) mask,
                    picked = inout(reg) picked,
                    then = in(reg) self,
                    options(pure, nomem, nostack)
                );
            }
            picked
        }
    };
}

/// Selects bytes by arithmetic in 32-bit registers, because there is no conditional move of bytes.
macro_rules! by_arithmetic {
    ($int:ty, $modifier:literal) => {
        #[inline(always)]
        fn select(self, other: Self, mask: usize) -> Self {
            other ^ ((self ^ other) & mask as $int)
        }
    };
}

words! {
    u8: reg_byte "" "b" "be" by_arithmetic;
    i8: reg_byte "" "l" "le" by_arithmetic;
    u16: reg ":x" "b" "be" by_move;
    i16: reg ":x" "l" "le" by_move;
    u32: reg ":e" "b" "be" by_move;
    i32: reg ":e" "l" "le" by_move;
    u64: reg ":r" "b" "be" by_move;
    i64: reg ":r" "l" "le" by_move;
    usize: reg ":r" "b" "be" by_move;
    isize: reg ":r" "l" "le" by_move;
}

/// Splits a number that occupies two registers: returns its lower half and its upper half.
macro_rules! halves {
    ($number:expr) => {
        ($number as u64, ($number >> 64) as u64)
    };
}

macro_rules! wide_words {
    ($($int:ty: $less:literal;)*) => { $(
        impl Word for $int {
            #[inline(always)]
            fn equal(self, other: Self) -> usize {
                (self ^ other).zero()
            }

            #[inline(always)]
            fn different(self, other: Self) -> usize {
                (self ^ other).nonzero()
            }

            #[inline(always)]
            fn less(self, other: Self) -> usize {
                let ((low, high), (other_low, other_high)) = (halves!(self), halves!(other));
                let mut mask = 0_usize;
                // SAFETY: the code is a subtraction over two registers and a conditional move. The code uses only
                // the flags of the subtraction.
                unsafe {
                    asm!(
                        "cmp {low}, {other_low}",
                        "sbb {high}, {other_high}",
                        concat!("cmov", $less, " {mask}, {ones}"),
                        mask = inout(reg) mask,
                        ones = in(reg) usize::MAX,
                        low = in(reg) low,
                        high = inout(reg) high => _,
                        other_low = in(reg) other_low,
                        other_high = in(reg) other_high,
                        options(pure, nomem, nostack)
                    );
                }
                mask
            }

            #[inline(always)]
            fn less_or_equal(self, other: Self) -> usize {
                !other.less(self)
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
                let ((then_low, then_high), (mut low, mut high)) = (halves!(self), halves!(other));
                // SAFETY: the code is a test and two conditional moves, and changes only registers and the flags.
                unsafe {
                    asm!(
                        "test {mask}, {mask}",
                        "cmovnz {low}, {then_low}",
                        "cmovnz {high}, {then_high}",
                        mask = in(reg) mask,
                        low = inout(reg) low,
                        high = inout(reg) high,
                        then_low = in(reg) then_low,
                        then_high = in(reg) then_high,
                        options(pure, nomem, nostack)
                    );
                }
                low as Self | (high as Self) << 64
            }
        }
    )* };
}

wide_words! {
    u128: "b";
    i128: "l";
}
