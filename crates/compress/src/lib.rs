#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod compressor;
mod error;
mod expander;
mod fill;
mod fold;
mod frame;
mod level;
mod pool;
mod room;
mod seek;
mod split;
mod table;
mod unfold;

pub use compressor::{CompressWriter, Compressor};
pub use error::Flaw;
pub use expander::{ExpandWriter, Expander};
pub use frame::{FRAME, most_stored};
pub use level::Level;
pub use seek::SeekExpander;
pub use table::Table;
