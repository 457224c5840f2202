//! Code that needs the processor or the operating system directly: counters, delays, traces of machine code, and
//! requests to Valgrind. All `unsafe` code of this crate is in this module.
#![allow(unsafe_code)]

pub(crate) mod child;
pub(crate) mod control;
#[cfg(all(unix, feature = "harness"))]
pub(crate) mod convention;
pub(crate) mod counter;
#[cfg(all(unix, feature = "harness"))]
pub(crate) mod fence;
#[cfg(all(unix, any(feature = "harness", feature = "trace")))]
pub(crate) mod fork;
#[cfg(target_arch = "aarch64")]
pub(crate) mod kernel;
#[cfg(all(unix, feature = "harness"))]
pub(crate) mod library;
#[cfg(feature = "trace")]
pub(crate) mod mark;
#[cfg(all(unix, feature = "harness"))]
pub(crate) mod notes;
pub(crate) mod processor;
pub(crate) mod spin;
#[cfg(all(feature = "trace", any(target_arch = "x86_64", target_arch = "aarch64"), target_os = "linux"))]
pub(crate) mod step;
#[cfg(all(unix, feature = "harness"))]
pub(crate) mod supervise;
pub(crate) mod valgrind;
