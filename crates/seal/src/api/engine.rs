//! The engine reads data, seals or opens the data, and writes the result. It has three ways to work. The engine works
//! in one of three ways, which use the same format and report the same errors.
//!
//! **Positioned** ([`file`]): the input and the output are regular files. Each worker takes the number of its next
//! batch of segments from a shared counter. From this number, the worker computes the positions. The worker reads a
//! segment, seals or opens it, and writes the result. Workers need no queue and no fixed order, and never pass data to
//! each other, because waking a sleeping thread on another core costs more time than sealing a segment. Each worker has
//! one pair of buffers.
//!
//! **Streamed** ([`stream`]): the input or the output is a pipe, and all workers do the same work. A worker locks the
//! input while it reads a unit. The worker then seals or opens the unit without a lock, and locks the output when this
//! unit is the next one to write. A slow input or output makes the workers wait. Each worker has one pair of buffers.
//!
//! **In memory** ([`memory`]): the input and the output are bytes in memory. Workers take segments from one iterator,
//! and process each segment in place.
//!
//! All three ways of working report the error of the first segment that fails, no matter which worker found the error.

mod buffer;
pub(crate) mod file;
pub(crate) mod memory;
pub(crate) mod stream;
pub(crate) mod told;
pub(crate) mod units;

#[cfg(test)]
mod tests;

#[cfg(test)]
use buffer::count as buffers;
