//! Reads the data of a sealed file in order.

use std::fmt;
use std::io::{self, Read};
use std::sync::Arc;

use super::Opened;
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::padding::Stripper;
use crate::format::deadpan::trailer::{Addressee, Expected, Leaves, PayloadReader, Verified, WatchedCipher};
use crate::format::payload::{AnyPayload, OwnedCipher};
use crate::format::segment::{Payload, SegmentReader};
use crate::{Error, Signatures};
use deadpan_compress::Expander;
use deadpan_ct::Wiped;

/// A reader that opens the data of a sealed file in order. All data that the reader returns were sealed by somebody who
/// has the file key. If the reader reaches the end without an error, the data are complete. If the file is signed and
/// the reader reaches the end without an error, the data are the signed data.
pub struct Opener<R>(Inner<R>);

enum Inner<R> {
    Plain(Box<StoredReader<R>>),
    /// The second field states whether the data have ended.
    Compressed(Box<Expander<StoredReader<R>>>, bool),
}

/// Reads data, or the stored bytes of compressed data.
struct StoredReader<R> {
    reader: OpenReader<R>,
    stripping: Option<Stripping>,
    signed: Signed,
}

type OpenReader<R> = SegmentReader<WatchedCipher<OwnedCipher, Option<Arc<Leaves>>>, PayloadReader<R>>;

enum Signed {
    No,
    Failed,
    /// The signatures are checked at the end of the data.
    Later(Box<TrailerToCheck>),
    Checked(Signatures),
}

struct TrailerToCheck {
    leaves: Arc<Leaves>,
    key: FileKey,
    metadata: Vec<u8>,
    opener: Addressee,
}

#[derive(Default)]
struct Stripping {
    stripper: Stripper,
    /// The reader next returns `mark`, `zeros` and `piece`, in this order.
    mark: bool,
    zeros: u64,
    piece: Wiped<Vec<u8>>,
    taken: usize,
    finished: bool,
}

impl<R> fmt::Debug for Opener<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener(..)")
    }
}

impl<R: Read> Opener<R> {
    /// Reads the segments of `payload` from `input`, and then the trailer if the file has a trailer.
    pub(super) fn new(opened: &Opened, payload: AnyPayload, input: R) -> Self {
        let segment = payload.shape().sealed;
        let about = opened.expected();
        let leaves = about.is_some().then(|| Arc::new(Leaves::new()));
        let cipher = WatchedCipher { cipher: payload.into_cipher(), watch: leaves.clone() };
        let input = PayloadReader::new(input, leaves.is_some().then_some(segment));
        let ending = about.zip(leaves).map(|(Expected { key, metadata, opener }, leaves)| {
            Box::new(TrailerToCheck { leaves, key: key.clone(), metadata, opener: opener.clone() })
        });
        let stored = StoredReader {
            reader: SegmentReader::over(cipher, input),
            stripping: opened.hides_length().then(Stripping::default),
            signed: ending.map_or(Signed::No, Signed::Later),
        };
        Self(if opened.expands() {
            Inner::Compressed(Box::new(Expander::new(stored, 1)), false)
        } else {
            Inner::Plain(Box::new(stored))
        })
    }

    /// Returns the signatures of the data. Returns `None` if nobody signed the data, or if the reader has not yet
    /// reached the end without an error.
    #[must_use]
    pub fn signatures(&self) -> Option<&Signatures> {
        let stored: &StoredReader<R> = match &self.0 {
            Inner::Plain(stored) => stored,
            Inner::Compressed(_, false) => return None,
            Inner::Compressed(expander, true) => expander.input(),
        };
        match &stored.signed {
            Signed::Checked(signatures) => Some(signatures),
            _ => None,
        }
    }
}

impl<R: Read> StoredReader<R> {
    /// Checks the signatures, at the end of the data.
    fn finish(&mut self) -> Result<(), Error> {
        match std::mem::replace(&mut self.signed, Signed::Failed) {
            Signed::Later(ending) => {
                let TrailerToCheck { leaves, key, metadata, opener } = *ending;
                let about = Expected { key: &key, metadata, opener: &opener };
                self.signed = Signed::Checked(Verified::read(&about, self.reader.input().inner(), &leaves)?);
            }
            Signed::Failed => return Err(Error::SignatureForged),
            other => self.signed = other,
        }
        Ok(())
    }
}

impl Stripping {
    fn is_empty(&self) -> bool {
        !self.mark && self.zeros == 0 && self.taken == self.piece.len()
    }

    fn fill<R: Read>(&mut self, reader: &mut OpenReader<R>) -> Result<(), Error> {
        while self.is_empty() && !self.finished {
            let piece = reader.segment()?;
            if piece.is_empty() {
                self.stripper.finish()?;
                self.finished = true;
            }
            let passed = self.stripper.pass(piece);
            self.mark = passed.before.is_some();
            self.zeros = passed.before.unwrap_or_default();
            if self.piece.capacity() < piece.len() {
                // The code allocates new memory, because a buffer that grew with its contents would leave copies of the
                // contents behind.
                self.piece = Wiped::new(Vec::with_capacity(piece.len()));
            }
            self.piece.clear();
            self.piece.extend_from_slice(&piece[..passed.length]);
            self.taken = 0;
        }
        Ok(())
    }

    fn read(&mut self, buffer: &mut [u8]) -> usize {
        if self.mark {
            self.mark = false;
            buffer[0] = 0x80;
            return 1;
        }
        if self.zeros > 0 {
            let zeros = usize::try_from(self.zeros).map_or(buffer.len(), |zeros| zeros.min(buffer.len()));
            buffer[..zeros].fill(0);
            self.zeros -= zeros as u64;
            return zeros;
        }
        let taken = buffer.len().min(self.piece.len() - self.taken);
        buffer[..taken].copy_from_slice(&self.piece[self.taken..self.taken + taken]);
        self.taken += taken;
        taken
    }
}

impl<R: Read> Read for Opener<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.0 {
            Inner::Plain(stored) => stored.read(buffer),
            Inner::Compressed(expander, ended) => {
                let read = expander.read(buffer).map_err(Error::expanding)?;
                *ended |= read == 0 && !buffer.is_empty();
                Ok(read)
            }
        }
    }
}

impl<R: Read> Read for StoredReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = match &mut self.stripping {
            _ if buffer.is_empty() => return Ok(0),
            None => self.reader.read(buffer)?,
            Some(stripping) => {
                stripping.fill(&mut self.reader).map_err(Error::into_io)?;
                stripping.read(buffer)
            }
        };
        if read == 0 {
            self.finish().map_err(Error::into_io)?;
        }
        Ok(read)
    }
}
