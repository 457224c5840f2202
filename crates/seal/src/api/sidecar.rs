//! The record that protects a file while a new header is written over the old header. Until the new header is on the
//! disk, the record is stored beside the file. A program that finds a partly written header can then restore the old
//! header.
//!
//! ```
//! use deadpan_seal::{Sidecar, Standing};
//!
//! let (old, new) = (vec![1; 600], vec![2; 600]);
//! let record = Sidecar::new(7, 1000, b"the payload", old.clone(), new).expect("headers of one length");
//! let found = Sidecar::decode(&record.encode()).expect("a record");
//! assert!(found.is_of(1000, b"the payload") && found.inode() == 7);
//! let torn = [vec![2; 100], vec![1; 500]].concat();
//! assert_eq!(found.standing(&torn), Standing::Torn);
//! assert_eq!(found.standing(&old), Standing::Old);
//! ```

use std::fmt;

use aws_lc_rs::digest::{Digest, SHA256, digest};

use crate::format::deadpan::floe;
use crate::format::deadpan::header::LONGEST;

const SIGNATURE: [u8; 8] = [0x89, b'D', b'P', b'R', 0x0d, 0x0a, 0x1a, 0x0a];
const VERSION: u8 = 1;
/// The number of bytes in a record before the two headers. These bytes are the signature of the record, the version,
/// the file's inode number and length, the digest of the payload's beginning, and the length of a header.
const FIXED: usize = SIGNATURE.len() + 1 + 8 + 8 + DIGEST + 4;
const DIGEST: usize = 32;

/// A record of the old and the new header of a file. The record contains no secrets: all its contents are also in the
/// file before or after the change.
#[derive(Clone, PartialEq, Eq)]
pub struct Sidecar {
    inode: u64,
    length: u64,
    payload: [u8; DIGEST],
    old: Vec<u8>,
    new: Vec<u8>,
}

impl fmt::Debug for Sidecar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sidecar").field("inode", &self.inode).field("length", &self.length).finish_non_exhaustive()
    }
}

/// The result of comparing a header with the two headers in a [`Sidecar`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// The header is the old header: nothing was written yet.
    Old,
    /// The header is the new header: everything was written.
    New,
    /// Each byte of the header comes from the old or from the new header: writing was interrupted.
    Torn,
    /// The header is neither the old header nor the new header, so the record no longer belongs to the file.
    Other,
}

impl Sidecar {
    /// The maximum length of an encoded record.
    pub const LONGEST: usize = FIXED + 2 * LONGEST + DIGEST;
    /// The number of bytes at the beginning of the payload that the record uses to identify the file. If the payload is
    /// shorter, the record uses the whole payload.
    pub const BEGINNING: usize = floe::HEADER;

    /// Makes a record for a file with this inode number and length, whose payload begins with these bytes. Returns
    /// `None` if the headers differ in length, or if no header can have this length.
    #[must_use]
    pub fn new(inode: u64, length: u64, payload: &[u8], old: Vec<u8>, new: Vec<u8>) -> Option<Self> {
        let fits = old.len() == new.len() && (1..=LONGEST).contains(&old.len());
        fits.then(|| Self { inode, length, payload: beginning(payload), old, new })
    }

    /// Returns the bytes of the record. The last bytes are a digest of all bytes before the digest.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(FIXED + 2 * self.old.len() + DIGEST);
        bytes.extend_from_slice(&SIGNATURE);
        bytes.push(VERSION);
        bytes.extend_from_slice(&self.inode.to_be_bytes());
        bytes.extend_from_slice(&self.length.to_be_bytes());
        bytes.extend_from_slice(&self.payload);
        bytes.extend_from_slice(&(self.old.len() as u32).to_be_bytes());
        bytes.extend_from_slice(&self.old);
        bytes.extend_from_slice(&self.new);
        let digest = sha256(&bytes);
        bytes.extend_from_slice(digest.as_ref());
        bytes
    }

    /// Reads a record. Returns `None` if the record is incomplete or was changed.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (content, digest) = bytes.split_last_chunk::<DIGEST>()?;
        let rest = content.strip_prefix(&SIGNATURE)?.strip_prefix(&[VERSION])?;
        let (inode, rest) = rest.split_first_chunk()?;
        let (length, rest) = rest.split_first_chunk()?;
        let (payload, rest) = rest.split_first_chunk::<DIGEST>()?;
        let (header, headers) = rest.split_first_chunk()?;
        let header = u32::from_be_bytes(*header) as usize;
        if !(1..=LONGEST).contains(&header) || headers.len() != 2 * header || sha256(content).as_ref() != digest {
            return None;
        }
        let (old, new) = headers.split_at(header);
        let (inode, length) = (u64::from_be_bytes(*inode), u64::from_be_bytes(*length));
        Some(Self { inode, length, payload: *payload, old: old.to_vec(), new: new.to_vec() })
    }

    /// Returns whether these bytes may be the beginning of a record. Also returns `true` for an empty slice.
    #[must_use]
    pub fn begins(bytes: &[u8]) -> bool {
        let shared = bytes.len().min(SIGNATURE.len());
        bytes[..shared] == SIGNATURE[..shared]
    }

    /// Returns the inode number of the file.
    #[must_use]
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// Returns the old header.
    #[must_use]
    pub fn old(&self) -> &[u8] {
        &self.old
    }

    /// Returns the new header.
    #[must_use]
    pub fn new_header(&self) -> &[u8] {
        &self.new
    }

    /// Returns whether the record belongs to a file of this length whose payload begins with these bytes. The function
    /// also accepts a copy of the file.
    #[must_use]
    pub fn is_of(&self, length: u64, payload: &[u8]) -> bool {
        self.length == length && self.payload == beginning(payload)
    }

    /// Compares the current header of the file with the two headers in the record.
    #[must_use]
    pub fn standing(&self, now: &[u8]) -> Standing {
        if now == self.old {
            return Standing::Old;
        }
        if now == self.new {
            return Standing::New;
        }
        let is_torn = now.len() == self.old.len()
            && now.iter().zip(self.old.iter().zip(&self.new)).all(|(now, (old, new))| now == old || now == new);
        if is_torn { Standing::Torn } else { Standing::Other }
    }
}

fn beginning(payload: &[u8]) -> [u8; DIGEST] {
    let digest = sha256(&payload[..payload.len().min(Sidecar::BEGINNING)]);
    digest.as_ref().try_into().expect("SHA-256 has 32 bytes")
}

fn sha256(bytes: &[u8]) -> Digest {
    digest(&SHA256, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(length: usize) -> Sidecar {
        let old: Vec<u8> = (0..length).map(|i| (i % 251) as u8).collect();
        let new = old.iter().map(|byte| byte ^ 0x80).collect();
        Sidecar::new(7, 1 << 40, &[9; 100], old, new).expect("a record")
    }

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for length in [1, 2, 420, 4022, LONGEST] {
            let (record, bytes) = (record(length), record(length).encode());
            assert!(bytes.len() <= Sidecar::LONGEST);
            assert!(Sidecar::decode(&bytes) == Some(record), "{length}");
        }
        for (old, new) in [(0, 0), (1, 2), (2, 1), (LONGEST + 1, LONGEST + 1)] {
            assert!(Sidecar::new(7, 1000, b"", vec![0; old], vec![0; new]).is_none(), "{old}, {new}");
        }
    }

    /// A record that was only partly written, because the program was killed, must not be used.
    #[test]
    fn every_cut_and_every_change_is_refused() {
        let bytes = record(100).encode();
        for end in 0..bytes.len() {
            assert!(Sidecar::decode(&bytes[..end]).is_none() && Sidecar::begins(&bytes[..end]), "{end}");
            let mut changed = bytes.clone();
            changed[end] ^= 1;
            assert!(Sidecar::decode(&changed).is_none(), "byte {end}");
        }
        assert!(Sidecar::decode(&[&bytes[..], b"\0"].concat()).is_none());
        for other in [&b"x"[..], b"\x89DPN\r\n\x1a\n", b"age-encryption.org"] {
            assert!(!Sidecar::begins(other));
        }
        // The digest is right, but a length is wrong.
        let mut lie = bytes[..bytes.len() - DIGEST].to_vec();
        for (place, value) in [(FIXED - 1, 99), (FIXED - 1, 101), (FIXED - 1, 0), (FIXED - 4, 0xff)] {
            let before = std::mem::replace(&mut lie[place], value);
            let digest = sha256(&lie);
            assert!(Sidecar::decode(&[&lie, digest.as_ref()].concat()).is_none(), "{place}: {value}");
            lie[place] = before;
        }
    }

    #[test]
    fn a_header_is_old_or_new_or_torn_or_another_one() {
        let record = record(1000);
        let (old, new) = (record.old().to_vec(), record.new_header().to_vec());
        assert_eq!(record.standing(&old), Standing::Old);
        assert_eq!(record.standing(&new), Standing::New);
        for cut in 1..1000 {
            assert_eq!(record.standing(&[&new[..cut], &old[cut..]].concat()), Standing::Torn);
            assert_eq!(record.standing(&[&old[..cut], &new[cut..]].concat()), Standing::Torn);
            let mut other = old.clone();
            other[cut] ^= 1;
            assert_eq!(record.standing(&other), Standing::Other);
            assert_eq!(record.standing(&old[..cut]), Standing::Other);
        }
        assert_eq!(record.standing(&[&old[..], b"\0"].concat()), Standing::Other);
    }

    #[test]
    fn a_record_belongs_to_one_payload() {
        let record = record(10);
        assert!(record.is_of(1 << 40, &[9; Sidecar::BEGINNING]) && record.is_of(1 << 40, &[9; 200]));
        assert!(!record.is_of((1 << 40) + 1, &[9; 100]) && !record.is_of(1 << 40, &[9; Sidecar::BEGINNING - 1]));
        let mut other = [9; 100];
        other[Sidecar::BEGINNING - 1] = 8;
        assert!(!record.is_of(1 << 40, &other));
    }
}
