//! Wiping memory in a way that the compiler cannot drop.
//!
//! The zeros are written by an ordinary fill, which becomes the target's fastest one; then an empty assembly statement takes the address,
//! so that the compiler must assume that somebody reads the zeros. Volatile writes, the usual way, go byte by byte.

use crate::barrier::keep;
use core::fmt;
use core::ops::{Deref, DerefMut};

/// Memory that can be set to zero for good.
pub trait Wipe {
    /// Overwrites the value with zeros; the compiler keeps the writes even if nothing reads them.
    ///
    /// Copies that were made before (by a move, a `Clone`, a growing `Vec`, the registers) are out of its reach: keep a secret in one
    /// place, and wipe that.
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

/// All that the vector has room for, which may hold more than it does now. Afterwards it is empty.
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
    /// Takes charge of `value`. The place it came from keeps its copy: build secrets inside.
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
    /// Never shows the secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wiped(..)")
    }
}
