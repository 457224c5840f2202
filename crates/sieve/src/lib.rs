#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod class;
mod pattern;
mod patterns;
mod rules;
mod sieve;
mod wild;

pub use pattern::Pattern;
pub use patterns::Patterns;
pub use rules::{Heed, LongList, Remark, Rules};
pub use sieve::Sieve;
