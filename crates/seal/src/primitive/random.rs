//! Random bytes: a few from the system, or many from a generator that the system seeds.
//!
//! [`fill`] is for keys, salts and other short values. It keeps no state. [`Generator`] is for bulk, at the speed of
//! writing memory: AES-256 in counter mode, whose key is replaced before any output is returned (*fast key erasure*).
//! An attacker who reads the generator's memory later cannot compute its earlier output.
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
//! - **Seeds** are 512 bytes from the system's generator, condensed by HKDF together with the key so far, so that no
//!   seed makes the key worse. A new seed is taken after 64 MiB, after a minute, and in the child of a fork.
//! - **Forks** are noticed by a page that the system empties in the child, and by the number of the process. A child
//!   never repeats its parent.
//! - **Tests at the start:** the keystream is compared with NIST's known answer, and each seed is tested for repeated
//!   bytes with the two tests of NIST SP 800-90B. The tests find a broken source; they cannot tell a good source from a
//!   bad one.
//! - **The key** lies in locked memory, is left out of core dumps, and is wiped.
//! - May leak: how many bytes were requested, and when.
//!
//! No program can notice that the virtual machine below it was copied while it ran. The copy returns the same bytes
//! until its next seed. For up to 4 KiB, [`fill`] keeps no state that could be copied: use it for keys.

mod generator;
mod health;
#[cfg(test)]
mod tests;

pub use generator::Generator;

use crate::Error;
use crate::primitive::entropy::Entropy;

/// Up to this length, the system is as fast as a new generator.
const SHORT: usize = 4096;

/// Fills `bytes` with random bytes: up to 4 KiB from the system, more from a [`Generator`] that exists only during the
/// call.
///
/// # Errors
/// [`Error::System`] if the system has no random bytes, or if a test fails.
pub fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    if bytes.len() <= SHORT { Entropy::System.fill("bytes", 0, bytes) } else { Generator::new()?.fill(bytes) }
}
