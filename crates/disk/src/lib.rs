#![doc = include_str!("../README.md")]
#![deny(unsafe_code)]

mod about;
pub mod cleanup;
mod clear;
mod copy;
mod draft;
mod draft_folder;
mod erase;
mod error;
mod folder;
mod handle;
mod holes;
mod input;
mod keep;
pub mod names;
pub mod portable;
mod set;
mod sweep;
mod sync;
#[cfg(unix)]
mod unix;
mod walk;
mod way;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

pub use about::{About, FileId, FileKind};
pub use clear::clear;
pub use copy::copy_range;
pub use draft::{Attributes, Draft, Landing, Replace, scratch_in};
pub use draft_folder::DraftFolder;
pub use erase::overwrite;
pub use error::{Error, Exchanged, Step, Unkept};
pub use folder::{Folder, nearest, parent, trimmed};
pub use handle::{ACCESS_LIST, Attribute, Handle, Locked};
pub use holes::{next_data, write_sparse};
pub use input::{Found, Input, OpenMode, Spot};
pub use keep::keep;
pub use set::{Left, SetError, land_set};
pub use sweep::sweep;
pub use sync::{sync_data, sync_file};
pub use system::Errno;
#[cfg(target_os = "linux")]
pub use system::mount::{Mount, NewMount};
pub use system::special::{append_to, open_special};
#[cfg(windows)]
pub use system::user::is_open_to_others;
pub use system::user::{allow_many_files, is_root, most_open_files, umask};
pub use walk::{Listing, Node, Start, Walk, WalkStep};
pub use way::{Planted, Way};

#[cfg(all(test, unix))]
mod tests;
