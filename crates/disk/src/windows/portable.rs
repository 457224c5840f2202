//! Names as bytes.
//!
//! Archives and lists store names as bytes. On Windows, these bytes are UTF-8. Bytes that are not UTF-8 become
//! [`NO_NAME`], which no function of this crate accepts. A name with a lone surrogate has bytes too, but these bytes
//! are not UTF-8, so that a file with such a name cannot be opened by its bytes.

use std::ffi::{OsStr, OsString};

/// A text that is no name of a file.
const NO_NAME: &str = "\u{fffd}\0";

/// Names as bytes, as in `std::os::unix::ffi`.
pub trait OsStrExt {
    /// Returns the name with these bytes. Bytes that are not UTF-8 become a text that is no name of a file.
    fn from_bytes(bytes: &[u8]) -> &Self;
    /// Returns the bytes.
    fn as_bytes(&self) -> &[u8];
}

impl OsStrExt for OsStr {
    fn from_bytes(bytes: &[u8]) -> &Self {
        Self::new(str::from_utf8(bytes).unwrap_or(NO_NAME))
    }

    fn as_bytes(&self) -> &[u8] {
        self.as_encoded_bytes()
    }
}

/// Names as bytes, as in `std::os::unix::ffi`.
pub trait OsStringExt {
    /// Returns the name with these bytes. Bytes that are not UTF-8 become a text that is no name of a file.
    fn from_vec(bytes: Vec<u8>) -> Self;
    /// Returns the bytes.
    fn into_vec(self) -> Vec<u8>;
}

impl OsStringExt for OsString {
    fn from_vec(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).unwrap_or_else(|_| NO_NAME.into()).into()
    }

    fn into_vec(self) -> Vec<u8> {
        self.into_encoded_bytes()
    }
}
