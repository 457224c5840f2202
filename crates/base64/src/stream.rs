//! Encoding and decoding in pieces of any size. However the input is cut into pieces, the output and the verdict are
//! the same.
//!
//! [`Encoder`] and [`Decoder`] hold only one block in memory, and the caller reads the input and writes the output.
//! With the feature `std`, the adaptors in [`io`] connect the encoder and the decoder to `Read` and `Write`.
//!
//! A decoder cannot wait for the end of a stream before it outputs the first bytes. The decoder therefore checks the
//! stream in blocks of [`BLOCK`] symbols, and outputs no byte of a block that is not valid. So a stream may leak which
//! block has the first flaw, in addition to the leaks of one-shot decoding.

mod decoder;
mod encoder;
#[cfg(feature = "std")]
pub mod io;

pub use decoder::Decoder;
pub use encoder::Encoder;

/// The number of symbols in a block. A decoder checks each block as a whole.
pub const BLOCK: usize = 4096;
/// The number of bytes that a block holds.
pub const BLOCK_BYTES: usize = BLOCK / 4 * 3;
