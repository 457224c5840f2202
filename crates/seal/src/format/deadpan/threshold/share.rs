//! Shares that the owners of keys send to the person who collects the shares.

use std::fmt;

use super::Numbers;
use super::entry::CHECK;
use crate::format::deadpan::file_key::KEY;
use crate::key::fingerprint_from_digest;
use crate::{Error, Secret};

/// The first bytes of a share as text or in a file.
const START: &[u8; 16] = b"deadpan v1 share";

/// One share of the key of one sealed file. [`Header::shares`](crate::Header::shares) takes the share from the header.
/// A person who has enough shares can open the file. This person passes each share to
/// [`Header::open`](crate::Header::open) as an [`Identity::Share`](crate::Identity::Share). Before you send a share,
/// seal it to the person who collects the shares.
#[derive(Clone)]
pub struct Share {
    pub(super) numbers: Numbers,
    /// The digest of the group, which differs from file to file.
    pub(super) group: [u8; CHECK],
    pub(super) value: Secret,
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Share").field("numbers", &self.numbers).finish_non_exhaustive()
    }
}

impl Share {
    /// The length of a share in bytes.
    pub const LENGTH: usize = START.len() + 3 + CHECK + KEY;

    /// Reads a share from the bytes that [`Share::to_bytes`] returns.
    ///
    /// # Errors
    /// [`ShareFault::Form`] if the bytes are not a share. This function does not check whether the share is right.
    /// [`Header::open`](crate::Header::open) checks it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let wrong = Error::Share(ShareFault::Form);
        let Some(rest) = bytes.strip_prefix(START) else { return Err(wrong) };
        let Some(([needed, of, index], rest)) = rest.split_first_chunk::<3>() else { return Err(wrong) };
        let Some((group, value)) = rest.split_first_chunk() else { return Err(wrong) };
        let Ok(numbers) = Numbers::new(*needed, *of, *index) else { return Err(wrong) };
        if value.len() != KEY {
            return Err(wrong);
        }
        Ok(Self { numbers, group: *group, value: Secret::copy_of(value) })
    }

    /// Returns the share as bytes, which are secret.
    #[must_use]
    pub fn to_bytes(&self) -> Secret {
        let mut bytes = Secret::zeroed(Self::LENGTH);
        let mut rest = &mut bytes[..];
        for part in [&START[..], &self.numbers.bytes(), &self.group, &self.value] {
            let (place, after) = rest.split_at_mut(part.len());
            place.copy_from_slice(part);
            rest = after;
        }
        bytes
    }

    /// Returns the number of the share. Numbers begin with 1.
    #[must_use]
    pub fn index(&self) -> u8 {
        self.numbers.index
    }

    /// Returns the number of shares that are needed to open the file.
    #[must_use]
    pub fn needed(&self) -> u8 {
        self.numbers.needed
    }

    /// Returns the number of shares that the file has.
    #[must_use]
    pub fn of(&self) -> u8 {
        self.numbers.of
    }

    /// Returns a short name of the shares of one file: see [`Header::group`](crate::Header::group).
    #[must_use]
    pub fn group(&self) -> String {
        fingerprint(&self.group)
    }
}

/// The reason why a share cannot be used for a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShareFault {
    /// The bytes are not a share.
    Form,
    /// The share belongs to another file. The other file may contain the same data, but was sealed separately.
    OtherFile,
    /// The share with this number does not have the check value that is in the header. The holder of the share changed
    /// the share, or somebody changed it during the transfer.
    Wrong(u8),
}

impl fmt::Display for ShareFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form => f.write_str("not a share of a sealed file"),
            Self::OtherFile => f.write_str("a share of another file, or of the same data sealed another time"),
            Self::Wrong(index) => write!(f, "share {index} was changed: it is not the one that the file promises"),
        }
    }
}

/// Returns the short name of a group.
pub(super) fn fingerprint(group: &[u8; CHECK]) -> String {
    fingerprint_from_digest(group)
}
