//! Comparisons for order, and the sign.

use crate::imp::word::Word;
use crate::{Choice, CtEq};

/// Order without a jump. Slices and arrays compare like `Ord`: item by item from the front, the shorter one first on a
/// tie.
pub trait CtOrd: CtEq {
    /// *Yes* if `self < other`.
    fn ct_lt(&self, other: &Self) -> Choice;

    /// *Yes* if `self > other`.
    #[inline(always)]
    fn ct_gt(&self, other: &Self) -> Choice {
        other.ct_lt(self)
    }

    /// *Yes* if `self <= other`.
    #[inline(always)]
    fn ct_le(&self, other: &Self) -> Choice {
        !other.ct_lt(self)
    }

    /// *Yes* if `self >= other`.
    #[inline(always)]
    fn ct_ge(&self, other: &Self) -> Choice {
        !self.ct_lt(other)
    }

    /// Implements `ct_lt` for slices of this type. Both have the same length, and `tie` is the answer if all items are
    /// equal. Bytes override it with faster code.
    #[doc(hidden)]
    #[inline]
    fn ct_lt_slice(left: &[Self], right: &[Self], tie: Choice) -> Choice
    where
        Self: Sized,
    {
        // The loop runs from the back to the front, so that earlier items overrule later ones.
        let items = left.iter().zip(right).rev();
        items.fold(tie, |less, (a, b)| a.ct_lt(b) | (a.ct_eq(b) & less))
    }
}

/// The sign of a number, without a jump.
pub trait CtSign {
    /// *Yes* if the number is below zero.
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

/// A slice of bytes is compared as one long big-endian number, from its last word to its first.
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
    /// May leak: both lengths.
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
