//! Measures code that is not written in Rust: functions of shared libraries, and functions that run in the runtime of
//! another language.
//!
//! The lab loads a shared library into this process, and measures and traces the functions of the library like Rust
//! functions. Use a [`Worker`] for code that runs in a runtime, such as Python or Java. The lab then starts a worker
//! program, sends inputs to the program in the order that the lab prescribes, and reads the times that the program
//! measured. The lab does not trace code in a worker.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use deadpan_lab::foreign::Worker;
//! use deadpan_lab::{Silent, timing};
//!
//! let worker = Worker::start("python3 worker.py", Duration::from_secs(60))?;
//! let settings = timing::Settings::default();
//! for mut target in worker.targets(&[])? {
//!     let report = timing::run(&mut target, &settings, &worker.clock(), &mut worker.watch(&mut Silent));
//!     worker.check()?;
//!     println!("{}: {}", target.name(), report.verdict);
//! }
//! # Ok::<(), deadpan_lab::foreign::Error>(())
//! ```

mod abi;
mod check;
mod class;
mod connection;
mod error;
mod hello;
#[cfg(all(unix, feature = "harness"))]
mod library;
mod pace;
mod shipped;
#[cfg(all(unix, feature = "harness"))]
mod supervised;
#[cfg(all(unix, feature = "harness"))]
mod trial;
mod worker;

#[cfg(all(unix, feature = "harness"))]
pub use crate::imp::library::shared_library;
pub use abi::Abi;
pub use check::{Finding, check};
pub use class::ForeignClass;
#[cfg(feature = "harness")]
pub(crate) use class::{blind, comparable, limits};
pub use error::Error;
pub use hello::Hello;
#[cfg(all(unix, feature = "harness"))]
pub(crate) use library::{target, try_out};
pub use pace::WorkerClock;
pub use shipped::{Language, Shipped};
#[cfg(all(unix, feature = "harness"))]
pub(crate) use supervised::{begin, supervised};
pub use worker::{Guarded, Worker};
