//! Random bytes: short values come directly from the system, and large amounts of data come from a generator with a
//! seed from the system.
//!
//! [`fill`] is for keys, salts and other short values. It keeps no state. [`Generator`] is for large amounts of data,
//! and is as fast as writing to memory. The generator uses AES-256 in counter mode, and replaces its key before it
//! returns any output (*fast key erasure*). An attacker who reads the generator's memory later cannot compute the
//! earlier output.
//!
//! ```
//! use deadpan_seal::random::{self, Generator};
//!
//! let mut key = [0; 32];
//! random::fill(&mut key)?;
//!
//! let mut generator = Generator::new()?;
//! let mut bulk = vec![0; 10 << 20];
//! generator.fill(&mut bulk)?;
//! # Ok::<(), deadpan_seal::Error>(())
//! ```
//!
//! - **Seeds** are 512 bytes from the system's generator. HKDF combines the seed with the previous key, so that a bad
//!   seed does not make the key weaker. The generator takes a new seed after 64 MiB, after a minute, and in the child
//!   of a fork.
//! - **Forks** are detected with a page that the system clears in the child process, and with the process number. A
//!   child never repeats the output of its parent.
//! - **Tests at the start:** the keystream is compared with NIST's known answer, and each seed is tested for repeated
//!   bytes with the two tests of NIST SP 800-90B. The tests detect a broken source, but they cannot distinguish a good
//!   source from a bad source.
//! - **The key** is in locked memory, is excluded from core dumps, and is wiped after use.
//! - May leak: the number of requested bytes, and the time of each request.
//!
//! No program can detect that its virtual machine was copied while the program ran. The generator in the copy returns
//! the same bytes as the original until it takes its next seed. For up to 4 KiB, [`fill`] keeps no state that a copy of
//! the machine could repeat, so use [`fill`] for keys.

mod generator;
mod health;
#[cfg(test)]
mod tests;

pub use generator::Generator;

use crate::Error;
use crate::primitive::entropy::Entropy;

/// The maximum length of a request for which a new generator is not faster than the system.
const SHORT: usize = 4096;

/// Fills `bytes` with random bytes. Up to 4 KiB come from the system. For longer requests, the bytes come from a
/// [`Generator`] that exists only during the call.
///
/// # Errors
/// [`Error::System`] if the system has no random bytes, or if a test fails.
pub fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    if bytes.len() <= SHORT { Entropy::System.fill("bytes", 0, bytes) } else { Generator::new()?.fill(bytes) }
}
