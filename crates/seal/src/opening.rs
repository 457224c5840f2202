//! Opening: a header, the keys that fit it, and then any of the ways to get at the data.

use crate::{Error, Metadata, Passphrase, PrivateKey, Stanza, Summary, Work};
use std::fs::File;
use std::io::{Read, Seek, Write};

/// What may open a file.
#[derive(Clone, Debug)]
pub enum Identity {
    /// A private key.
    Key(PrivateKey),
    /// A passphrase.
    Passphrase(Passphrase),
}

/// A sealed file's header, parsed and not yet trusted: what it shows to anybody.
#[derive(Debug)]
pub struct Header(());

impl Header {
    /// Reads the header, and not a byte more.
    ///
    /// # Errors
    /// If the input is not a sealed file, or damaged.
    pub fn read(_input: impl Read) -> Result<Self, Error> {
        unimplemented!()
    }

    /// The recipients, as far as they show.
    #[must_use]
    pub fn stanzas(&self) -> Vec<Stanza> {
        unimplemented!()
    }

    /// Bytes in the header; the payload follows.
    #[must_use]
    pub fn length(&self) -> u64 {
        unimplemented!()
    }

    /// The format's version.
    #[must_use]
    pub fn version(&self) -> u8 {
        1
    }

    /// Bytes left free for more recipients.
    #[must_use]
    pub fn slack(&self) -> u64 {
        unimplemented!()
    }

    /// Bytes in the metadata box.
    #[must_use]
    pub fn metadata_length(&self) -> u64 {
        unimplemented!()
    }

    /// Tries the identities against the recipients.
    ///
    /// # Errors
    /// [`Error::NoKeyFits`]; [`Error::WrongPassphrase`]; [`Error::HeaderForged`].
    pub fn open(self, _identities: &[Identity]) -> Result<Opened, Error> {
        unimplemented!()
    }
}

/// A file whose header is open.
pub struct Opened(());

impl Opened {
    /// What was sealed.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        unimplemented!()
    }

    /// Whether the length is padded.
    #[must_use]
    pub fn hides_length(&self) -> bool {
        unimplemented!()
    }

    /// One regular file to another, on all cores, at positions. `input` is the whole sealed file; `output` must be empty.
    ///
    /// # Errors
    /// If the data were changed or cut short, or if the system fails. What is in `output` then must not be used.
    pub fn file(&self, _input: &File, _output: &File, _work: &Work<'_>) -> Result<Summary, Error> {
        unimplemented!()
    }

    /// What follows the header, to a stream, on all cores, in order. What comes out is authentic; after an error more was to come.
    ///
    /// # Errors
    /// As for files.
    pub fn stream(&self, _input: impl Read + Send, _output: impl Write + Send, _work: &Work<'_>) -> Result<Summary, Error> {
        unimplemented!()
    }

    /// What follows the header, in memory, appended to `plain`.
    ///
    /// # Errors
    /// If the data were changed or cut short; `plain` is then as before.
    pub fn bytes_onto(&self, _payload: &[u8], _plain: &mut Vec<u8>) -> Result<(), Error> {
        unimplemented!()
    }

    /// A reader of what follows the header.
    pub fn reader<R: Read>(&self, _input: R) -> Opener<R> {
        unimplemented!()
    }

    /// A reader that can jump, and opens only what is read. `input` is the whole sealed file.
    ///
    /// # Errors
    /// If the file's length cannot be right, or its last segment does not open.
    pub fn seekable<R: Read + Seek>(&self, _input: R) -> Result<RangeReader<R>, Error> {
        unimplemented!()
    }
}

/// Opens what is read through it.
pub struct Opener<R>(R);

impl<R: Read> Read for Opener<R> {
    fn read(&mut self, _buffer: &mut [u8]) -> std::io::Result<usize> {
        unimplemented!()
    }
}

/// Opens what is read, wherever.
pub struct RangeReader<R>(R);

impl<R: Read + Seek> RangeReader<R> {
    /// How long the plain data are.
    #[must_use]
    pub fn length(&self) -> u64 {
        unimplemented!()
    }
}

impl<R: Read + Seek> Read for RangeReader<R> {
    fn read(&mut self, _buffer: &mut [u8]) -> std::io::Result<usize> {
        unimplemented!()
    }
}

impl<R: Read + Seek> Seek for RangeReader<R> {
    fn seek(&mut self, _position: std::io::SeekFrom) -> std::io::Result<u64> {
        unimplemented!()
    }
}
