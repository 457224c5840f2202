//! Sealed files that are made in parts. Each part can be made alone, in any order, on any machine, and again after a
//! failure.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::Read;
use std::ops::Range;

use super::Sealing;
use super::draft::Start;
use crate::api::opening::Opened;
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::floe::Message;
use crate::format::deadpan::header;
use crate::format::deadpan::padding::{MARK, padded_length};
use crate::format::deadpan::recipient::{self, Recipient};
use crate::format::payload::AnyPayload;
use crate::format::segment::{Payload, Segments};
use crate::primitive::entropy::Entropy;
use crate::{Error, Format};
use deadpan_ct::Wiped;

/// How a sealed file divides into parts, and the keys with which the parts are sealed.
///
/// All parts have the same length, because some data stores require that. Only the last part may be shorter. The header
/// is as long as one segment and is at the beginning of part 0, so every later part begins with a segment.
///
/// ```
/// use deadpan_seal::{Header, Identity, Kem, PrivateKey, Recipient, Sealing, open};
///
/// let (key, job) = (PrivateKey::generate(Kem::XWing)?, PrivateKey::generate(Kem::XWing)?);
/// let data = vec![7; 2_000_000];
/// let (parts, beginning) = Sealing::to(vec![Recipient::from(key.public())])?.divide(data.len() as u64, 4)?;
/// let ticket = beginning.ticket(&[Recipient::from(job.public())])?;
///
/// // Elsewhere: whoever has the ticket and the job's key seals any part.
/// let mut input = ticket.as_slice();
/// let worker = Header::read(&mut input)?.open(&[Identity::from(&job)])?.divide(input, data.len() as u64, 4)?;
/// let mut sealed = Vec::new();
/// for part in 0..worker.count() {
///     let mut bytes = vec![0; worker.sealed_length(part)];
///     let range = worker.data(part);
///     worker.seal(part, &data[range.start as usize..range.end as usize], &mut bytes)?;
///     sealed.extend(bytes);
/// }
/// sealed[..beginning.header().len()].copy_from_slice(beginning.header());
/// assert_eq!(open(&key, &sealed)?, data);
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
pub struct Parts {
    message: Message,
    segments: Segments,
    /// The number of segments for which a part has room.
    each: u64,
    /// The number of bytes of data, without padding.
    length: u64,
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("count", &self.count()).finish_non_exhaustive()
    }
}

/// The beginning of a sealed file that is made in parts. This value holds the file key.
pub struct Beginning {
    pub(super) header: Vec<u8>,
    pub(super) key: FileKey,
    pub(super) metadata: Vec<u8>,
    /// The header of the payload. `header` ends with these bytes.
    pub(super) start: Vec<u8>,
}

impl fmt::Debug for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Beginning(..)")
    }
}

impl Beginning {
    /// Returns the bytes at the beginning of part 0. They are as long as a segment.
    #[must_use]
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Returns a ticket, with which other people or machines can seal parts. The ticket contains the file key, sealed
    /// to these recipients, and looks like the beginning of a sealed file. [`Opened::divide`] takes the ticket.
    ///
    /// # Errors
    /// If there are too many recipients, or if the system fails.
    pub fn ticket(&self, recipients: &[Recipient]) -> Result<Vec<u8>, Error> {
        recipient::check(recipients, true)?;
        let entries = recipient::wrap_all(recipients, &self.key, Entropy::System)?;
        let length = header::length(entries.iter().map(|entry| entry.body.len()), self.metadata.len());
        let mut ticket = header::build(&self.key, &entries, &self.metadata, length)?;
        ticket.extend_from_slice(&self.start);
        Ok(ticket)
    }
}

impl Sealing {
    /// Begins a sealed file for `length` bytes of data. Each part has room for `each` segments of 256 KiB.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `each` is 0, or for age files, signed files and compressed files, which cannot be made in
    /// parts; [`Error::TooMany`] if the recipients do not fit into a segment; [`Error::TooLong`] if the data are too
    /// long; another error if the system fails.
    pub fn divide(&self, length: u64, each: u64) -> Result<(Parts, Beginning), Error> {
        if !self.signing.is_empty() {
            return Err(Error::Invalid("a signed file cannot be made in parts"));
        }
        if self.format == Format::Age {
            return Err(Error::Invalid("an age file cannot be made in parts"));
        }
        if self.level.is_some() {
            return Err(Error::Invalid("a compressed file cannot be made in parts"));
        }
        let (message, beginning) = Start::new(self)?.into_parts()?;
        Ok((Parts::new(message, length, each, self.contents.padded)?, beginning))
    }
}

impl Parts {
    pub(crate) fn new(message: Message, length: u64, each: u64, padded: bool) -> Result<Self, Error> {
        let segments = message.segments_for(if padded { padded_length(length)? } else { length })?;
        // The parts are made in memory, so the length of a part is limited.
        if each == 0 || each.checked_mul(segments.segment_length()).is_none_or(|part| part > isize::MAX as u64) {
            return Err(Error::Invalid("a part of no bytes, or of more than memory can hold"));
        }
        Ok(Self { message, segments, each, length })
    }

    /// Returns the number of parts, at least one.
    #[must_use]
    pub fn count(&self) -> u64 {
        (self.segments.count() + 1).div_ceil(self.each)
    }

    fn segments(&self, part: u64) -> Range<u64> {
        let count = self.segments.count();
        let first = part.saturating_mul(self.each);
        // The header takes the place of the first segment in part 0.
        first.saturating_sub(1).min(count)..first.saturating_add(self.each - 1).min(count)
    }

    /// Returns the range of the data that belongs to a part. The range is empty if the part contains only the header or
    /// only padding.
    #[must_use]
    pub fn data(&self, part: u64) -> Range<u64> {
        let segments = self.segments(part);
        let at = |segment| self.segments.data_at(segment).min(self.length);
        at(segments.start)..at(segments.end)
    }

    /// Returns the length of a part. The length of part 0 includes the header.
    #[must_use]
    pub fn sealed_length(&self, part: u64) -> usize {
        let segments = self.segments(part);
        let header = if part == 0 { self.segments.segment_length() } else { 0 };
        let sealed = |segment| self.segments.sealed_at(segment).min(self.segments.sealed());
        (header + sealed(segments.end) - sealed(segments.start)) as usize
    }

    /// Returns the total length of all parts.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.segments.segment_length() + self.segments.sealed()
    }

    /// Seals a part. `data` must be the range of the data that [`Parts::data`] returns, and `sealed` must be as long as
    /// [`Parts::sealed_length`] returns. In part 0, this method does not write the bytes of the header. A part may be
    /// sealed again from the same data.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is no such part, or if a length is wrong. Another error if the system fails.
    pub fn seal(&self, part: u64, data: &[u8], sealed: &mut [u8]) -> Result<(), Error> {
        let range = self.data(part);
        let is_right = part < self.count() && data.len() as u64 == range.end - range.start;
        if !is_right || sealed.len() != self.sealed_length(part) {
            return Err(Error::Invalid("a part that there is not, or with data of another length"));
        }
        let shape = self.message.shape();
        let body = if part == 0 { &mut sealed[shape.sealed..] } else { sealed };
        let (mut cipher, mut last) = (self.message.cipher(), Wiped::new(Vec::new()));
        for (segment, sealed) in self.segments(part).zip(body.chunks_mut(shape.sealed)) {
            let at = self.segments.data_at(segment);
            let wanted = self.segments.data_in(segment);
            let here = data.get((at.min(range.end) - range.start) as usize..).unwrap_or_default();
            let plain = match here.get(..wanted) {
                Some(plain) => plain,
                None => {
                    self.pad(at, here, wanted, &mut last);
                    &last
                }
            };
            cipher.seal(segment, self.segments.is_last(segment), plain, sealed)?;
        }
        Ok(())
    }

    /// Fills a segment that begins at position `at` in the data. The segment contains the rest of the data, and then
    /// padding.
    fn pad(&self, at: u64, rest: &[u8], wanted: usize, padded: &mut Vec<u8>) {
        padded.clear();
        padded.extend_from_slice(rest);
        padded.resize(wanted, 0);
        if let Some(mark) = self.length.checked_sub(at).and_then(|place| padded.get_mut(place as usize)) {
            *mark = MARK;
        }
    }
}

impl Opened {
    /// Returns how a sealed file for `length` bytes of data divides into parts. Each part has room for `each` segments.
    /// The header that was opened must be the header of a ticket ([`Beginning::ticket`]). `input` is the rest of the
    /// ticket.
    ///
    /// # Errors
    /// [`Error::Invalid`] for the same reasons as in [`Sealing::divide`]. Another error if the rest of the ticket was
    /// changed or cannot be read.
    pub fn divide(&self, input: impl Read, length: u64, each: u64) -> Result<Parts, Error> {
        match self.payload(input)? {
            AnyPayload::Floe(message) if !self.is_signed() && !self.is_compressed() => {
                Parts::new(message, length, each, self.hides_length())
            }
            _ => Err(Error::Invalid("this file cannot be made in parts")),
        }
    }
}
