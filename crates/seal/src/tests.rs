//! Helpers of several modules' tests, and the test of the examples in docs/format-seal.md.

pub(crate) mod example;
pub(crate) mod foreign;
pub(crate) mod scratch;
