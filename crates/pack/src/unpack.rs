//! Unpacks an archive into a folder.
//!
//! Headers must be read in order, but files can be written in parallel. [`Unpacker::put`] reads the headers in a piece
//! of the archive, makes folders and links, and returns a [`Rest`] with the files that must still be written. Any
//! thread can complete the [`Rest`], while another thread calls [`Unpacker::put`] with the next piece.

mod file;
mod folder;
mod index;
mod ledger;
mod make;
mod only;
mod options;
mod outcome;
mod queue;
mod rest;
mod run;
mod single;
mod size;
mod trouble;
mod unpacker;
mod way;

pub use options::Unpacking;
pub use outcome::{Failure, Outcome, Progress};
pub use rest::Rest;
pub use run::unpack;
pub use unpacker::Unpacker;
