//! The payload of an age file: chunks of 64 KiB, encrypted with ChaCha20-Poly1305.
//!
//! The nonce of a chunk consists of the chunk's number and a byte that marks the last chunk. An empty last chunk is
//! valid only if all data are empty, so there is only one way to divide data into chunks.

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use super::{AgeFileKey, is_age};
use crate::Error;
use crate::format::fill::read_full;
use crate::format::segment::{Payload, SegmentCipher, Shape};
use crate::primitive::entropy::Entropy;
use crate::primitive::imp::chacha20_poly1305::{ChaCha, KEY, TAG};
use deadpan_ct::Wipe;

/// The number of bytes in the payload's nonce, which precedes the first chunk.
pub(crate) const NONCE: usize = 16;
/// The number of bytes of data in a full chunk.
const DATA: usize = 64 << 10;
pub(crate) const SHAPE: Shape = Shape { sealed: DATA + TAG, overhead: TAG };

/// The chunks of one file.
#[derive(Clone)]
pub(crate) struct Chunks(Arc<ChaCha>);

impl Chunks {
    /// Starts a payload. Returns the payload and its nonce.
    pub(crate) fn start(file: &AgeFileKey, entropy: Entropy) -> Result<(Self, [u8; NONCE]), Error> {
        let mut nonce = [0; NONCE];
        entropy.fill("age nonce", 0, &mut nonce)?;
        Ok((Self::new(file, &nonce)?, nonce))
    }

    /// Reads the nonce of a payload.
    pub(crate) fn resume(file: &AgeFileKey, mut input: impl Read) -> Result<Self, Error> {
        let mut nonce = [0; NONCE];
        if read_full(&mut input, &mut nonce).map_err(Error::Read)? < NONCE {
            return Err(Error::Truncated);
        }
        // The nonce is random, so it looks like the beginning of a header in only one of 2¹²⁸ files.
        if is_age(&nonce) {
            return Err(Error::WholeFile);
        }
        Self::new(file, &nonce)
    }

    fn new(file: &AgeFileKey, nonce: &[u8; NONCE]) -> Result<Self, Error> {
        Self::under(file.payload_key(nonce)?.as_array().expect("32 bytes"))
    }

    fn under(key: &[u8; KEY]) -> Result<Self, Error> {
        Ok(Self(Arc::new(ChaCha::new(key)?)))
    }
}

impl Payload for Chunks {
    type Cipher<'a> = ChunkCipher;

    fn shape(&self) -> Shape {
        SHAPE
    }

    fn cipher(&self) -> ChunkCipher {
        ChunkCipher(Self::clone(self))
    }
}

/// Seals and opens the chunks of one file.
pub struct ChunkCipher(Chunks);

impl fmt::Debug for ChunkCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChunkCipher(..)")
    }
}

impl ChunkCipher {
    /// Makes a cipher for the chunks of one payload, with a key that is derived from the file key and the payload's
    /// nonce. A key must not be used for two payloads.
    ///
    /// # Errors
    /// If the system fails.
    pub fn new(key: &[u8; KEY]) -> Result<Self, Error> {
        Chunks::under(key).map(Self)
    }

    /// Seals `data` into `sealed`, which must be 16 bytes longer than `data`, for the tag. Only the last chunk may be
    /// shorter than 64 KiB. A chunk may be empty only if it is the first and the last chunk. The same chunk number must
    /// not be sealed twice with different data.
    ///
    /// # Errors
    /// If the lengths do not fit, or the system fails.
    pub fn seal(&mut self, chunk: u64, last: bool, data: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        if sealed.len() != data.len() + TAG || data.len() > DATA || (!last && data.len() != DATA) {
            return Err(LENGTH);
        }
        if data.is_empty() && chunk > 0 {
            return Err(Error::Invalid("an empty chunk behind others"));
        }
        let (output, tag) = sealed.split_last_chunk_mut().expect("a tag");
        self.0.0.seal(&nonce(chunk, last), data, output, tag)
    }

    /// Opens a chunk into `data`, which must be 16 bytes shorter than `sealed`, because `data` holds no tag. After a
    /// failure, `data` contains no data of the chunk.
    ///
    /// # Errors
    /// If the chunk was changed or belongs to another position, or if `last` does not match the chunk.
    pub fn open(&mut self, chunk: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> Result<(), Error> {
        if sealed.len() != data.len() + TAG || data.len() > DATA {
            return Err(LENGTH);
        }
        if data.is_empty() && chunk > 0 {
            return Err(Error::Segment { segment: chunk });
        }
        if self.is_open(chunk, last, sealed, data) {
            return Ok(());
        }
        // If the chunk opens with the negation of `last`, the file was cut short, or bytes were added.
        if self.is_open(chunk, !last, sealed, data) {
            data.wipe();
            return Err(if last { Error::Truncated } else { Error::Trailing });
        }
        Err(Error::Segment { segment: chunk })
    }

    /// After a failure, `data` is wiped.
    fn is_open(&self, chunk: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> bool {
        let (input, tag) = sealed.split_last_chunk::<TAG>().expect("a tag");
        let opened = self.0.0.open(&nonce(chunk, last), input, tag, data);
        if !opened {
            data.wipe();
        }
        opened
    }
}

/// Returns the nonce of a chunk: its number in eleven bytes, and a byte that marks the last chunk.
fn nonce(chunk: u64, last: bool) -> [u8; 12] {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&chunk.to_be_bytes());
    nonce[11] = last.into();
    nonce
}

const LENGTH: Error = Error::Invalid("a chunk of the wrong length");

impl SegmentCipher for ChunkCipher {
    fn shape(&self) -> Shape {
        SHAPE
    }

    fn seal(&mut self, chunk: u64, last: bool, data: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        Self::seal(self, chunk, last, data, sealed)
    }

    fn open(&mut self, chunk: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> Result<(), Error> {
        Self::open(self, chunk, last, sealed, data)
    }

    fn open_misplaced(&mut self, chunk: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> bool {
        // If `last` is true, the chunk was sealed as a chunk that is not the last one, so the chunk must be full.
        (!last || data.len() == DATA) && self.is_open(chunk, !last, sealed, data)
    }
}
