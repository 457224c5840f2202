//! Sealing: to whom, and how.

use crate::{Error, Metadata, Recipient, Summary, Work};
use std::fs::File;
use std::io::{Read, Write};

/// To whom something is sealed, and how; then any of the ways to do it.
#[derive(Clone, Debug)]
pub struct Sealing {
    recipients: Vec<Recipient>,
    metadata: Metadata,
    hide_length: bool,
}

impl Sealing {
    /// To these recipients.
    ///
    /// # Errors
    /// [`Error::NoRecipients`]; [`Error::TooMany`]; [`Error::Mixed`] if some are classical and others are not: see [`Sealing::mixed`].
    pub fn to(recipients: Vec<Recipient>) -> Result<Self, Error> {
        Ok(Self { recipients, metadata: Metadata::default(), hide_length: false })
    }

    /// To these recipients, though the classical ones among them make the whole file classical.
    ///
    /// # Errors
    /// As [`Sealing::to`], but for [`Error::Mixed`].
    pub fn mixed(recipients: Vec<Recipient>) -> Result<Self, Error> {
        Self::to(recipients)
    }

    /// What it is, sealed beside it.
    ///
    /// # Errors
    /// If the name has a separator in it, is longer than 4096 bytes, or is no name.
    pub fn metadata(mut self, metadata: Metadata) -> Result<Self, Error> {
        self.metadata = metadata;
        Ok(self)
    }

    /// Whether to pad the data, so that the length tells little: up to 12 % more.
    #[must_use]
    pub fn hide_length(mut self, hide: bool) -> Self {
        self.hide_length = hide;
        self
    }

    /// One regular file to another, on all cores, at positions. `input` is read from its start to its end; `output` must be empty.
    ///
    /// # Errors
    /// If reading, writing or the system fails. The output is then of no use.
    pub fn file(&self, _input: &File, _output: &File, _work: &Work<'_>) -> Result<Summary, Error> {
        unimplemented!()
    }

    /// A stream to a stream, on all cores, in order.
    ///
    /// # Errors
    /// As for files.
    pub fn stream(&self, _input: impl Read + Send, _output: impl Write + Send, _work: &Work<'_>) -> Result<Summary, Error> {
        unimplemented!()
    }

    /// Bytes in memory, appended to `sealed`, whose memory is used again.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn bytes_onto(&self, _plain: &[u8], _sealed: &mut Vec<u8>) -> Result<(), Error> {
        unimplemented!()
    }

    /// Bytes in memory.
    ///
    /// # Errors
    /// As above.
    pub fn bytes(&self, plain: &[u8]) -> Result<Vec<u8>, Error> {
        let mut sealed = Vec::new();
        self.bytes_onto(plain, &mut sealed)?;
        Ok(sealed)
    }

    /// A writer that seals what is written to it.
    ///
    /// # Errors
    /// As above.
    pub fn writer<W: Write>(&self, _output: W) -> Result<Sealer<W>, Error> {
        unimplemented!()
    }
}

/// Seals what is written to it. Call [`Sealer::finish`]: without it the output is cut short, and refused.
pub struct Sealer<W>(W);

impl<W: Write> Sealer<W> {
    /// Writes the last segment.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(self) -> std::io::Result<W> {
        Ok(self.0)
    }
}
