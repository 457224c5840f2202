//! The sizes of inputs for speed.

/// The sizes in bytes of the inputs for measuring speed. The smallest size for Base64 is [`SYMBOLS`] instead.
pub(super) const SIZES: [(usize, &str); 4] =
    [(64, "64 bytes"), (256, "256 bytes"), (16 << 10, "16 KiB"), (1 << 20, "1 MiB")];
/// The number of bytes that 64 symbols encode.
pub(super) const SYMBOLS: (usize, &str) = (48, "64 symbols");
