//! The engine moves data through a message. There are three ways, for one format and with the same errors.
//!
//! **Positioned** ([`file`]), where input and output are regular files: workers take batches of segments from a
//! counter. Each worker reads, seals or opens, and writes at positions that it computes itself. There is no queue, no
//! order and no hand-over, because waking a sleeping thread on another core costs more than sealing a segment. Each
//! worker has one pair of buffers.
//!
//! **Streamed** ([`stream`]), where input or output is a pipe: all workers do the same here, too. A worker holds the
//! input while it reads a unit, works on the unit alone, and holds the output when its unit is the next to be written.
//! A slow input or output makes the workers wait. Again each worker has one pair of buffers.
//!
//! **In memory** ([`memory`]), where input and output are bytes: workers take segments from one iterator, and work on
//! them in place.
//!
//! All three report the error of the first segment that fails, whichever worker found it.

mod buffer;
pub(crate) mod file;
pub(crate) mod memory;
pub(crate) mod stream;
pub(crate) mod units;

#[cfg(test)]
mod tests;

#[cfg(test)]
use buffer::count as buffers;
