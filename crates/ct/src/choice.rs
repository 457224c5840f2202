//! `Choice`: a secret condition, stored as a mask.

use core::fmt;
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use crate::CtSelect;
use crate::barrier::hide;

/// A secret condition: a mask of all ones (*yes*) or all zeros (*no*).
///
/// A choice has no `==`, no order and no conversion to `bool`, because each of them invites a jump. Combine choices
/// with `&`, `|`, `^` and `!`, and use them with [`select`](Choice::select) and [`CtAssign`](crate::CtAssign). Where
/// the answer may become public, call [`declassify`](Choice::declassify).
#[derive(Clone, Copy)]
#[must_use = "an unused choice protects nothing"]
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

    /// Makes a choice from a condition that is **not** secret, such as a comparison of lengths.
    ///
    /// To compare secrets, use [`CtEq`](crate::CtEq) and [`CtOrd`](crate::CtOrd): computing a `bool` from a secret may
    /// already take a jump.
    #[inline(always)]
    pub fn from_public(condition: bool) -> Self {
        Self::from_bit(u8::from(condition))
    }

    /// Makes a choice from the mask of a comparison in this crate. The compiler knows nothing about that mask.
    #[inline(always)]
    pub(crate) fn from_mask(mask: usize) -> Self {
        Self(mask)
    }

    /// Returns `then` if *yes*, `otherwise` if *no*. Both are read.
    #[inline(always)]
    #[must_use]
    pub fn select<T: CtSelect>(self, then: T, otherwise: T) -> T {
        T::ct_select(self, then, otherwise)
    }

    /// Returns one for *yes* and zero for *no*. The number is still secret.
    #[inline(always)]
    #[must_use]
    pub fn bit(self) -> u8 {
        (self.0 & 1) as u8
    }

    /// Returns all ones for *yes* and all zeros for *no*. The mask is still secret. A cast with sign extension widens
    /// it: `mask() as i128 as u128`.
    #[inline(always)]
    #[must_use]
    pub fn mask(self) -> isize {
        self.0.cast_signed()
    }

    /// Makes the answer public: from here on, the program may branch on it, and an observer may learn it.
    #[inline(always)]
    #[must_use]
    pub fn declassify(self) -> bool {
        declassify(self.0) != 0
    }
}

/// Marks a number computed from secrets as public from here on, and returns it.
///
/// The usual case is a decoded length. In release builds, this function does nothing. In the taint test, it tells
/// Valgrind.
#[inline(always)]
#[must_use]
pub fn declassify(value: usize) -> usize {
    #[cfg(deadpan_test)]
    let value = crate::imp::valgrind::declassify(value);
    value
}

/// Marks bytes that came with secrets, such as the label of a key file, as public from here on, and returns them.
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
    /// Does not show the answer, since logs are public.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Choice(..)")
    }
}
