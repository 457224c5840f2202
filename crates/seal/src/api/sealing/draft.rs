//! One file that is being sealed, in one of the two formats. All functions that seal take the same steps: [`Start`]
//! makes the keys, [`Draft`] plans the header and then makes the header and the payload, and [`Draft::finish`] makes
//! the trailer.

use std::io::Write;
use std::sync::Arc;

use super::Sealing;
use super::parts::Beginning;
use super::sealer::TrailerToWrite;
use crate::api::engine::stream;
use crate::format::age::{self, Chunks};
use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::floe::{Message, Parameters};
use crate::format::deadpan::header;
use crate::format::deadpan::padding::padded_length;
use crate::format::deadpan::recipient::{self, Recipient};
use crate::format::deadpan::trailer::{Recorder, Shelf, Watched};
use crate::format::payload::AnyPayload;
use crate::format::segment::{Payload, Segments};
use crate::{Error, Format, Secret};

/// The keys of a file, and the parts of its header that do not depend on a passphrase.
pub(super) struct Start<'s> {
    sealing: &'s Sealing,
    head: Head,
    payload: AnyPayload,
    /// The bytes between the header and the first segment.
    bytes: Vec<u8>,
}

enum Head {
    Deadpan {
        key: FileKey,
        metadata: Vec<u8>,
        /// The recipients, with the key that each plugin has wrapped, or `None` if no recipient has a plugin.
        prepared: Option<Vec<Recipient>>,
    },
    /// If the file has a passphrase, `header` is `None`, because the header is made later.
    Age { key: age::AgeFileKey, header: Option<Vec<u8>> },
}

impl<'s> Start<'s> {
    pub(super) fn new(sealing: &'s Sealing) -> Result<Self, Error> {
        match sealing.format {
            Format::Deadpan => Self::deadpan(sealing),
            Format::Age => Self::age(sealing),
        }
    }

    fn deadpan(sealing: &'s Sealing) -> Result<Self, Error> {
        let prepared = recipient::prepare(&sealing.recipients, sealing.mixed)?;
        let mut secret = Secret::zeroed(KEY);
        sealing.entropy.fill("file key", 0, &mut secret)?;
        let key = FileKey::from_secret(secret, sealing.signing.preamble()).ok_or(Error::System("no random bytes"))?;
        let metadata = sealing.contents.seal(&key, sealing.entropy)?;
        let preamble = key.preamble();
        let (message, floe) =
            key.message(|key| Message::start_with(Parameters::default(), key, preamble.bytes(), sealing.entropy))?;
        let head = Head::Deadpan { key, metadata, prepared };
        Ok(Self { sealing, head, payload: AnyPayload::Floe(message), bytes: floe.to_vec() })
    }

    fn age(sealing: &'s Sealing) -> Result<Self, Error> {
        if sealing.contents.padded {
            return Err(Error::Invalid("age files cannot hide the length of the data"));
        }
        if sealing.level.is_some() {
            return Err(Error::Invalid("age files cannot be compressed inside"));
        }
        if !sealing.signing.is_empty() {
            return Err(Error::Invalid("age files cannot be signed inside"));
        }
        let key = age::AgeFileKey::generate(sealing.entropy)?;
        let (chunks, nonce) = Chunks::start(&key, sealing.entropy)?;
        let header = match age::passphrase_length(&sealing.recipients) {
            Some(_) => None,
            None => Some(age_header(sealing, &key)?),
        };
        let head = Head::Age { key, header };
        Ok(Self { sealing, head, payload: AnyPayload::Age(chunks), bytes: nonce.to_vec() })
    }

    /// Returns the number of bytes of plain data in a unit of the engine.
    pub(super) fn unit(&self) -> usize {
        stream::data_unit(&self.payload)
    }

    /// Returns how data of this length, together with the padding, divide into segments.
    pub(super) fn segments_for(&self, length: u64) -> Result<Segments, Error> {
        self.payload.segments_for(if self.sealing.contents.padded { padded_length(length)? } else { length })
    }

    /// Returns the length of the header. If the data are longer than a unit of the engine and the format allows it, the
    /// first segment begins at a page boundary, and the header has room for more recipients.
    fn header_length(&self, long: bool) -> usize {
        match &self.head {
            Head::Deadpan { metadata, .. } => {
                let length = header::length(self.recipients().iter().flat_map(Recipient::bodies), metadata.len());
                if long { header::with_room(length) } else { length }
            }
            Head::Age { header, .. } => {
                let made = header.as_ref().map(Vec::len);
                made.or_else(|| age::passphrase_length(self.recipients())).unwrap_or_default()
            }
        }
    }

    /// Returns the number of bytes before the first segment of a file with these segments.
    pub(super) fn length(&self, segments: Segments) -> u64 {
        (self.header_length(segments.data() > self.unit() as u64) + self.bytes.len()) as u64
    }

    fn recipients(&self) -> &[Recipient] {
        match &self.head {
            Head::Deadpan { prepared: Some(prepared), .. } => prepared,
            _ => &self.sealing.recipients,
        }
    }

    /// If a plugin wrapped a key that was not used, stores the key in the plugin's recipient for the next file.
    pub(super) fn put_back(&self) {
        if let Head::Deadpan { prepared: Some(prepared), .. } = &self.head {
            recipient::put_back(prepared);
        }
    }

    /// Makes the header and the beginning of the payload. Making the header takes longer if the file has a passphrase.
    fn header(&self, length: usize) -> Result<Vec<u8>, Error> {
        let mut header = match &self.head {
            Head::Deadpan { key, metadata, .. } => {
                let entries = recipient::wrap_all(self.recipients(), key, self.sealing.entropy)?;
                header::build(key, &entries, metadata, length)?
            }
            Head::Age { header: Some(header), .. } => header.clone(),
            Head::Age { key, header: None } => age_header(self.sealing, key)?,
        };
        if header.len() != length {
            return Err(Error::System("the header has another length than was counted"));
        }
        header.extend_from_slice(&self.bytes);
        Ok(header)
    }

    /// Makes a header that is as long as a segment. Returns the keys of the payload, and the beginning of a file that
    /// is made in parts.
    pub(super) fn into_parts(self) -> Result<(Message, Beginning), Error> {
        let room = self.payload.shape().sealed.saturating_sub(self.bytes.len());
        let header = self.header(room)?;
        match (self.head, self.payload) {
            (Head::Deadpan { key, metadata, .. }, AnyPayload::Floe(message)) => {
                Ok((message, Beginning { header, key, metadata, start: self.bytes }))
            }
            _ => Err(Error::System("the payload has another form")),
        }
    }
}

fn age_header(sealing: &Sealing, key: &age::AgeFileKey) -> Result<Vec<u8>, Error> {
    age::AgeHeader::build(key, &age::wrap_all(&sealing.recipients, &[], sealing.mixed, key, sealing.entropy)?)
}

/// A file whose header length is decided. If the file is signed, the recorder hashes the segments.
pub(super) struct Draft<'s, 'o> {
    start: Start<'s>,
    header_length: usize,
    recorder: Option<Recorder<'o>>,
}

impl<'s, 'o> Draft<'s, 'o> {
    /// Plans the header. `long` states whether the data are longer than a unit of the engine. The function calls
    /// `shelf` with the position of the first segment. `shelf` returns the storage for the hashes of a signed file.
    pub(super) fn begin(start: Start<'s>, long: bool, shelf: impl FnOnce(u64) -> Shelf<'o>) -> Result<Self, Error> {
        let header_length = start.header_length(long);
        let begin = (header_length + start.bytes.len()) as u64;
        let recorder = match &start.head {
            Head::Deadpan { key, .. } => start.sealing.signing.recorder(key, || shelf(begin), start.sealing.entropy)?,
            Head::Age { .. } => None,
        };
        Ok(Self { start, header_length, recorder })
    }

    /// Returns the number of bytes before the first segment.
    pub(super) fn length(&self) -> usize {
        self.header_length + self.start.bytes.len()
    }

    /// Returns the number of bytes in a sealed unit of the engine.
    pub(super) fn unit(&self) -> u64 {
        stream::sealed_unit(&self.start.payload) as u64
    }

    /// Makes the bytes before the first segment.
    pub(super) fn header(&self) -> Result<Vec<u8>, Error> {
        self.start.header(self.header_length)
    }

    /// Returns the payload. In a signed file, the returned payload also hashes its segments.
    pub(super) fn payload(&self) -> Watched<'_, AnyPayload, Option<Recorder<'o>>> {
        Watched { payload: &self.start.payload, watch: &self.recorder }
    }

    /// Makes the header and the payload. If a passphrase makes the header slow, makes the header and the payload in
    /// parallel, because the payload does not depend on the passphrase.
    pub(super) fn make<P>(
        &self,
        put_header: impl Fn(&[u8]) -> Result<(), Error> + Sync,
        put_payload: impl FnOnce(&Watched<'_, AnyPayload, Option<Recorder<'o>>>) -> Result<P, Error>,
    ) -> Result<(Vec<u8>, P), Error> {
        let header = || {
            let header = self.header()?;
            put_header(&header).map(|()| header)
        };
        let payload = || put_payload(&self.payload());
        // A session hashes its passphrase only for the first item. Starting a thread for each item would take more time
        // than this single hash.
        if !self.start.sealing.recipients.iter().any(|it| matches!(it, Recipient::Passphrase(..))) {
            return Ok((header()?, payload()?));
        }
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().spawn_scoped(scope, header);
            let payload = payload()?;
            // If no thread can be started, the header is made after the payload.
            let header = thread
                .map_or_else(|_| header(), |thread| thread.join().unwrap_or(Err(Error::System("a thread ended"))))?;
            Ok((header, payload))
        })
    }

    /// Writes the trailer of a signed file, and returns its length. `header` begins with the file's header.
    pub(super) fn finish(self, header: &[u8], output: impl Write) -> Result<u64, Error> {
        let Start { sealing: Sealing { signing, contents, recipients, entropy, .. }, head, .. } = &self.start;
        let (Some(recorder), Head::Deadpan { key, .. }) = (self.recorder, head) else { return Ok(0) };
        let claim = signing.claim(contents, recipients, header, *entropy)?;
        signing.finish(recorder, key, claim, output)
    }
}

impl Draft<'_, 'static> {
    /// Returns the payload, and the values from which the trailer of a signed file is made. A writer that lives longer
    /// than this [`Draft`] needs the payload and these values.
    pub(super) fn into_ending(self, header: &[u8]) -> Result<(AnyPayload, Option<TrailerToWrite>), Error> {
        let Start { sealing: Sealing { signing, contents, recipients, entropy, .. }, head, payload, .. } = self.start;
        let ending = match (self.recorder, head) {
            (Some(recorder), Head::Deadpan { key, .. }) => {
                let claim = signing.claim(contents, recipients, header, *entropy)?;
                Some(TrailerToWrite { recorder: Arc::new(recorder), signing: signing.clone(), key, claim })
            }
            _ => None,
        };
        Ok((payload, ending))
    }
}
