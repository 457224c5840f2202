//! The tests of the crate through its public interface, as one program.

mod api;
mod others;
mod padme;
mod reference;
mod vectors;
