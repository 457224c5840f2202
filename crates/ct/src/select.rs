//! Selection of one of two values, without a jump.

use crate::imp::word::Word;
use crate::{Choice, CtAssign};

/// Values that a [`Choice`] can select: integers, arrays of integers, choices, pairs, and your own types.
///
/// Most code calls [`Choice::select`]. For references and slices use [`CtAssign`], which writes in place.
pub trait CtSelect: Sized {
    /// Returns `then` if `choice` is *yes*, or `otherwise` if `choice` is *no*.
    #[must_use]
    fn ct_select(choice: Choice, then: Self, otherwise: Self) -> Self;
}

macro_rules! integers {
    ($($int:ty)*) => { $(
        impl CtSelect for $int {
            #[inline(always)]
            fn ct_select(choice: Choice, then: Self, otherwise: Self) -> Self {
                then.select(otherwise, choice.mask().cast_unsigned())
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl CtSelect for Choice {
    #[inline(always)]
    fn ct_select(choice: Choice, then: Self, otherwise: Self) -> Self {
        otherwise ^ ((then ^ otherwise) & choice)
    }
}

impl<T: CtAssign, const N: usize> CtSelect for [T; N] {
    #[inline(always)]
    fn ct_select(choice: Choice, then: Self, otherwise: Self) -> Self {
        let mut picked = otherwise;
        picked.ct_assign(&then, choice);
        picked
    }
}

impl<A: CtSelect, B: CtSelect> CtSelect for (A, B) {
    #[inline(always)]
    fn ct_select(choice: Choice, then: Self, otherwise: Self) -> Self {
        (choice.select(then.0, otherwise.0), choice.select(then.1, otherwise.1))
    }
}
