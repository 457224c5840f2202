//! Headers: writing them, and reading them strictly. docs/format-seal.md describes the bytes.

mod looks_like;
mod parse;

#[cfg(test)]
mod tests;

pub(crate) use parse::{Parsed, check_segment};

use crate::Error;
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::floe;
use crate::format::deadpan::layout::{Entry, Preamble};

/// Bytes before the recipients: the preamble, the header's length, the number of recipients.
pub(crate) const FIXED: usize = Preamble::LENGTH + 4 + 2;
pub(crate) const MAC: usize = 32;
/// The longest header that is written or read.
pub(crate) const LONGEST: usize = 1 << 20;
/// A payload of more than one unit begins on a page, since systems copy whole pages fastest.
pub(crate) const PAGE: usize = 4096;
/// The slack of a header before a payload of more than one unit: room for eight more recipients with X-Wing keys, so
/// that recipients can be added without a copy of the payload.
pub(crate) const ROOM: usize = 8 * (4 + 1168);

/// Returns how long a header with bodies of these lengths and a metadata box is.
pub(crate) fn length(bodies: impl Iterator<Item = usize>, metadata: usize) -> usize {
    FIXED + bodies.map(|body| 4 + body).sum::<usize>() + 4 + metadata + MAC
}

/// Returns the length of a header before a payload of more than one unit, from the length that it needs: the first
/// segment begins on a page, and the slack has room for [`ROOM`]. A header that would become too long has less slack.
pub(crate) fn with_room(needed: usize) -> usize {
    const LAST: usize = (LONGEST + floe::HEADER) / PAGE * PAGE - floe::HEADER;
    let aligned = (needed + ROOM + floe::HEADER).next_multiple_of(PAGE) - floe::HEADER;
    aligned.min(LAST).max(needed)
}

/// Returns the bytes of a header that is `length` long, slack included. [`Parsed::read`] accepts them: a header may
/// replace one that opens, so it is read back before it is used.
pub(crate) fn build(key: &FileKey, entries: &[Entry], metadata: &[u8], length: usize) -> Result<Vec<u8>, Error> {
    let header = encode(key, entries, metadata, length)?;
    Parsed::read(&header[..]).map_err(|_| Error::System("a new header cannot be read back"))?;
    Ok(header)
}

/// Returns the bytes of a header, which may break rules of the format if an entry does.
pub(crate) fn encode(key: &FileKey, entries: &[Entry], metadata: &[u8], length: usize) -> Result<Vec<u8>, Error> {
    let too_many = || Error::TooMany("the recipients do not fit a header of one megabyte");
    if length > LONGEST || length < self::length(entries.iter().map(|entry| entry.body.len()), metadata.len()) {
        return Err(too_many());
    }
    let mut header = Vec::with_capacity(length);
    header.extend_from_slice(key.preamble().bytes());
    header.extend_from_slice(&(length as u32).to_be_bytes());
    header.extend_from_slice(&u16::try_from(entries.len()).map_err(|_| too_many())?.to_be_bytes());
    for Entry { kind, body } in entries {
        header.extend_from_slice(&kind.to_be_bytes());
        header.extend_from_slice(&(body.len() as u16).to_be_bytes());
        header.extend_from_slice(body);
    }
    header.extend_from_slice(&(metadata.len() as u32).to_be_bytes());
    header.extend_from_slice(metadata);
    header.resize(length - MAC, 0);
    let mac = key.mac(&header)?;
    header.extend_from_slice(mac.as_ref());
    Ok(header)
}
