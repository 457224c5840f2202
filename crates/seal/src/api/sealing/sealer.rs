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
use deadpan_compress::{CompressWriter, Level};

type SealCipher = WatchedCipher<OwnedCipher, Option<Arc<Recorder<'static>>>>;

/// A writer that seals the bytes written to it. Call [`Sealer::finish`] at the end. Without a call of
/// [`Sealer::finish`], the output is incomplete, and readers refuse the output.
#[must_use = "without `finish` the output is cut short, and refused"]
pub struct Sealer<W> {
    writer: Inner<W>,
    written: u64,
    padded: bool,
    ending: Option<TrailerToWrite>,
}

type Segments<W> = segment::SegmentWriter<SealCipher, W>;

enum Inner<W> {
    Plain(Segments<W>),
    Compressed(Box<CompressWriter<Segments<W>>>),
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
    pub(super) fn new(
        payload: AnyPayload,
        output: W,
        padded: bool,
        level: Option<Level>,
        ending: Option<TrailerToWrite>,
    ) -> Self {
        let watch = ending.as_ref().map(|ending| ending.recorder.clone());
        let cipher = WatchedCipher { cipher: payload.into_cipher(), watch };
        let segments = segment::SegmentWriter::over(cipher, output);
        let writer = match level {
            Some(level) => Inner::Compressed(Box::new(CompressWriter::new(segments, level, 1))),
            None => Inner::Plain(segments),
        };
        Self { writer, written: 0, padded, ending }
    }

    /// Writes the last segment. If the file is signed, writes the trailer, too. Returns the inner writer.
    ///
    /// # Errors
    /// If writing fails, or if a signer fails to sign.
    pub fn finish(self) -> io::Result<W> {
        let (mut segments, written) = match self.writer {
            Inner::Plain(segments) => (segments, self.written),
            Inner::Compressed(writer) => {
                let (segments, table) = writer.finish()?;
                (segments, table.stored())
            }
        };
        if self.padded {
            padding::write_padding(written, &mut segments)?;
        }
        let mut output = segments.finish()?;
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
        let written = match &mut self.writer {
            Inner::Plain(segments) => segments.write(bytes)?,
            Inner::Compressed(writer) => writer.write(bytes)?,
        };
        self.written += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.writer {
            Inner::Plain(segments) => segments.flush(),
            Inner::Compressed(writer) => writer.flush(),
        }
    }
}
