//! The tests of the crate through its public interface, as one program.

mod carrier;
mod decoders;
mod detectors;
mod hostile_labels;
mod lossless;
mod lossless_noise;
#[path = "../../examples/covers/photograph/mod.rs"]
mod photograph;
mod pictures;
mod properties;
mod read;
mod read_memory;
mod write;

use std::io;

use deadpan_picture::Opened;

/// The type of the functions with which tests open the pictures of a set. All tests use this one type: otherwise the
/// compiler would compile the reader again for each function.
type Open<'o, T> = &'o (dyn Fn(&T) -> io::Result<Opened> + Sync);
