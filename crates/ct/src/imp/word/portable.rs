//! Computes masks by arithmetic on bits, without a comparison. For a number in two registers, compilers would turn
//! a comparison into a jump.

use super::Word;
use crate::barrier::hide;

macro_rules! words {
    ($($int:ty, $signed:ty;)*) => { $(
        impl Word for $int {
            #[inline(always)]
            fn equal(self, other: Self) -> usize {
                (self ^ other).zero()
            }

            #[inline(always)]
            fn different(self, other: Self) -> usize {
                !self.equal(other)
            }

            #[inline(always)]
            fn less(self, other: Self) -> usize {
                // The top bit of `borrow` is the borrow of the subtraction `self - other`.
                let borrow = (!self & other) | (!(self ^ other) & self.wrapping_sub(other));
                hide(0_usize.wrapping_sub((borrow >> (Self::BITS - 1)) as usize))
            }

            #[inline(always)]
            fn less_or_equal(self, other: Self) -> usize {
                !other.less(self)
            }

            #[inline(always)]
            fn zero(self) -> usize {
                // If a number is not zero, the top bit of the number or of its negative is set.
                let nonzero = (self | self.wrapping_neg()) >> (Self::BITS - 1);
                !hide(0_usize.wrapping_sub(nonzero as usize))
            }

            #[inline(always)]
            fn nonzero(self) -> usize {
                !self.zero()
            }

            #[inline(always)]
            fn select(self, other: Self, mask: usize) -> Self {
                other ^ ((self ^ other) & mask.cast_signed() as Self)
            }
        }

        impl Word for $signed {
            #[inline(always)]
            fn equal(self, other: Self) -> usize {
                self.cast_unsigned().equal(other.cast_unsigned())
            }

            #[inline(always)]
            fn different(self, other: Self) -> usize {
                self.cast_unsigned().different(other.cast_unsigned())
            }

            #[inline(always)]
            fn less(self, other: Self) -> usize {
                // After the top bit is inverted, signed numbers have the same order as unsigned numbers.
                (self ^ Self::MIN).cast_unsigned().less((other ^ Self::MIN).cast_unsigned())
            }

            #[inline(always)]
            fn less_or_equal(self, other: Self) -> usize {
                !other.less(self)
            }

            #[inline(always)]
            fn zero(self) -> usize {
                self.cast_unsigned().zero()
            }

            #[inline(always)]
            fn nonzero(self) -> usize {
                self.cast_unsigned().nonzero()
            }

            #[inline(always)]
            fn select(self, other: Self, mask: usize) -> Self {
                self.cast_unsigned().select(other.cast_unsigned(), mask).cast_signed()
            }
        }
    )* };
}

words! {
    u8, i8;
    u16, i16;
    u32, i32;
    u64, i64;
    u128, i128;
    usize, isize;
}
