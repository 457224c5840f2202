//! The tests of the crate through its public interface, as one program. `tests/entropy.rs` measures the time of the
//! whole process, so it is another one.

mod age;
mod key;
mod plugin;
