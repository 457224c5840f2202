#![doc = include_str!("../README.md")]

mod act;
mod budget;
mod buffers;
mod clock;
mod error;
mod filter;
mod gone;
mod job;
mod listing;
mod long;
mod maker;
mod manifest;
mod page;
mod place;
mod run;
mod shard;
mod source;
mod stamp;
mod state;
mod tree;

pub use act::{Act, Divided, Landing, Results};
pub use error::{Error, Foreign};
pub use filter::Filter;
pub use gone::{Gone, Removal};
pub use job::{Job, JobKey, STATE, refuse_state};
pub use listing::Listing;
pub use place::Place;
pub use run::{LeftOut, Observer, Outcome, Pair, Run};
pub use shard::Shard;
pub use source::{About, Spot};
pub use stamp::{Stamp, StampKey};
pub use state::{Cleaned, Progress, States};
pub use tree::{Tree, TreeFile};

pub use deadpan_sieve::{Pattern, Patterns, Rules};
