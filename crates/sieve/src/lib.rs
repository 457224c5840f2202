#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod class;
mod pattern;
mod patterns;
mod wild;

pub use pattern::Pattern;
pub use patterns::Patterns;
