//! A foreign object that is freed by its own function on every path.

use std::ptr::NonNull;

use aws_lc_sys as ffi;

use crate::Error;

/// A foreign type with a function that frees it.
///
/// # Safety
/// `free` must be the one that the library names for objects of this type.
pub(super) unsafe trait Free {
    /// Frees the object. AWS-LC's allocator wipes freed memory, including secrets in it.
    ///
    /// # Safety
    /// `object` is owned by the caller and not used afterwards.
    unsafe fn free(object: *mut Self);
}

/// An object that this value owns.
pub(super) struct Owned<T: Free>(NonNull<T>);

impl<T: Free> Owned<T> {
    /// Takes ownership of an object fresh from the library. The library gives null when it has no memory.
    ///
    /// # Safety
    /// `object` is null, or valid and owned by the caller.
    pub(super) unsafe fn new(object: *mut T) -> Result<Self, Error> {
        NonNull::new(object).map(Self).ok_or(Error::System("no memory for cryptography"))
    }

    /// Returns the pointer, for the library's functions. The pointer is valid as long as `self`.
    pub(super) fn get(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T: Free> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: `new` requires that this value owns the object. No reference to the object remains after this value.
        unsafe { T::free(self.0.as_ptr()) }
    }
}

macro_rules! freed {
    ($($type:ident by $function:ident)*) => { $(
        // SAFETY: the function that aws-lc's headers name for the type.
        unsafe impl Free for ffi::$type {
            // SAFETY: the trait states the obligations of the caller.
            unsafe fn free(object: *mut Self) {
                // SAFETY: the caller owns the object.
                unsafe { ffi::$function(object) }
            }
        }
    )* };
}

freed!(
    EVP_PKEY by EVP_PKEY_free
    EVP_PKEY_CTX by EVP_PKEY_CTX_free
    EVP_MD_CTX by EVP_MD_CTX_free
    EC_KEY by EC_KEY_free
    EC_POINT by EC_POINT_free
    BIGNUM by BN_clear_free
    RSA by RSA_free
);
