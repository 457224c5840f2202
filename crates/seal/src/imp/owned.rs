//! A foreign object that is freed with its own function, on every path.

use crate::Error;
use aws_lc_sys as ffi;
use std::ptr::NonNull;

/// A foreign type with a function that frees it.
///
/// # Safety
/// `free` must be the one that the library names for objects of this type.
pub(super) unsafe trait Free {
    /// Frees the object. aws-lc's allocator wipes what it takes back, so secrets inside are gone.
    ///
    /// # Safety
    /// `object` is owned by the caller and not used afterwards.
    unsafe fn free(object: *mut Self);
}

/// An object that is ours to free.
pub(super) struct Owned<T: Free>(NonNull<T>);

impl<T: Free> Owned<T> {
    /// Takes charge of an object fresh from the library, which gives null when it has no memory.
    ///
    /// # Safety
    /// `object` is null, or valid and nobody else's to free.
    pub(super) unsafe fn new(object: *mut T) -> Result<Self, Error> {
        NonNull::new(object).map(Self).ok_or(Error::System("no memory for cryptography"))
    }

    /// For the library's functions. It stays valid as long as `self`.
    pub(super) fn get(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T: Free> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: `new` was promised that the object is ours, and it cannot be named any more.
        unsafe { T::free(self.0.as_ptr()) }
    }
}

macro_rules! freed {
    ($($type:ident by $function:ident)*) => { $(
        // SAFETY: the function that aws-lc's headers name for the type.
        unsafe impl Free for ffi::$type {
            // SAFETY: the trait says what the caller owes.
            unsafe fn free(object: *mut Self) {
                // SAFETY: the caller owns the object.
                unsafe { ffi::$function(object) }
            }
        }
    )* };
}

freed!(EVP_PKEY by EVP_PKEY_free EVP_PKEY_CTX by EVP_PKEY_CTX_free EC_KEY by EC_KEY_free EC_POINT by EC_POINT_free BIGNUM by BN_clear_free);
