#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(test, feature = "std"))]
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
