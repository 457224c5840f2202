//! Comparisons for equality, and comparisons with zero.

use crate::imp::word::Word;
use crate::{Choice, imp};

/// Values that can be compared for equality in a time that does not depend on the values.
pub trait CtEq {
    /// Returns *yes* if both values are equal. Slices of different lengths are not equal. The lengths are public.
    fn ct_eq(&self, other: &Self) -> Choice;

    /// Returns *yes* if the values differ.
    #[inline(always)]
    fn ct_ne(&self, other: &Self) -> Choice {
        !self.ct_eq(other)
    }

    /// Implements `ct_eq` for slices of this type. Both slices have the same length. Integers override this method with
    /// faster code.
    #[doc(hidden)]
    #[inline]
    fn ct_eq_slice(left: &[Self], right: &[Self]) -> Choice
    where
        Self: Sized,
    {
        left.iter().zip(right).fold(Choice::TRUE, |equal, (a, b)| equal & a.ct_eq(b))
    }
}

/// Values that can be compared with zero without a jump.
pub trait CtZero {
    /// Returns *yes* if every bit is zero.
    fn ct_is_zero(&self) -> Choice;

    /// Returns *yes* if any bit is set.
    #[inline(always)]
    fn ct_is_nonzero(&self) -> Choice {
        !self.ct_is_zero()
    }

    /// Implements `ct_is_zero` for slices of this type. Integers override this method with faster code.
    #[doc(hidden)]
    #[inline]
    fn ct_is_zero_slice(slice: &[Self]) -> Choice
    where
        Self: Sized,
    {
        slice.iter().fold(Choice::TRUE, |zero, item| zero & item.ct_is_zero())
    }
}

macro_rules! integers {
    ($($int:ty)*) => { $(
        impl CtEq for $int {
            #[inline(always)]
            fn ct_eq(&self, other: &Self) -> Choice {
                Choice::from_mask(self.equal(*other))
            }

            #[inline(always)]
            fn ct_ne(&self, other: &Self) -> Choice {
                Choice::from_mask(self.different(*other))
            }

            #[inline(always)]
            fn ct_eq_slice(left: &[Self], right: &[Self]) -> Choice {
                Choice::from_mask(imp::equal(imp::bytes(left), imp::bytes(right)))
            }
        }

        impl CtZero for $int {
            #[inline(always)]
            fn ct_is_zero(&self) -> Choice {
                Choice::from_mask(self.zero())
            }

            #[inline(always)]
            fn ct_is_nonzero(&self) -> Choice {
                Choice::from_mask(self.nonzero())
            }

            #[inline(always)]
            fn ct_is_zero_slice(slice: &[Self]) -> Choice {
                Choice::from_mask(imp::zero(imp::bytes(slice)))
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl CtEq for Choice {
    #[inline(always)]
    fn ct_eq(&self, other: &Self) -> Choice {
        !(*self ^ *other)
    }
}

impl<T: CtEq> CtEq for [T] {
    /// May leak: the lengths of both slices.
    #[inline(always)]
    fn ct_eq(&self, other: &Self) -> Choice {
        if self.len() != other.len() {
            return Choice::FALSE;
        }
        T::ct_eq_slice(self, other)
    }
}

impl<T: CtEq, const N: usize> CtEq for [T; N] {
    #[inline(always)]
    fn ct_eq(&self, other: &Self) -> Choice {
        T::ct_eq_slice(self, other)
    }
}

impl<T: CtZero> CtZero for [T] {
    /// May leak: the length of the slice.
    #[inline(always)]
    fn ct_is_zero(&self) -> Choice {
        T::ct_is_zero_slice(self)
    }
}

impl<T: CtZero, const N: usize> CtZero for [T; N] {
    #[inline(always)]
    fn ct_is_zero(&self) -> Choice {
        T::ct_is_zero_slice(self)
    }
}
