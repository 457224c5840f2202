//! The rules told as plainly as possible: one byte after the other, with a jump wherever it is convenient.

pub mod base64;
pub mod hex;
/// The paddings' own reference, which their tests use as well.
#[path = "../../crates/pad/tests/reference/mod.rs"]
pub mod padding;
pub mod padme;
pub mod pem;
pub mod sealed;
