//! `deadpan lab`: Deadpan under its own instrument.

pub mod targets;
