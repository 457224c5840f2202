//! The payload of an age file: chunks of 64 KiB under ChaCha20-Poly1305.
//!
//! The nonce of a chunk is its number and whether it is the last one. An empty last chunk is valid only if all data are
//! empty, so that the same data have one number of chunks.

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use aws_lc_rs::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use super::FileKey;
use crate::Error;
use crate::entropy::Entropy;
use crate::fill::read_full;
use crate::segment::{Payload, SegmentCipher, Shape};
use deadpan_ct::Wipe;

/// Bytes of the nonce, which comes before the first chunk.
pub(crate) const NONCE: usize = 16;
/// Bytes of data in a full chunk.
const DATA: usize = 64 << 10;
const TAG: usize = 16;
pub(crate) const SHAPE: Shape = Shape { sealed: DATA + TAG, overhead: TAG };

/// The chunks of one file.
#[derive(Clone)]
pub(crate) struct Chunks(Arc<LessSafeKey>);

impl Chunks {
    /// Starts a payload. Returns it with its nonce.
    pub(crate) fn start(file: &FileKey, entropy: Entropy) -> Result<(Self, [u8; NONCE]), Error> {
        let mut nonce = [0; NONCE];
        entropy.fill("age nonce", 0, &mut nonce)?;
        Ok((Self::new(file, &nonce)?, nonce))
    }

    /// Reads the nonce of a payload.
    pub(crate) fn resume(file: &FileKey, mut input: impl Read) -> Result<Self, Error> {
        let mut nonce = [0; NONCE];
        if read_full(&mut input, &mut nonce).map_err(Error::Read)? < NONCE {
            return Err(Error::Truncated);
        }
        Self::new(file, &nonce)
    }

    fn new(file: &FileKey, nonce: &[u8; NONCE]) -> Result<Self, Error> {
        let key = file.payload_key(nonce)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &key).map_err(|_| Error::System("no cipher"))?;
        Ok(Self(Arc::new(LessSafeKey::new(key))))
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
pub(crate) struct ChunkCipher(Chunks);

impl fmt::Debug for ChunkCipher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ChunkCipher(..)")
    }
}

impl ChunkCipher {
    /// Opens a chunk. If that fails, `data` is wiped.
    fn is_open(&self, chunk: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> bool {
        let (input, tag) = sealed.split_at(sealed.len() - TAG);
        let opened = self.0.0.open_separate_gather(nonce(chunk, last), Aad::empty(), input, tag, data);
        if opened.is_err() {
            data.wipe();
        }
        opened.is_ok()
    }
}

/// Returns the nonce of a chunk: eleven bytes of its number, and whether it is the last one.
fn nonce(chunk: u64, last: bool) -> Nonce {
    let mut nonce = [0; 12];
    nonce[3..11].copy_from_slice(&chunk.to_be_bytes());
    nonce[11] = last.into();
    Nonce::assume_unique_for_key(nonce)
}

const LENGTH: Error = Error::Invalid("a chunk of the wrong length");

impl SegmentCipher for ChunkCipher {
    fn shape(&self) -> Shape {
        SHAPE
    }

    fn seal(&mut self, chunk: u64, last: bool, data: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        if sealed.len() != data.len() + TAG || data.len() > DATA || (!last && data.len() != DATA) {
            return Err(LENGTH);
        }
        if data.is_empty() && chunk > 0 {
            return Err(Error::Invalid("an empty chunk behind others"));
        }
        let (output, tag) = sealed.split_at_mut(data.len());
        let done = self.0.0.seal_out_of_place_scatter(nonce(chunk, last), Aad::empty(), data, output, &[], tag);
        done.map_err(|_| Error::System("sealing failed"))
    }

    fn open(&mut self, chunk: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> Result<(), Error> {
        if sealed.len() != data.len() + TAG || data.len() > DATA {
            return Err(LENGTH);
        }
        if data.is_empty() && chunk > 0 {
            return Err(Error::Segment { segment: chunk });
        }
        if self.is_open(chunk, last, sealed, data) {
            return Ok(());
        }
        // The other meaning tells what happened to the file.
        if self.is_open(chunk, !last, sealed, data) {
            data.wipe();
            return Err(if last { Error::Truncated } else { Error::Trailing });
        }
        Err(Error::Segment { segment: chunk })
    }

    fn open_misplaced(&mut self, chunk: u64, last: bool, sealed: &[u8], data: &mut [u8]) -> bool {
        // A chunk that is not the last one is full.
        (!last || data.len() == DATA) && self.is_open(chunk, !last, sealed, data)
    }
}
