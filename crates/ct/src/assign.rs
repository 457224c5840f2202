//! Conditional writes without a jump. The code writes to the memory whether or not the condition is true.

use crate::{Choice, imp};

/// Values that can be overwritten or swapped in place, depending on a secret condition.
pub trait CtAssign {
    /// Copies `source` over `self` if `choice` is *yes*.
    ///
    /// # Panics
    /// If two slices differ in length. Lengths are public.
    fn ct_assign(&mut self, source: &Self, choice: Choice);

    /// Swaps `self` and `other` if `choice` is *yes*.
    ///
    /// # Panics
    /// If two slices differ in length. Lengths are public.
    fn ct_swap(&mut self, other: &mut Self, choice: Choice);

    /// Implements `ct_assign` for slices of this type. Both slices have the same length. Integers override this method
    /// with faster code. If `KNOWN` is set, the compiler knows the length of the slices and makes even faster code.
    #[doc(hidden)]
    #[inline]
    fn ct_assign_slice<const KNOWN: bool>(target: &mut [Self], source: &[Self], choice: Choice)
    where
        Self: Sized,
    {
        for (to, from) in target.iter_mut().zip(source) {
            to.ct_assign(from, choice);
        }
    }

    /// Implements `ct_swap` for slices of this type. Both slices have the same length. Integers override this method
    /// with faster code. If `KNOWN` is set, the compiler knows the length of the slices and makes even faster code.
    #[doc(hidden)]
    #[inline]
    fn ct_swap_slice<const KNOWN: bool>(left: &mut [Self], right: &mut [Self], choice: Choice)
    where
        Self: Sized,
    {
        for (a, b) in left.iter_mut().zip(right) {
            a.ct_swap(b, choice);
        }
    }
}

macro_rules! integers {
    ($($int:ty)*) => { $(
        impl CtAssign for $int {
            #[inline(always)]
            fn ct_assign(&mut self, source: &Self, choice: Choice) {
                *self = choice.select(*source, *self);
            }

            #[inline(always)]
            fn ct_swap(&mut self, other: &mut Self, choice: Choice) {
                let difference = (*self ^ *other) & choice.mask() as $int;
                *self ^= difference;
                *other ^= difference;
            }

            #[inline(always)]
            fn ct_assign_slice<const KNOWN: bool>(target: &mut [Self], source: &[Self], choice: Choice) {
                imp::assign::<KNOWN>(imp::bytes_mut(target), imp::bytes(source), choice.mask() as u64);
            }

            #[inline(always)]
            fn ct_swap_slice<const KNOWN: bool>(left: &mut [Self], right: &mut [Self], choice: Choice) {
                imp::swap::<KNOWN>(imp::bytes_mut(left), imp::bytes_mut(right), choice.mask() as u64);
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

impl CtAssign for Choice {
    #[inline(always)]
    fn ct_assign(&mut self, source: &Self, choice: Choice) {
        *self = choice.select(*source, *self);
    }

    #[inline(always)]
    fn ct_swap(&mut self, other: &mut Self, choice: Choice) {
        let difference = (*self ^ *other) & choice;
        *self ^= difference;
        *other ^= difference;
    }
}

impl<T: CtAssign> CtAssign for [T] {
    /// May leak: the length of the slice.
    #[inline(always)]
    #[track_caller]
    fn ct_assign(&mut self, source: &Self, choice: Choice) {
        assert_eq!(self.len(), source.len(), "slices to assign differ in length");
        T::ct_assign_slice::<false>(self, source, choice);
    }

    /// May leak: the length of the slice.
    #[inline(always)]
    #[track_caller]
    fn ct_swap(&mut self, other: &mut Self, choice: Choice) {
        assert_eq!(self.len(), other.len(), "slices to swap differ in length");
        T::ct_swap_slice::<false>(self, other, choice);
    }
}

impl<T: CtAssign, const N: usize> CtAssign for [T; N] {
    #[inline(always)]
    fn ct_assign(&mut self, source: &Self, choice: Choice) {
        T::ct_assign_slice::<true>(self, source, choice);
    }

    #[inline(always)]
    fn ct_swap(&mut self, other: &mut Self, choice: Choice) {
        T::ct_swap_slice::<true>(self, other, choice);
    }
}

impl<A: CtAssign, B: CtAssign> CtAssign for (A, B) {
    #[inline(always)]
    fn ct_assign(&mut self, source: &Self, choice: Choice) {
        self.0.ct_assign(&source.0, choice);
        self.1.ct_assign(&source.1, choice);
    }

    #[inline(always)]
    fn ct_swap(&mut self, other: &mut Self, choice: Choice) {
        self.0.ct_swap(&mut other.0, choice);
        self.1.ct_swap(&mut other.1, choice);
    }
}
