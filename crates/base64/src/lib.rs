//! Base64 in a time that depends on the length only, at the speed of memory.
//!
//! ```
//! use deadpan_base64::STANDARD;
//!
//! let text = STANDARD.encode(b"straight face");
//! assert_eq!(text, "c3RyYWlnaHQgZmFjZQ==");
//! assert_eq!(STANDARD.decode(text.as_bytes())?, b"straight face");
//! # Ok::<(), deadpan_base64::Error>(())
//! ```
#![no_std]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod alphabet;
mod codec;
mod error;
pub mod hex;
#[cfg(not(deadpan_test))]
#[allow(unsafe_code)]
mod imp;
#[cfg(deadpan_test)]
#[allow(missing_docs)]
#[allow(unsafe_code)]
pub mod imp;
#[cfg(feature = "alloc")]
pub mod pem;
pub mod stream;
mod symbol;

pub use alphabet::Alphabet;
pub use codec::{Base64, Padding, STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
pub use error::Error;
pub use symbol::Symbol;
