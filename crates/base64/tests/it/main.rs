//! The tests of the crate through its public interface, as one program.

mod base64;
mod hex;
mod pem;
mod stream;
