//! References: the rules in simple code, byte by byte, with jumps.

pub mod base64;
pub mod hex;
/// The reference for paddings, which the tests of deadpan-pad use, too.
#[path = "../../crates/pad/tests/it/reference/mod.rs"]
pub mod padding;
pub mod padme;
pub mod pem;
pub mod sealed;
pub mod signed;
