//! The engine reads data, seals or opens the data, and writes the result. It has three ways to work. The three ways use
//! the same format and report the same errors.
//!
//! **Positioned** ([`file`]): the input and the output are regular files, and workers take batches of segments from a
//! counter. Each worker computes its positions itself: it reads a segment, seals or opens it, and writes the result.
//! Workers need no queue and no order, and never pass data to each other: waking a sleeping thread on another core
//! costs more than sealing a segment. Each worker has one pair of buffers.
//!
//! **Streamed** ([`stream`]): the input or the output is a pipe, and all workers do the same work. A worker locks the
//! input while it reads a unit. The worker then seals or opens the unit without a lock, and locks the output when this
//! unit is the next one to write. A slow input or output makes the workers wait. Each worker has one pair of buffers.
//!
//! **In memory** ([`memory`]): the input and the output are bytes in memory. Workers take segments from one iterator,
//! and process each segment in place.
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
