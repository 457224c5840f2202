//! The code that the bindings to other languages share: `deadpan-files` with errors as numbers, descriptions as JSON,
//! data in pictures, and recovery data.
#![deny(unsafe_code)]

mod entries;
mod fault;
mod inspect;
mod paths;
#[cfg(feature = "picture")]
mod pictures;
#[cfg(feature = "repair")]
mod repair;

/// Returns what tells a regular file apart from others, or `None` if the file is no regular file.
#[must_use]
pub fn file_id(file: &std::fs::File) -> Option<deadpan_disk::FileId> {
    deadpan_disk::About::of_file(file).ok().filter(deadpan_disk::About::is_file).map(|about| about.id)
}

pub use deadpan_disk::portable::OsStringExt;
pub use deadpan_files::{Entry, Kind, remove_drafts};
pub use deadpan_pack::{FileReader, Pattern};
pub use entries::{contents, each_entry, file_in};
pub use fault::{Code, Fault};
pub use inspect::inspect;
pub use paths::{
    list_folder, open_file, open_folder, open_folder_part, open_seekable, pattern, private_key, public_key,
    public_keys, seal_file, seal_folder,
};
#[cfg(feature = "picture")]
pub use pictures::{PictureOptions, read_pictures, write_pictures};
#[cfg(feature = "repair")]
pub use repair::{Damage, repair_check, repair_fix, repair_make, sidecar_of};
