//! Random bytes: a few from the system, and as many as one wants from a generator that the system seeds.
//!
//! [`fill`] is for keys, salts and whatever else is short; nothing of it is kept. [`Generator`] is for bulk, at the speed at which memory is
//! written: AES-256 in counter mode under a key that is replaced before any output is seen (*fast key erasure*), so that whoever gets hold of the
//! generator later cannot compute what it gave out before.
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
//! - **Seeds** are 512 bytes from the system's generator, condensed with HKDF, by way of the key so far: no seed makes it worse. A new one is
//!   taken after 64 MiB, after a minute, and in the child of a fork.
//! - **Forks** are noticed by a page that the system empties in the child, and by the number of the process: no child repeats its parent.
//! - **Tests at the start:** the keystream against NIST's known answer; each seed for bytes that repeat, with the two tests of NIST SP 800-90B. They find
//!   a source that is broken, and cannot tell a good one from a bad one.
//! - **The key** lies in locked memory, left out of core dumps, and is wiped.
//! - May leak: how many bytes were asked for, and when.
//!
//! What no program can do alone: notice that the virtual machine below it was copied while it ran. The copy gives the same bytes until its next
//! seed. [`fill`], up to 4 KiB, keeps nothing that could be copied: take it for keys.

mod generator;
mod health;
#[cfg(test)]
mod tests;

pub use generator::Generator;

use crate::Error;
use crate::entropy::Entropy;

/// Up to here the system itself is as fast as a new generator.
const SHORT: usize = 4096;

/// Fills `bytes`: as many as 4 KiB from the system itself, more by a [`Generator`] that is made for it and gone afterwards.
///
/// # Errors
/// [`Error::System`] if the system has no random bytes, or if a test fails.
pub fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    if bytes.len() <= SHORT { Entropy::System.fill("bytes", 0, bytes) } else { Generator::new()?.fill(bytes) }
}
