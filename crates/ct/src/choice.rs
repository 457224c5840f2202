//! `Choice`: a secret yes or no, carried as a mask.

use crate::CtSelect;
use crate::barrier::hide;
use core::fmt;
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

/// A secret yes or no: a register full of ones or of zeros.
///
/// It has no `==`, no order and no conversion to `bool`, because each of those invites a jump. Combine choices with `&`, `|`, `^` and
/// `!`, spend them with [`select`](Choice::select) and [`CtAssign`](crate::CtAssign), and when the answer may become public, say so with
/// [`declassify`](Choice::declassify).
#[derive(Clone, Copy)]
#[must_use = "a choice that nothing is done with protects nothing"]
pub struct Choice(usize);

impl Choice {
    /// The public constant *no*.
    pub const FALSE: Self = Self(0);
    /// The public constant *yes*.
    pub const TRUE: Self = Self(usize::MAX);

    /// *Yes* if the lowest bit of `bit` is set; the other bits are ignored.
    #[inline(always)]
    pub fn from_bit(bit: u8) -> Self {
        Self(hide(0_usize.wrapping_sub(usize::from(bit & 1))))
    }

    /// A choice from a condition that is **not** secret, such as a comparison of lengths.
    ///
    /// To compare secrets use [`CtEq`](crate::CtEq) and [`CtOrd`](crate::CtOrd): a `bool` made from a secret may already have been a jump.
    #[inline(always)]
    pub fn from_public(condition: bool) -> Self {
        Self::from_bit(u8::from(condition))
    }

    /// A choice from a comparison inside this crate, which made a mask that the compiler knows nothing about.
    #[inline(always)]
    pub(crate) fn from_mask(mask: usize) -> Self {
        Self(mask)
    }

    /// `then` if *yes*, `otherwise` if *no*. Both are read.
    #[inline(always)]
    #[must_use]
    pub fn select<T: CtSelect>(self, then: T, otherwise: T) -> T {
        T::ct_select(self, then, otherwise)
    }

    /// One for *yes* and zero for *no*: still secret.
    #[inline(always)]
    #[must_use]
    pub fn bit(self) -> u8 {
        (self.0 & 1) as u8
    }

    /// All ones for *yes* and all zeros for *no*: still secret. Casts keep the shape: `mask() as i128 as u128` is a wider mask.
    #[inline(always)]
    #[must_use]
    pub fn mask(self) -> isize {
        self.0.cast_signed()
    }

    /// The answer, made public: from here on the program may branch on it, and an observer may learn it.
    #[inline(always)]
    #[must_use]
    pub fn declassify(self) -> bool {
        declassify(self.0) != 0
    }
}

/// Says in the source that a number computed from secrets is public from here on, and returns it.
///
/// A decoded length is the usual case. In release builds this is nothing at all; under the taint test it tells Valgrind.
#[inline(always)]
#[must_use]
pub fn declassify(value: usize) -> usize {
    #[cfg(deadpan_test)]
    let value = crate::imp::valgrind::declassify(value);
    value
}

/// Says in the source that bytes which came with secrets, such as the label of a key file, are public from here on, and returns them.
#[inline(always)]
#[must_use]
pub fn declassify_bytes(bytes: &[u8]) -> &[u8] {
    #[cfg(deadpan_test)]
    crate::imp::valgrind::unpoison(bytes);
    bytes
}

impl Not for Choice {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl BitAnd for Choice {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Choice {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitXor for Choice {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        Self(self.0 ^ other.0)
    }
}

impl BitAndAssign for Choice {
    #[inline(always)]
    fn bitand_assign(&mut self, other: Self) {
        *self = *self & other;
    }
}

impl BitOrAssign for Choice {
    #[inline(always)]
    fn bitor_assign(&mut self, other: Self) {
        *self = *self | other;
    }
}

impl BitXorAssign for Choice {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Self) {
        *self = *self ^ other;
    }
}

impl fmt::Debug for Choice {
    /// Never shows the answer: logs are public.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Choice(..)")
    }
}
