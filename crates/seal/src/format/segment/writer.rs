//! Writes a payload of any length, in order.

use std::fmt;
use std::io::{self, Write};

use super::SegmentCipher;
use crate::Error;
use deadpan_ct::Wiped;

/// A writer that seals a payload segment by segment. Without a call of [`SegmentWriter::finish`], the payload has no
/// last segment, and readers refuse the payload.
#[must_use = "without `finish` there is no last segment"]
pub struct SegmentWriter<C, W> {
    cipher: C,
    output: W,
    data: Wiped<Vec<u8>>,
    sealed: Vec<u8>,
    segment: u64,
    failed: bool,
}

impl<C, W> fmt::Debug for SegmentWriter<C, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentWriter").field("segment", &self.segment).finish_non_exhaustive()
    }
}

impl<C: SegmentCipher, W: Write> SegmentWriter<C, W> {
    /// `output` must already have the header.
    pub(crate) fn over(cipher: C, output: W) -> Self {
        let length = cipher.shape().data();
        Self {
            data: Wiped::new(Vec::with_capacity(length)),
            sealed: Vec::new(),
            cipher,
            output,
            segment: 0,
            failed: false,
        }
    }

    fn put(&mut self, last: bool) -> io::Result<()> {
        self.sealed.resize(self.data.len() + self.cipher.shape().overhead, 0);
        // After a failure, the output is not complete. Writing again after the failure would make a payload with a gap.
        self.failed = true;
        self.cipher.seal(self.segment, last, &self.data, &mut self.sealed).map_err(Error::into_io)?;
        self.output.write_all(&self.sealed)?;
        self.failed = false;
        self.segment += 1;
        self.data.clear();
        Ok(())
    }

    /// Writes the last segment, and returns the inner writer.
    ///
    /// # Errors
    /// If writing fails, or has failed before.
    pub fn finish(mut self) -> io::Result<W> {
        self.check()?;
        self.put(true)?;
        self.output.flush()?;
        Ok(self.output)
    }

    fn check(&self) -> io::Result<()> {
        if self.failed {
            Err(io::Error::other("an earlier write failed, so the output is not complete"))
        } else {
            Ok(())
        }
    }
}

impl<C: SegmentCipher, W: Write> Write for SegmentWriter<C, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.check()?;
        let full = self.cipher.shape().data();
        // A full segment is written only when more data arrive, because then it is not the last segment.
        if self.data.len() == full && !bytes.is_empty() {
            self.put(false)?;
        }
        let taken = bytes.len().min(full - self.data.len());
        self.data.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    /// Does not write a short segment, because only the last segment may be short.
    fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        self.output.flush()
    }
}
