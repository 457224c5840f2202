//! A writer that seals the bytes written to it.

use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;

use crate::Error;
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::padding;
use crate::format::deadpan::trailer::{Claim, Recorder, Signing, WatchedCipher};
use crate::format::payload::{AnyPayload, OwnedCipher};
use crate::format::segment;

type SealCipher = WatchedCipher<OwnedCipher, Option<Arc<Recorder<'static>>>>;

/// A writer that seals the bytes written to it. Call [`Sealer::finish`] at the end. Without a call of
/// [`Sealer::finish`], the output is incomplete, and readers refuse the output.
#[must_use = "without `finish` the output is cut short, and refused"]
pub struct Sealer<W> {
    writer: segment::SegmentWriter<SealCipher, W>,
    written: u64,
    padded: bool,
    ending: Option<TrailerToWrite>,
}

pub(super) struct TrailerToWrite {
    pub(super) recorder: Arc<Recorder<'static>>,
    pub(super) signing: Signing,
    pub(super) key: FileKey,
    pub(super) claim: Claim,
}

impl<W> fmt::Debug for Sealer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sealer").field("written", &self.written).finish_non_exhaustive()
    }
}

impl<W: Write> Sealer<W> {
    pub(super) fn new(payload: AnyPayload, output: W, padded: bool, ending: Option<TrailerToWrite>) -> Self {
        let watch = ending.as_ref().map(|ending| ending.recorder.clone());
        let cipher = WatchedCipher { cipher: payload.into_cipher(), watch };
        Self { writer: segment::SegmentWriter::over(cipher, output), written: 0, padded, ending }
    }

    /// Writes the last segment. If the file is signed, writes the trailer, too. Returns the inner writer.
    ///
    /// # Errors
    /// If writing fails, or if a signer fails to sign.
    pub fn finish(mut self) -> io::Result<W> {
        if self.padded {
            padding::write_padding(self.written, &mut self.writer)?;
        }
        let mut output = self.writer.finish()?;
        if let Some(TrailerToWrite { recorder, signing, key, claim }) = self.ending {
            // The segment writer no longer exists, so no other owner of the recorder is left.
            let recorder = Arc::into_inner(recorder).ok_or_else(|| io::Error::other("the hashes are in use"))?;
            signing.finish(recorder, &key, claim, &mut output).map_err(Error::into_io)?;
            output.flush()?;
        }
        Ok(output)
    }
}

impl<W: Write> Write for Sealer<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.writer.write(bytes)?;
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}
