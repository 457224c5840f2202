//! The tests of the public interface of the crate, as one program. `tests/entropy.rs` measures the time of the whole
//! process, so it is a separate program.

mod age;
mod key;
mod plugin;
