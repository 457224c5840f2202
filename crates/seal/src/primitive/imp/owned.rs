//! A foreign object that is always freed with the function for the object's type.

use std::ptr::NonNull;

use aws_lc_sys as ffi;

use crate::Error;

/// A foreign type with a function that frees its objects.
///
/// # Safety
/// `free` must be the function that the library defines for freeing objects of this type.
pub(super) unsafe trait Free {
    /// Frees the object. AWS-LC's allocator wipes freed memory, including secrets in it.
    ///
    /// # Safety
    /// The caller owns `object` and does not use it afterwards.
    unsafe fn free(object: *mut Self);
}

/// An object that this value owns.
pub(super) struct Owned<T: Free>(NonNull<T>);

impl<T: Free> Owned<T> {
    /// Takes ownership of a new object from the library. The library returns null if it has no memory.
    ///
    /// # Safety
    /// `object` is null, or valid and owned by the caller.
    pub(super) unsafe fn new(object: *mut T) -> Result<Self, Error> {
        NonNull::new(object).map(Self).ok_or(Error::System("no memory for cryptography"))
    }

    /// The pointer is valid until `self` is dropped.
    pub(super) fn get(&self) -> *mut T {
        self.0.as_ptr()
    }
}

impl<T: Free> Drop for Owned<T> {
    fn drop(&mut self) {
        // SAFETY: `new` requires that this value owns the object. No reference to the object remains after this value
        // is dropped.
        unsafe { T::free(self.0.as_ptr()) }
    }
}

macro_rules! freed {
    ($($type:ident by $function:ident)*) => { $(
        // SAFETY: AWS-LC's headers define this function for freeing objects of the type.
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
