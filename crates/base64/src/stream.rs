//! Text of any length, in pieces of any size: however the input is cut, the output and the verdict are the same.
//!
//! [`Encoder`] and [`Decoder`] hold one block and leave input and output to you; with `std`, the adaptors in [`io`] join them to `Read`
//! and `Write`.
//!
//! A stream cannot wait for its end before it says anything, so a decoder judges it block by block, [`BLOCK`] symbols at a time, and gives
//! out no byte of a block that is not valid. What may leak, beside what one-shot decoding leaks, is therefore the block of the first flaw.

mod decoder;
mod encoder;
#[cfg(feature = "std")]
pub mod io;

pub use decoder::Decoder;
pub use encoder::Encoder;

/// Symbols in a block, and so the unit in which a decoder judges.
pub const BLOCK: usize = 4096;
/// The bytes that a block holds.
pub const BLOCK_BYTES: usize = BLOCK / 4 * 3;
