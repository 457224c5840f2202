//! Reference implementations: simple code for the same rules, which works byte by byte and uses jumps.

pub mod base64;
pub mod hex;
/// The reference implementation of padding, which the tests of deadpan-pad use, too.
#[path = "../../crates/pad/tests/it/reference/mod.rs"]
pub mod padding;
pub mod padme;
pub mod pem;
pub mod sealed;
pub mod signed;
