//! The engine that makes the parts of a long result.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use serde_json::{Map, Value};

use crate::Error;
use crate::act::Divided;
use crate::buffers::{Buffer, Buffers};
use crate::job::Job;
use crate::source::Source;
use deadpan_ct::Wipe;
use deadpan_seal::{Error as SealError, Format, Header, Opened, Parts};

/// The number of segments of 256 KiB in a part of 16 MiB.
const EACH: u64 = 64;
/// The maximum number of parts of an upload, a little below the limit of stores.
pub(crate) const PARTS: u64 = 9_990;
const SEGMENT: u64 = 256 << 10;
/// The most segments in a part. Such a part is 1 GiB long. This limit also bounds the memory that the program allocates
/// if a store reports a wrong length of an object.
const LONGEST: u64 = 4096;
/// The number of bytes in a part, if the result does not need longer parts.
pub(crate) const PART: u64 = EACH * SEGMENT;
/// The number of bytes of a source that are read to find out whether its result can be divided.
pub(crate) const BEGINNING: u64 = 300 << 10;

/// The engine that makes the parts.
pub(crate) enum Maker {
    Seal { parts: Parts, header: Bytes },
    Open { opened: Arc<Opened>, length: u64, each: u64 },
}

/// The maker for a new upload, its fields in the manifest, and the bytes after the JSON line of the manifest: the
/// ticket and the header.
pub(crate) type New = (Maker, Map<String, Value>, Vec<u8>);

impl Maker {
    /// Returns the number of parts.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::Seal { parts, .. } => parts.count(),
            Self::Open { length, each, .. } => length.div_ceil(*each).max(1),
        }
    }

    /// Returns the length of the result.
    pub(crate) fn length(&self) -> u64 {
        match self {
            Self::Seal { parts, .. } => parts.length(),
            Self::Open { length, .. } => *length,
        }
    }

    fn data(&self, part: u64) -> Range<u64> {
        match self {
            Self::Seal { parts, .. } => parts.data(part),
            Self::Open { length, each, .. } => (part * each).min(*length)..(part * each + each).min(*length),
        }
    }

    pub(crate) fn bytes_in(&self, part: u64) -> u64 {
        let data = self.data(part);
        data.end - data.start
    }

    /// Returns the length of a part.
    pub(crate) fn part_length(&self, part: u64) -> u64 {
        match self {
            Self::Seal { parts, .. } => parts.sealed_length(part) as u64,
            Self::Open { .. } => self.bytes_in(part),
        }
    }

    /// Makes a part. A part may be made again.
    pub(crate) fn make(&self, part: u64, source: &Source, buffers: &Arc<Buffers>) -> Result<Bytes, Error> {
        let range = self.data(part);
        match self {
            Self::Seal { parts, header } => {
                let mut data = buffers.take((range.end - range.start) as usize);
                source.fill(&mut data, range.start)?;
                let mut sealed = buffers.take(parts.sealed_length(part));
                if part == 0 {
                    sealed[..header.len()].copy_from_slice(header);
                }
                parts.seal(part, &data, &mut sealed)?;
                Ok(Bytes::from_owner(sealed))
            }
            Self::Open { opened, .. } => {
                let length = (range.end - range.start) as usize;
                let (mut sealed, mut data) = (buffers.take(length), Excerpt(buffers.take(length)));
                let opened = match source {
                    Source::Object(object) => {
                        opened.read_range(&**object, object.length(), range, sealed.bytes(), &mut data.0)
                    }
                    Source::File(_, file, about) => {
                        opened.read_range(file, about.length, range, sealed.bytes(), &mut data.0)
                    }
                };
                opened.map_err(of_store)?;
                Ok(Bytes::from_owner(data))
            }
        }
    }

    /// Returns the maker for a new upload, or `None` if the result cannot be divided.
    pub(crate) fn new(job: &Job, source: &Source, divided: Divided) -> Result<Option<New>, Error> {
        let about = |ticket: usize, each: u64| {
            Map::from_iter([("each".to_owned(), each.into()), ("ticket".to_owned(), ticket.into())])
        };
        let each = EACH.max((source.length() / PARTS).div_ceil(SEGMENT) + 1);
        if each > LONGEST {
            return Err(Error::Refused("no object can be so long".to_owned()));
        }
        match divided {
            Divided::Seal(sealing) => {
                // Only one header is made at a time, since the hash of a passphrase takes 256 MiB.
                static TURN: Mutex<()> = Mutex::new(());
                let turn = TURN.lock();
                let made = sealing.divide(source.length(), each);
                drop(turn);
                let (parts, beginning) = match made {
                    // Data that are to be signed, or sealed in another format, cannot be divided into parts.
                    Err(SealError::Invalid(_)) => return Ok(None),
                    other => other?,
                };
                let mut more = beginning.ticket(&[job.key.recipient()])?;
                let about = about(more.len(), each);
                more.extend_from_slice(beginning.header());
                let header = Bytes::copy_from_slice(beginning.header());
                Ok(Some((Self::Seal { parts, header }, about, more)))
            }
            Divided::Open(opened) => {
                if opened.needs_end() || opened.format() != Format::Deadpan {
                    return Ok(None);
                }
                let ticket = match opened.rewrap(&[job.key.recipient()], false) {
                    // The header has no space for another recipient.
                    Err(SealError::TooMany(_)) => return Ok(None),
                    other => other?,
                };
                let (length, each) = (plain_length(&opened, source)?, each * SEGMENT);
                Ok(Some((Self::Open { opened, length, each }, about(ticket.len(), each), ticket)))
            }
        }
    }

    /// Returns the maker for an upload that was begun, or `None` if the manifest is damaged.
    pub(crate) fn resumed(job: &Job, source: &Source, about: &Value, more: &Bytes) -> Option<Result<Self, Error>> {
        let each = about.get("each")?.as_u64().filter(|each| *each > 0)?;
        let ticket = more.get(..usize::try_from(about.get("ticket")?.as_u64()?).ok()?)?;
        let header = more.slice(ticket.len()..);
        let is_seal = about.get("act")?.as_str()? == "seal";
        Some((|| {
            let mut rest = ticket;
            let opened = job.key.open(Header::read(&mut rest)?, &job.to_string())?;
            if is_seal {
                return Ok(Self::Seal { parts: opened.divide(rest, source.length(), each)?, header });
            }
            let length = plain_length(&opened, source)?;
            Ok(Self::Open { opened: Arc::new(opened), length, each })
        })())
    }
}

fn plain_length(opened: &Opened, source: &Source) -> Result<u64, Error> {
    let length = match source {
        Source::Object(object) => opened.room_at(&**object, object.length()),
        Source::File(_, file, about) => opened.room_at(file, about.length),
    };
    length.map_err(of_store)
}

/// Unencrypted data. The data are wiped after they were sent.
struct Excerpt(Buffer);

impl AsRef<[u8]> for Excerpt {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Excerpt {
    fn drop(&mut self) {
        self.0.wipe();
    }
}

/// Returns the store's own error, if the sealing engine's error contains one.
fn of_store(error: SealError) -> Error {
    match error {
        SealError::Read(error) if error.get_ref().is_some() => match error.into_inner() {
            Some(inner) => Error::from(inner),
            None => Error::Changed,
        },
        other => Error::Seal(other),
    }
}
