//! The tests of the crate through its public interface, as one program.

mod laws;
mod wipe;
