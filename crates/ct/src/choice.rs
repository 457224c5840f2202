//! `Choice`: a secret condition, stored as a mask.

use core::fmt;
use core::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use crate::CtSelect;
use crate::barrier::hide;

/// A secret condition: a mask of all ones (*yes*) or all zeros (*no*).
///
/// A choice has no `==`, no order and no conversion to `bool`, because each of these operations can lead to a jump.
/// Combine choices with `&`, `|`, `^` and `!`, and use them with [`select`](Choice::select) and
/// [`CtAssign`](crate::CtAssign). If the condition may become public, call [`declassify`](Choice::declassify).
#[derive(Clone, Copy)]
#[must_use = "an unused choice protects nothing"]
pub struct Choice(usize);

impl Choice {
    /// The public constant *no*.
    pub const FALSE: Self = Self(0);
    /// The public constant *yes*.
    pub const TRUE: Self = Self(usize::MAX);

    /// Returns *yes* if the lowest bit of `bit` is set. Ignores the other bits.
    #[inline(always)]
    pub fn from_bit(bit: u8) -> Self {
        Self(hide(0_usize.wrapping_sub(usize::from(bit & 1))))
    }

    /// Makes a choice from a condition that is **not** secret, such as a comparison of lengths.
    ///
    /// To compare secrets, use [`CtEq`](crate::CtEq) and [`CtOrd`](crate::CtOrd): computing a `bool` from a secret may
    /// already cause a jump.
    #[inline(always)]
    pub fn from_public(condition: bool) -> Self {
        Self::from_bit(u8::from(condition))
    }

    /// Makes a choice from a mask that a comparison in this crate computed. The compiler knows nothing about the value
    /// of the mask.
    #[inline(always)]
    pub(crate) fn from_mask(mask: usize) -> Self {
        Self(mask)
    }

    /// Returns `then` if the choice is *yes*, or `otherwise` if the choice is *no*. Reads both values.
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

    /// Returns all ones for *yes* and all zeros for *no*. The mask is still secret. A cast with sign extension makes
    /// the mask wider: `mask() as i128 as u128`.
    #[inline(always)]
    #[must_use]
    pub fn mask(self) -> isize {
        self.0.cast_signed()
    }

    /// Makes the condition public. After this call, the program may branch on the condition, and an observer may learn
    /// whether it is true.
    #[inline(always)]
    #[must_use]
    pub fn declassify(self) -> bool {
        declassify(self.0) != 0
    }
}

/// Returns a number that was computed from secrets, and marks it as public.
///
/// The usual case is a decoded length. In release builds, this function only returns the number. In the taint test, it
/// reports to Valgrind that the number is public.
#[inline(always)]
#[must_use]
pub fn declassify(value: usize) -> usize {
    #[cfg(deadpan_test)]
    let value = crate::imp::valgrind::declassify(value);
    value
}

/// Returns bytes that were stored together with secrets, such as the label of a key file, and marks these bytes as
/// public.
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
    /// The debug output does not contain the condition, because logs are public.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Choice(..)")
    }
}
