//! The tests of the public interface of the crate, as one program.

mod api;
mod others;
mod padme;
mod reference;
mod vectors;
