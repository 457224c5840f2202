//! An open header with its file key, in one of the two formats. This value is needed to open the payload.

use std::io::Read;

use crate::format::age::{self, Chunks};
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::floe::{self, Message};
use crate::format::deadpan::header::{Parsed, check_segment};
use crate::format::deadpan::layout::START;
use crate::format::deadpan::trailer::Addressee;
use crate::format::fill::read_full;
use crate::format::payload::AnyPayload;
use crate::{Error, Format};

pub(super) enum Unlocked {
    /// `opener` is the recipient whose identity opened the header.
    Deadpan {
        key: FileKey,
        header: Parsed,
        opener: Addressee,
    },
    Age {
        key: age::AgeFileKey,
        header: age::AgeHeader,
    },
}

impl Unlocked {
    pub(super) const fn format(&self) -> Format {
        match self {
            Self::Deadpan { .. } => Format::Deadpan,
            Self::Age { .. } => Format::Age,
        }
    }

    pub(super) fn header_length(&self) -> usize {
        match self {
            Self::Deadpan { header, .. } => header.length(),
            Self::Age { header, .. } => header.length(),
        }
    }

    /// Returns the number of bytes before the first segment.
    pub(super) fn begin(&self) -> u64 {
        let start = match self {
            Self::Deadpan { .. } => floe::HEADER,
            Self::Age { .. } => age::NONCE,
        };
        (self.header_length() + start) as u64
    }

    /// Reads the beginning of the payload.
    pub(super) fn payload(&self, mut input: impl Read) -> Result<AnyPayload, Error> {
        match self {
            Self::Deadpan { key, .. } => {
                let mut start = [0; floe::HEADER];
                let length = read_full(&mut input, &mut start).map_err(Error::Read)?;
                let start = start.get(..length).unwrap_or_default();
                refuse_header(start)?;
                let message = key.message(|bytes| Message::resume(bytes, key.preamble().bytes(), start))?;
                check_segment(message.segment_length())?;
                Ok(AnyPayload::Floe(message))
            }
            Self::Age { key, .. } => Ok(AnyPayload::Age(Chunks::resume(key, input)?)),
        }
    }
}

/// Refuses a payload that begins with the signature of a sealed file. FLOE's header never begins with this signature.
pub(super) fn refuse_header(start: &[u8]) -> Result<(), Error> {
    if start.starts_with(&START) { Err(Error::WholeFile) } else { Ok(()) }
}
