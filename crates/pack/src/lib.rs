#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod entry;
mod error;
#[allow(dead_code)] // Until packing uses it.
mod tree;

pub use entry::{Entry, Kind, Time};
pub use error::{Error, Fault, shown};

/// Archives consist of blocks of so many bytes.
pub const BLOCK: u64 = 512;
