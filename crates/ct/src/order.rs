//! Comparisons for order, and the sign of numbers.

use crate::imp::word::Word;
use crate::{Choice, CtEq};

/// Values that can be compared for order without a jump. Slices and arrays are compared as in `Ord`: item by item from
/// the front. If one slice is a prefix of the other slice, the shorter slice comes first.
pub trait CtOrd: CtEq {
    /// Returns *yes* if `self < other`.
    fn ct_lt(&self, other: &Self) -> Choice;

    /// Returns *yes* if `self > other`.
    #[inline(always)]
    fn ct_gt(&self, other: &Self) -> Choice {
        other.ct_lt(self)
    }

    /// Returns *yes* if `self <= other`.
    #[inline(always)]
    fn ct_le(&self, other: &Self) -> Choice {
        !other.ct_lt(self)
    }

    /// Returns *yes* if `self >= other`.
    #[inline(always)]
    fn ct_ge(&self, other: &Self) -> Choice {
        !self.ct_lt(other)
    }

    /// Implements `ct_lt` for slices of this type. Both slices have the same length, and `tie` is the result if all
    /// items are equal. Bytes override this method with faster code.
    #[doc(hidden)]
    #[inline]
    fn ct_lt_slice(left: &[Self], right: &[Self], tie: Choice) -> Choice
    where
        Self: Sized,
    {
        // The loop runs from the back to the front, so that earlier items overrule later items.
        let items = left.iter().zip(right).rev();
        items.fold(tie, |less, (a, b)| a.ct_lt(b) | (a.ct_eq(b) & less))
    }
}

/// Numbers whose sign can be determined without a jump.
pub trait CtSign {
    /// Returns *yes* if the number is below zero.
    fn ct_is_negative(&self) -> Choice;
}

macro_rules! integers {
    ($($int:ty $({ $($slice:tt)* })?;)*) => { $(
        impl CtOrd for $int {
            #[inline(always)]
            fn ct_lt(&self, other: &Self) -> Choice {
                Choice::from_mask(self.less(*other))
            }

            #[inline(always)]
            fn ct_le(&self, other: &Self) -> Choice {
                Choice::from_mask(self.less_or_equal(*other))
            }

            #[inline(always)]
            fn ct_ge(&self, other: &Self) -> Choice {
                Choice::from_mask(other.less_or_equal(*self))
            }

            $($($slice)*)?
        }
    )* };
}

integers! {
    u8 {
        #[inline]
        fn ct_lt_slice(left: &[Self], right: &[Self], tie: Choice) -> Choice {
            less_bytes(left, right, tie)
        }
    };
    u16; u32; u64; u128; usize;
    i8; i16; i32; i64; i128; isize;
}

/// Compares two slices of bytes as long big-endian numbers, from the last word to the first word.
fn less_bytes(left: &[u8], right: &[u8], tie: Choice) -> Choice {
    let (left_head, left_words) = left.as_rchunks::<8>();
    let (right_head, right_words) = right.as_rchunks::<8>();
    let words = left_words.iter().zip(right_words).rev();
    let words = words.map(|(a, b)| (u64::from_be_bytes(*a), u64::from_be_bytes(*b)));
    let head = left_head.iter().zip(right_head).rev();
    let head = head.map(|(a, b)| (u64::from(*a), u64::from(*b)));
    words.chain(head).fold(tie, |less, (a, b)| a.ct_lt(&b) | (a.ct_eq(&b) & less))
}

macro_rules! signed {
    ($($int:ty)*) => { $(
        impl CtSign for $int {
            #[inline(always)]
            fn ct_is_negative(&self) -> Choice {
                Choice::from_mask(self.less(0))
            }
        }
    )* };
}

signed!(i8 i16 i32 i64 i128 isize);

impl<T: CtOrd> CtOrd for [T] {
    /// May leak: the lengths of both slices.
    #[inline(always)]
    fn ct_lt(&self, other: &Self) -> Choice {
        let common = self.len().min(other.len());
        let tie = Choice::from_public(self.len() < other.len());
        T::ct_lt_slice(&self[..common], &other[..common], tie)
    }
}

impl<T: CtOrd, const N: usize> CtOrd for [T; N] {
    #[inline(always)]
    fn ct_lt(&self, other: &Self) -> Choice {
        T::ct_lt_slice(self, other, Choice::FALSE)
    }
}
