//! The primitives: ciphers, hashes and key agreement; random bytes, secret memory and threads. Nothing here knows a
//! format.

pub(crate) mod argon2;
pub(crate) mod entropy;
pub mod hpke;
#[allow(unsafe_code)]
pub(crate) mod imp;
pub(crate) mod kem;
pub mod random;
pub(crate) mod secret;
pub(crate) mod threads;
pub(crate) mod work;
