//! Computes the digest of an input. The input is read once, in large pieces.

use std::io::{ErrorKind, Read};

use crate::place::input::Input;
use crate::tell::failure::Failure;
use deadpan_seal::Error;
use deadpan_seal::sign::{Hash, Hasher};

/// The number of bytes that are read at once. Smaller pieces take more system calls, and larger pieces do not fit into
/// the processor's nearest caches.
const PIECE: usize = 1 << 16;

pub struct Digests {
    pub sha512: [u8; 64],
    pub length: u64,
}

pub fn digest(input: &Input) -> Result<Digests, Failure> {
    let (bytes, length) = by(input, Hash::Sha512)?;
    let mut sha512 = [0; 64];
    sha512.copy_from_slice(&bytes);
    Ok(Digests { sha512, length })
}

/// Returns the digest of an input by the hash function `hash`, and the length of the input.
pub fn by(input: &Input, hash: Hash) -> Result<(Vec<u8>, u64), Failure> {
    let mut hasher = Hasher::new(hash);
    let (mut reader, mut piece, mut length) = (input.reader(), vec![0; PIECE], 0);
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok((hasher.finish(), length)),
            Ok(read) => {
                hasher.update(&piece[..read]);
                length += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::seal(&input.shown(), Error::Read(error))),
        }
    }
}
