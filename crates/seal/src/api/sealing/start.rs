//! The beginning of a file, in either format.

use std::io::Write;

use super::Sealing;
use crate::format::age::{self, Chunks};
use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::floe::{Message, Parameters};
use crate::format::deadpan::header;
use crate::format::deadpan::recipient::{self, Recipient};
use crate::format::deadpan::trailer::{Recorder, Shelf};
use crate::format::payload::AnyPayload;
use crate::{Error, Format, Secret};

/// The beginning of a file, except the recipients that may take longer.
pub(super) struct Start {
    head: Head,
    pub(super) payload: AnyPayload,
    /// The bytes between the header and the first segment.
    bytes: Vec<u8>,
}

enum Head {
    Deadpan {
        key: FileKey,
        metadata: Vec<u8>,
        /// The recipients with the keys that their plugins have wrapped, if there are plugins.
        prepared: Option<Vec<Recipient>>,
    },
    /// The header is not made yet if it takes a passphrase.
    Age { key: age::FileKey, header: Option<Vec<u8>> },
}

impl Start {
    /// Returns the bytes between the header and the first segment.
    pub(super) fn start_length(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the file key of Deadpan's own format.
    pub(super) fn key(&self) -> Option<&FileKey> {
        if let Head::Deadpan { key, .. } = &self.head { Some(key) } else { None }
    }

    /// Returns the file key, the metadata box, the payload's keys and the payload's header of Deadpan's own format.
    pub(super) fn apart(self) -> Option<(FileKey, Vec<u8>, Message, Vec<u8>)> {
        match (self.head, self.payload) {
            (Head::Deadpan { key, metadata, .. }, AnyPayload::Floe(message)) => {
                Some((key, metadata, message, self.bytes))
            }
            _ => None,
        }
    }

    /// Gives wrapped keys that sealed nothing back to their recipients.
    pub(super) fn put_back(&self) {
        if let Head::Deadpan { prepared: Some(prepared), .. } = &self.head {
            recipient::put_back(prepared);
        }
    }
}

impl Sealing {
    pub(super) fn start(&self) -> Result<Start, Error> {
        match self.format {
            Format::Deadpan => self.start_own(),
            Format::Age => self.start_age(),
        }
    }

    fn start_own(&self) -> Result<Start, Error> {
        let prepared = recipient::prepare(&self.recipients, self.mixed)?;
        let mut secret = Secret::zeroed(KEY);
        self.entropy.fill("file key", 0, &mut secret)?;
        let key = FileKey::from_secret(secret, self.signing.preamble()).ok_or(Error::System("no random bytes"))?;
        let metadata = self.contents.seal(&key, self.entropy)?;
        let preamble = key.preamble();
        let (message, floe) =
            key.message(|key| Message::start_with(Parameters::default(), key, preamble.bytes(), self.entropy))?;
        Ok(Start {
            head: Head::Deadpan { key, metadata, prepared },
            payload: AnyPayload::Floe(message),
            bytes: floe.to_vec(),
        })
    }

    fn start_age(&self) -> Result<Start, Error> {
        if self.contents.padded {
            return Err(Error::Invalid("age files cannot hide the length of the data"));
        }
        if !self.signing.is_empty() {
            return Err(Error::Invalid("age files cannot be signed inside"));
        }
        let key = age::FileKey::generate(self.entropy)?;
        let (chunks, nonce) = Chunks::start(&key, self.entropy)?;
        let header = match age::passphrase_length(&self.recipients) {
            Some(_) => None,
            None => Some(self.age_header(&key)?),
        };
        Ok(Start { head: Head::Age { key, header }, payload: AnyPayload::Age(chunks), bytes: nonce.to_vec() })
    }

    fn age_header(&self, key: &age::FileKey) -> Result<Vec<u8>, Error> {
        age::Header::build(key, &age::wrap_all(&self.recipients, &[], self.mixed, key, self.entropy)?)
    }

    /// Returns the length of the header. If there is more data than one unit, the first segment begins on a page, and
    /// there is room for more recipients, where the format allows that.
    pub(super) fn header_length(&self, start: &Start, long: bool) -> usize {
        match &start.head {
            Head::Deadpan { metadata, prepared, .. } => {
                let recipients = prepared.as_deref().unwrap_or(&self.recipients);
                let length = header::length(recipients.iter().flat_map(Recipient::bodies), metadata.len());
                if long { header::with_room(length) } else { length }
            }
            Head::Age { header, .. } => {
                let made = header.as_ref().map(Vec::len);
                made.or_else(|| age::passphrase_length(&self.recipients)).unwrap_or_default()
            }
        }
    }

    /// Returns what hashes the segments of a signed file; `None` if nobody signs.
    pub(super) fn recorder<'a>(
        &self,
        start: &Start,
        shelf: impl FnOnce() -> Shelf<'a>,
    ) -> Result<Option<Recorder<'a>>, Error> {
        start.key().map_or(Ok(None), |key| self.signing.recorder(key, shelf, self.entropy))
    }

    /// Writes the trailer of a signed file, and returns its length. `header` begins with the file's header.
    pub(super) fn end(
        &self,
        start: &Start,
        recorder: Option<Recorder<'_>>,
        header: &[u8],
        output: impl Write,
    ) -> Result<u64, Error> {
        let (Some(recorder), Some(key)) = (recorder, start.key()) else { return Ok(0) };
        let claim = self.signing.claim(&self.contents, &self.recipients, header, self.entropy)?;
        self.signing.finish(recorder, key, claim, output)
    }

    /// Makes the header and the beginning of the payload. With a passphrase this takes a while.
    pub(super) fn header(&self, start: &Start, length: usize) -> Result<Vec<u8>, Error> {
        let mut header = match &start.head {
            Head::Deadpan { key, metadata, prepared } => {
                let recipients = prepared.as_deref().unwrap_or(&self.recipients);
                let entries = recipient::wrap_all(recipients, key, self.entropy)?;
                header::build(key, &entries, metadata, length)?
            }
            Head::Age { header: Some(header), .. } => header.clone(),
            Head::Age { key, header: None } => self.age_header(key)?,
        };
        if header.len() != length {
            return Err(Error::System("the header has another length than was counted"));
        }
        header.extend_from_slice(&start.bytes);
        Ok(header)
    }
}
