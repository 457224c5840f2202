//! Writes headers, and reads headers strictly. docs/format-seal.md describes the bytes.

mod looks_like;
mod parse;

#[cfg(test)]
mod tests;

pub(crate) use parse::{Parsed, check_segment};

use crate::Error;
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::floe;
use crate::format::deadpan::layout::{Entry, Preamble};

/// The number of bytes in a header before the recipients. The bytes before the recipients are the preamble, the
/// header's length and the number of recipients.
pub(crate) const FIXED: usize = Preamble::LENGTH + 4 + 2;
pub(crate) const MAC: usize = 32;
/// The length of the longest header that is written or read.
pub(crate) const LONGEST: usize = 1 << 20;
/// The number of bytes in a page. A payload of more than one unit begins at a page boundary, because systems copy whole
/// pages fastest.
pub(crate) const PAGE: usize = 4096;
/// The minimum number of free bytes (the slack) in the header of a file whose payload is longer than a unit. The slack
/// has room for eight more recipients with X-Wing keys, so that recipients can be added without copying the payload.
pub(crate) const ROOM: usize = 8 * (4 + 1168);

/// Returns the length of a header, from the lengths of the entries' bodies and of the metadata box.
pub(crate) fn length(bodies: impl Iterator<Item = usize>, metadata: usize) -> usize {
    FIXED + bodies.map(|body| 4 + body).sum::<usize>() + 4 + metadata + MAC
}

/// Returns the length of the header of a file whose payload is longer than a unit. `needed` is the length without free
/// bytes. With the returned length, the first segment begins at a page boundary, and there are at least [`ROOM`] free
/// bytes (slack). If this length would exceed the maximum length of a header, there are fewer free bytes.
pub(crate) fn with_room(needed: usize) -> usize {
    const LAST: usize = (LONGEST + floe::HEADER) / PAGE * PAGE - floe::HEADER;
    let aligned = (needed + ROOM + floe::HEADER).next_multiple_of(PAGE) - floe::HEADER;
    aligned.min(LAST).max(needed)
}

/// Returns the bytes of a header with this `length`, including the free bytes (slack). A new header may replace a
/// working header, so this function checks that [`Parsed::read`] accepts the new header.
pub(crate) fn build(key: &FileKey, entries: &[Entry], metadata: &[u8], length: usize) -> Result<Vec<u8>, Error> {
    let header = encode(key, entries, metadata, length)?;
    Parsed::read(&header[..]).map_err(|_| Error::System("a new header cannot be read back"))?;
    Ok(header)
}

/// Returns the bytes of a header. If an entry violates rules of the format, the header violates them, too.
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
