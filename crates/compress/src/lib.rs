#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod compressor;
mod error;
mod expander;
mod fold;
mod foreign;
mod frame;
mod index;
mod level;
mod pieces;
mod pool;
mod room;
mod seek;
mod split;
mod table;
mod unfold;

pub use compressor::{CompressWriter, Compressor};
pub use error::Flaw;
pub use expander::{ExpandWriter, Expander};
pub use foreign::{Foreign, is_ours};
pub use frame::{FRAME, most_stored};
pub use index::{FrameExpander, Index};
pub use level::Level;
pub use pieces::{Pieces, ReadAt, Rest, read_full};
pub use seek::SeekExpander;
pub use table::Table;
