#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod connect;
mod draft;
mod error;
mod file;
mod folder;
mod inspect;
mod keys;
mod options;
mod patient;

use std::fs::File;

use deadpan_seal::{Cursor, RangeReader};

pub use connect::{PackSource, UnpackSink};
pub use deadpan_disk::cleanup::close as remove_drafts;
pub use deadpan_pack::{Contents, Entry, Kind, Notes};
pub use draft::DraftFile;
pub use error::Error;
pub use file::{open_file, open_reader, seal_file};
pub use folder::{list_folder, open_folder, open_folder_part, seal_folder, seal_folder_part};
pub use inspect::{Description, inspect};
pub use keys::{key_text, private_key, public_key, public_keys, read_private_key, read_public_keys};
pub use options::Options;
pub use patient::open_seekable;

/// A reader that can seek in the data of a sealed file.
pub type DataReader = RangeReader<Cursor<File>>;
