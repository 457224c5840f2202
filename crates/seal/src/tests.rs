//! Helpers of several modules' tests, and the test of the examples in the format's page.

pub(crate) mod example;
pub(crate) mod foreign;
pub(crate) mod scratch;
