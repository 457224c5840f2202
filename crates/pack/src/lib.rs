#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod contents;
mod engine;
mod entry;
mod error;
mod excerpt;
mod glob;
mod index;
mod names;
mod note;
mod pack;
mod path;
mod scan;
mod select;
mod tar;
mod tree;
mod unpack;
mod walk;
mod work;

pub use contents::{Contents, Entries};
pub use engine::pack;
pub use entry::{Entry, Kind, Time};
pub use error::{Error, Fault, shown};
pub use excerpt::Excerpt;
pub use note::{Note, Notes, What};
pub use pack::{Job, Options as Packing, Packer};
pub use scan::{Listed, Scan, is_archive};
pub use select::{Chosen, Filter, Pick, Picks, Selection};
pub use unpack::{Drafts, Failure, Options as Unpacking, Outcome, Progress, Rest, Unpacker, unpack};
pub use work::Work;

/// Archives consist of blocks of so many bytes.
pub const BLOCK: u64 = 512;
