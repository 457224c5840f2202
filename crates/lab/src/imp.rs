//! What needs the processor or the operating system directly: counters, a delay, signals for stepping, requests to Valgrind. The only
//! `unsafe` of this crate.
#![allow(unsafe_code)]

pub(crate) mod counter;
pub(crate) mod spin;
