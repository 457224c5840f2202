//! The digest of an input, which is read once, in large pieces.

use std::io::{ErrorKind, Read};

use aws_lc_rs::digest::{Context, SHA256, SHA512};

use crate::failure::Failure;
use crate::input::Input;
use deadpan_seal::Error;
use deadpan_seal::sign::Hash;

/// How much is read at once: smaller pieces cost calls of the system, and larger ones leave the processor's cache.
const PIECE: usize = 1 << 16;

/// The digests of an input, and its length.
pub struct Digests {
    pub sha512: [u8; 64],
    pub length: u64,
}

/// Returns the SHA-512 digest of an input.
pub fn digest(input: &Input) -> Result<Digests, Failure> {
    let (bytes, length) = by(input, Hash::Sha512)?;
    let mut sha512 = [0; 64];
    sha512.copy_from_slice(&bytes);
    Ok(Digests { sha512, length })
}

/// Returns the digest of an input by one hash, and the length of the input.
pub fn by(input: &Input, hash: Hash) -> Result<(Vec<u8>, u64), Failure> {
    let mut context = Context::new(match hash {
        Hash::Sha256 => &SHA256,
        Hash::Sha512 => &SHA512,
    });
    let (mut reader, mut piece, mut length) = (input.reader(), vec![0; PIECE], 0);
    loop {
        match reader.read(&mut piece) {
            Ok(0) => return Ok((context.finish().as_ref().to_vec(), length)),
            Ok(read) => {
                context.update(&piece[..read]);
                length += read as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(Failure::of(&input.shown(), Error::Read(error))),
        }
    }
}
