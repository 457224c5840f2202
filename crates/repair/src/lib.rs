#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bits;
mod check;
mod code;
mod copy;
mod error;
mod fix;
mod grid;
mod header;
mod make;
mod mark;
mod moved;
mod positions;
mod report;
mod sidecar;
mod threads;
mod whole;
mod work;

pub use error::{Error, Fault};
pub use grid::{Percent, sidecar_length};
pub use make::{MEMORY, make};
pub use positions::{Memory, ReadAt, WriteAt};
pub use report::Report;
pub use sidecar::Sidecar;
pub use work::Work;
