#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod engine;
mod entry;
mod error;
mod index;
mod note;
mod pack;
mod tar;
mod tree;
mod walk;
mod work;

pub use engine::pack;
pub use entry::{Entry, Kind, Time};
pub use error::{Error, Fault, shown};
pub use note::{Note, Notes, What};
pub use pack::{Job, Options, Packer};
pub use work::Work;

/// Archives consist of blocks of so many bytes.
pub const BLOCK: u64 = 512;
