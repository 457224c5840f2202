//! Measures whether code leaks through time, and how fast it is, with verdicts whose error rates are known.
#![deny(unsafe_code)]

pub mod calibrate;
pub mod clock;
mod disk;
mod distribution;
pub mod generations;
#[cfg(feature = "harness")]
pub mod harness;
mod imp;
mod load;
pub mod machine;
mod random;
pub mod record;
#[cfg(feature = "report")]
pub mod report;
pub mod selftest;
pub mod speed;
pub mod taint;
pub mod target;
pub mod timing;
#[cfg(feature = "trace")]
pub mod trace;
mod watch;

pub use load::Load;
pub use random::Random;
pub use target::Target;
pub use watch::{Silent, Watch};
