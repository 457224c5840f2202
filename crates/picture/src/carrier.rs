//! Carriers: pictures whose pixels are the bytes of the data. Users read and write a set of carriers like one file, at
//! any position and with several threads. Any position can be read and written, because each byte of the data has a
//! constant offset in its picture's file.
//!
//! ```
//! use std::fs::File;
//!
//! use deadpan_picture::carrier::{Carrier, Layout, Writer};
//! use deadpan_picture::{Format, Reader, Sets};
//!
//! # let folder = tempfile::tempdir()?;
//! let path = |index: u32| folder.path().join(format!("{index}.png"));
//! let create = |index| File::options().read(true).write(true).create(true).open(path(index));
//!
//! let writer = Writer::new(Layout::new(Format::Png, 64, 64)?, create)?;
//! writer.write_all_at(&[7; 20_000], 10_000)?;
//! writer.write_all_at(&[5; 10_000], 0)?;
//! let written = writer.finish([1; 16], 0)?;
//! assert_eq!(written.labels.len(), 3);
//!
//! let mut sets = Sets::new();
//! for index in [2, 0, 1] {
//!     let carrier = Carrier::recognize(&File::open(path(index))?)?.expect("a carrier");
//!     sets.add(carrier.label, (index, carrier));
//! }
//! let set = sets.into_sets().remove(0);
//! let reader = Reader::new(set, |(index, carrier): &(u32, Carrier)| Ok(carrier.open(File::open(path(*index))?)))?;
//! let mut bytes = [0; 8];
//! assert_eq!(reader.read_at(&mut bytes, 9_996)?, 8);
//! assert_eq!(bytes, [5, 5, 5, 5, 7, 7, 7, 7]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod layout;
mod order;
mod place;
mod png;
mod recognize;
mod sums;
mod webp;
mod writer;

pub use layout::{Layout, MOST, MOST_PICTURES};
pub use order::{Finding, SampleOrder, rewritten};
pub(crate) use place::{Buffers, read_exact};
pub use recognize::Carrier;
pub(crate) use sums::{Pieces, Sums};
pub use writer::{CarrierStream, Writer, Written};
