#![doc = include_str!("../README.md")]
#![no_std]

#[cfg(any(feature = "std", deadpan_test, test))]
extern crate std;

// The unit tests include the reference implementation in `tests/`, which refers to this crate by its name.
#[cfg(test)]
extern crate self as deadpan_pad;

mod divisor;
mod error;
#[cfg(not(deadpan_test))]
#[allow(unsafe_code)]
mod imp;
#[cfg(deadpan_test)]
#[allow(missing_docs)]
#[allow(unsafe_code)]
pub mod imp;
mod padding;
mod padme;
#[cfg(feature = "std")]
mod pool;
mod random;
mod scheme;
mod unpad;

pub use error::Error;
pub use padding::Padding;
pub use padme::padme;
pub use random::{Random, RandomError};
pub use scheme::Scheme;
