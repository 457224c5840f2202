//! What the bindings to other languages share: errors as numbers, and sealing and opening by path.
//!
//! An output gets its name when it is complete. After an error there is no output.
#![deny(unsafe_code)]

mod draft;
mod fault;
mod files;
mod folders;
mod inspect;
mod keys;
mod patient;
#[cfg(feature = "picture")]
mod pictures;

pub use deadpan_disk::cleanup::close as remove_drafts;
pub use fault::{Code, Fault};
pub use files::{open_file, seal_file};
pub use folders::{Entry, Kind, list_folder, open_folder, open_folder_part, seal_folder};
pub use inspect::inspect;
pub use keys::{private_key, public_key, public_keys};
pub use patient::open_seekable;
#[cfg(feature = "picture")]
pub use pictures::{PictureOptions, read_pictures, write_pictures};
