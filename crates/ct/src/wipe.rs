//! Wipes memory in such a way that the compiler cannot remove the writes.
//!
//! An ordinary `fill` writes the zeros, and the compiler turns it into the fastest code for the target. Then an empty
//! assembly statement takes the address, so that the compiler must assume that the statement reads the zeros. Volatile
//! writes, the usual method, write one byte at a time.

use core::fmt;
use core::ops::{Deref, DerefMut};

use crate::barrier::keep;

/// Values that can be wiped: overwritten with zeros.
pub trait Wipe {
    /// Overwrites the value with zeros. The compiler keeps the writes even if no code reads the zeros.
    ///
    /// The method does not wipe earlier copies, which a move, a `Clone`, a growing `Vec` or the registers may have
    /// left. Keep a secret in one place, and wipe that place.
    fn wipe(&mut self);
}

macro_rules! integers {
    ($($int:ty)*) => { $(
        impl Wipe for $int {
            #[inline(always)]
            fn wipe(&mut self) {
                *self = 0;
                keep(core::ptr::from_mut(self).cast());
            }
        }

        impl Wipe for [$int] {
            #[inline(always)]
            fn wipe(&mut self) {
                self.fill(0);
                keep(self.as_mut_ptr().cast());
            }
        }

        impl<const N: usize> Wipe for [$int; N] {
            #[inline(always)]
            fn wipe(&mut self) {
                self.as_mut_slice().wipe();
            }
        }
    )* };
}

integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// Wipes the vector's whole capacity, because the unused part may still hold earlier contents. Afterwards the vector is
/// empty.
#[cfg(feature = "alloc")]
impl Wipe for alloc::vec::Vec<u8> {
    fn wipe(&mut self) {
        self.clear();
        self.resize(self.capacity(), 0);
        keep(self.as_mut_ptr());
        self.clear();
    }
}

/// A value that is wiped when it goes out of scope.
///
/// ```
/// use deadpan_ct::Wiped;
///
/// let mut key = Wiped::new([0_u8; 32]);
/// key[0] = 0x5a;
/// assert_eq!(format!("{key:?}"), "Wiped(..)");
/// ```
#[derive(Clone, Default)]
pub struct Wiped<T: Wipe>(T);

impl<T: Wipe> Wiped<T> {
    /// Makes a guard that wipes `value`. The guard does not wipe the place from which `value` was moved, so create
    /// secrets inside the guard.
    #[inline(always)]
    pub const fn new(value: T) -> Self {
        Self(value)
    }
}

impl<T: Wipe> Drop for Wiped<T> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.wipe();
    }
}

impl<T: Wipe> Deref for Wiped<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Wipe> DerefMut for Wiped<T> {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T: Wipe> fmt::Debug for Wiped<T> {
    /// The debug output does not contain the secret, because logs are public.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wiped(..)")
    }
}
