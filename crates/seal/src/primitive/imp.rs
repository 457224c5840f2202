//! The interface to the system and to foreign code. This module contains all `unsafe` code of this crate.

pub(crate) mod blocks;
pub(crate) mod chacha20_poly1305;
pub(crate) mod compress;
pub(crate) mod ed25519;
pub(crate) mod hkdf;
pub(crate) mod huge;
pub(crate) mod keccak;
pub(crate) mod keystream;
pub(crate) mod locked;
pub(crate) mod ml_dsa;
pub(crate) mod ml_kem;
mod owned;
pub(crate) mod p256;
pub(crate) mod rsa;
pub(crate) mod scrypt;
pub(crate) mod sha512;
pub(crate) mod spare;
pub(crate) mod transient;
pub(crate) mod x25519;
