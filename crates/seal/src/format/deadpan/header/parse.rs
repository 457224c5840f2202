//! Reads a header strictly. Each value has only one accepted encoding, and each length is checked against a bound
//! before it is used.

use std::io::Read;

use super::looks_like::looks_like;
use super::{FIXED, LONGEST, MAC};
use crate::Error;
use crate::format::deadpan::layout::{Entry, Preamble, SIGNATURE, VERSION};
use crate::format::deadpan::metadata;
use crate::format::deadpan::recipient::{SHORTEST_PLUGIN, Stanza};
use crate::format::deadpan::threshold::group::Group;
use crate::format::fill::read_full;
use deadpan_ct::CtZero;

/// A header that is well formed. The contents are not trusted until the MAC is checked.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    pub(crate) preamble: Preamble,
    pub(crate) entries: Vec<(Stanza, Entry)>,
    pub(crate) group: Option<Group>,
    pub(crate) metadata: Vec<u8>,
    pub(crate) slack: usize,
    /// All bytes of the header except the MAC.
    pub(crate) bytes: Vec<u8>,
    pub(crate) mac: [u8; MAC],
}

/// The shortest header has one recipient of the shortest kind.
const SHORTEST: usize = FIXED + SHORTEST_ENTRY + 4 + metadata::SHORTEST + MAC;
const SHORTEST_ENTRY: usize = 4 + SHORTEST_PLUGIN;

impl Parsed {
    /// Reads a header, and no byte after the header.
    pub(crate) fn read(mut input: impl Read) -> Result<Self, Error> {
        let mut start = [0; FIXED];
        let length = read_full(&mut input, &mut start).map_err(Error::Read)?;
        check_start(&start[..length])?;
        let length = u32::from_be_bytes([start[10], start[11], start[12], start[13]]) as usize;
        let count = usize::from(u16::from_be_bytes([start[14], start[15]]));
        if length > LONGEST {
            return Err(Error::Limit("a header of more than one megabyte"));
        }
        if length < SHORTEST || count == 0 {
            return Err(Error::Header("its length"));
        }
        if count > (length - (SHORTEST - SHORTEST_ENTRY)) / SHORTEST_ENTRY {
            return Err(Error::Header("more recipients than fit it"));
        }
        let mut bytes = start.to_vec();
        bytes.resize(length, 0);
        if read_full(&mut input, &mut bytes[FIXED..]).map_err(Error::Read)? < length - FIXED {
            return Err(Error::Truncated);
        }
        Self::parse(bytes, count)
    }

    fn parse(mut bytes: Vec<u8>, count: usize) -> Result<Self, Error> {
        let mac = *bytes.last_chunk().expect("longer than its code");
        bytes.truncate(bytes.len() - MAC);
        let preamble = Preamble::new(bytes[Preamble::LENGTH - 1]);
        let mut rest = RestOfHeader(&bytes[FIXED..]);
        let entries = rest.entries(count)?;
        let metadata = rest.metadata()?;
        if !rest.0.ct_is_zero().declassify() {
            return Err(Error::Header("its slack"));
        }
        let slack = rest.0.len();
        let group = Group::find(preamble, &entries)?;
        Ok(Self { preamble, entries, group, metadata, slack, bytes, mac })
    }

    pub(crate) fn length(&self) -> usize {
        self.bytes.len() + MAC
    }
}

/// Checks the start of a file. The error states whether the file is not a sealed file, is damaged, or has a newer
/// version of the format.
fn check_start(start: &[u8]) -> Result<(), Error> {
    let signature = start.len().min(SIGNATURE);
    if start[..signature] != Preamble::PLAIN.bytes()[..signature] || start.is_empty() {
        return Err(Error::NotSealed(looks_like(start)));
    }
    if start.len() < FIXED {
        return Err(Error::Truncated);
    }
    if start[SIGNATURE] != VERSION {
        return Err(Error::Newer("another version of the format"));
    }
    if start[SIGNATURE + 1] > 1 {
        return Err(Error::Newer("a flag"));
    }
    Ok(())
}

struct RestOfHeader<'a>(&'a [u8]);

impl<'a> RestOfHeader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(Error::Header("a length in it"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn number(&mut self, bytes: usize) -> Result<usize, Error> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | usize::from(*byte)))
    }

    fn entries(&mut self, count: usize) -> Result<Vec<(Stanza, Entry)>, Error> {
        let mut entries = Vec::with_capacity(count);
        let mut passphrases = 0;
        for _ in 0..count {
            let kind = self.number(2)? as u16;
            let length = self.number(2)?;
            let entry = Entry { kind, body: self.take(length)?.to_vec() };
            let stanza = Stanza::read(&entry)?;
            passphrases += usize::from(stanza.is_passphrase());
            if passphrases > 1 {
                return Err(Error::Limit("more than one passphrase"));
            }
            entries.push((stanza, entry));
        }
        Ok(entries)
    }

    fn metadata(&mut self) -> Result<Vec<u8>, Error> {
        let length = self.number(4)?;
        if !metadata::is_box_length(length) {
            return Err(Error::Header("the length of the metadata"));
        }
        Ok(self.take(length)?.to_vec())
    }
}

/// Checks a segment length. Deadpan writes segments of FLOE's default length, and also reads segments of the other
/// lengths that pass this check.
pub(crate) fn check_segment(length: usize) -> Result<(), Error> {
    if (4 << 10..=16 << 20).contains(&length) {
        Ok(())
    } else {
        Err(Error::Limit("a length of segments that is not between 4 KiB and 16 MiB"))
    }
}
