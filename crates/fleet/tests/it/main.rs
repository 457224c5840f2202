//! The tests of the crate through its public interface, as one program.

mod protocol;
mod there_and_back;
