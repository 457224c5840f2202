#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod adler;
pub mod analysis;
pub mod carrier;
mod crc;
mod error;
mod format;
mod label;
mod open_files;
mod pixels;
mod position;
mod read;
mod reader;
mod set;
pub mod spare;
pub mod template;
mod threads;
mod write;

pub use error::Error;
pub use format::{FileFormat, Format};
pub use label::{LABEL, Label, checksum};
pub use pixels::{Channels, Pixels};
pub use read::{Decoded, Header, Limits, Note, Orientation, probe, read, read_into};
pub use reader::{Damage, Digest, Opened, Reader};
pub use set::{Set, Sets};
pub use write::{Compression, is_readable, write};
