//! Measures whether code leaks through its execution time, and how fast code is. The error rates of the verdicts are
//! known.
//!
//! | Question | Module |
//! |---|---|
//! | Does the time of a function depend on its input? | [`timing`] |
//! | Do the executed instructions and addresses depend on the input? | [`trace`], on x86-64 Linux and AArch64 Linux |
//! | Does a jump or an address depend on a secret? | [`taint`], under Valgrind |
//! | How fast is a function or a program? | [`speed`] |
//! | The same for a shared library, or for Python, Go, Java and JavaScript? | [`foreign`] |
//! | How fast are whole workloads beside other programs? | [`speed::workload`] |
//! | How often does the lab err on this machine? | [`calibrate`], [`selftest`] |
//!
//! To write a benchmark for another crate, start with [`harness`].
#![deny(unsafe_code)]

pub mod calibrate;
mod cleanup;
pub mod clock;
mod disk;
mod distribution;
mod emulation;
pub mod foreign;
pub mod generations;
#[cfg(feature = "harness")]
pub mod harness;
mod imp;
pub mod invocation;
mod load;
pub mod machine;
mod number;
mod plural;
mod random;
pub mod record;
#[cfg(feature = "report")]
pub mod report;
pub mod selftest;
#[cfg(feature = "harness")]
mod similar;
pub mod speed;
pub mod taint;
pub mod target;
pub mod timing;
#[cfg(feature = "trace")]
pub mod trace;
mod visible;
mod watch;

pub use distribution::clopper_pearson;
pub use load::Load;
pub use random::Random;
pub use target::Target;
pub use watch::{Silent, Watch};

/// Tests the examples in the README and in the documentation pages.
#[cfg(doctest)]
mod pages {
    #[cfg(all(feature = "harness", feature = "trace"))]
    #[doc = include_str!("../README.md")]
    mod readme {}
    #[cfg(all(feature = "harness", feature = "trace"))]
    #[doc = include_str!("../../../docs/measuring.md")]
    mod measuring {}
    #[doc = include_str!("../../../docs/lab-worker.md")]
    mod lab_worker {}
}
