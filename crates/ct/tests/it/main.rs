//! The tests of the public interface of the crate, as one program.

mod laws;
mod wipe;
