//! The engine moves data through a message. It has three ways to work. They use the same format and report the same
//! errors.
//!
//! **Positioned** ([`file`]), where input and output are regular files: workers take batches of segments from a
//! counter. Each worker computes its positions itself: it reads a segment, seals or opens it, and writes the result.
//! Workers need no queue and no order, and never hand data to each other, because waking a sleeping thread on another
//! core costs more than sealing a segment. Each worker has one pair of buffers.
//!
//! **Streamed** ([`stream`]), where input or output is a pipe: here, too, all workers do the same. A worker locks the
//! input while it reads a unit. It then seals or opens the unit without a lock, and locks the output when its unit is
//! the next one to write. A slow input or output makes the workers wait. Here, too, each worker has one pair of
//! buffers.
//!
//! **In memory** ([`memory`]), where input and output are bytes: workers take segments from one iterator, and work on
//! each segment in place.
//!
//! All three ways report the error of the first segment that fails, whichever worker found the error.

mod buffer;
pub(crate) mod file;
pub(crate) mod memory;
pub(crate) mod stream;
pub(crate) mod units;

#[cfg(test)]
mod tests;

#[cfg(test)]
use buffer::count as buffers;
