#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod block;
mod check;
mod compare;
mod contents;
mod engine;
mod entry;
mod error;
mod excerpt;
mod file_reader;
mod frame;
mod implied;
mod index;
mod names;
mod note;
mod pack;
mod path;
mod scan;
mod select;
mod shown;
mod stale;
mod tar;
mod tree;
mod unpack;
mod walk;
mod work;

pub use block::BLOCK;
pub use compare::{Comparison, Difference, Differs};
pub use contents::{Contents, Entries, Piece};
pub use deadpan_disk::{FileId, Folder, Listing, Start};
pub use deadpan_sieve::{LongList, Pattern, Patterns, Rules, Sieve};
pub use engine::pack;
pub use entry::{Entry, Kind, Time};
pub use error::{Action, Change, Error, Fault, Flaw, Refusal, Special};
pub use excerpt::{Excerpt, LeftOut};
pub use file_reader::FileReader;
pub use implied::most_implied;
pub use note::{Note, Notes, What};
pub use pack::{Job, OutputPlace, Packer, Packing};
pub use path::is_under;
pub use scan::{Listed, Scan, is_archive, is_damaged};
pub use select::{Chosen, Filter, Pick, Picks, Selection};
pub use shown::{is_plain, shown, shown_path};
pub use stale::index_is_stale;
pub use unpack::{Failure, Outcome, Progress, Rest, Unpacker, Unpacking, unpack};
pub use work::Work;
