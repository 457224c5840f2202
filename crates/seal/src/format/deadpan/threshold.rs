//! Thresholds: any K of N keys open a file together. Fewer than K keys reveal nothing about the data.
//! docs/format-seal.md describes the bytes and the reasons.
//!
//! ```
//! use deadpan_seal::{Error, Header, Identity, Kem, PrivateKey, Sealing};
//!
//! # fn main() -> Result<(), Error> {
//! let [alice, bob, carol] = [(); 3].map(|()| PrivateKey::generate(Kem::XWing).expect("a key"));
//! let members = [&alice, &bob, &carol].map(|key| key.public().clone()).to_vec();
//! let sealed = Sealing::threshold(2, members)?.seal(b"minutes")?;
//!
//! // One alone does not open it.
//! let header = Header::read(&sealed[..])?;
//! let alone = header.clone().open(&[Identity::from(&alice)]);
//! assert!(matches!(alone, Err(Error::TooFewShares { needed: 2, of: 3, found: 1 })));
//!
//! // Bob takes his share from the header and sends it to Alice, sealed to her. She opens the file with it.
//! let bobs = header.shares(&[Identity::from(&bob)])?;
//! let with_bob = [Identity::from(&alice), Identity::Share(bobs[0].clone())];
//! header.open(&with_bob)?;
//! # Ok(())
//! # }
//! ```

pub(crate) mod entry;
mod field;
pub(crate) mod group;
pub mod shamir;
mod share;
#[cfg(test)]
mod tests;

pub use share::{Share, ShareFault};

use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::layout::Entry;
use crate::primitive::entropy::Entropy;
use crate::{Error, PublicKey};
use entry::Split;

/// The members of a group, and the number of members that are needed. Any `needed` members open a file together.
#[derive(Clone, Debug)]
pub struct Threshold {
    needed: u8,
    members: Vec<PublicKey>,
}

impl Threshold {
    /// The maximum number of members of a group.
    pub const MOST: usize = 255;

    /// Makes a group of which any `needed` members open a file together.
    ///
    /// # Errors
    /// [`Error::Threshold`] if `needed` is below 2 or above the number of members, or if there are more than 255
    /// members. [`Error::Threshold`] if a key is in the list twice, because its owner would have two shares.
    pub fn new(needed: usize, members: Vec<PublicKey>) -> Result<Self, Error> {
        let of = members.len();
        if needed < 2 {
            return Err(Error::Threshold("a threshold needs at least two keys at once"));
        }
        if needed > of {
            return Err(Error::Threshold("a threshold cannot need more keys than it has"));
        }
        let Ok(needed) = u8::try_from(needed) else { return Err(Error::Threshold(TOO_MANY)) };
        if of > Self::MOST {
            return Err(Error::Threshold(TOO_MANY));
        }
        if members.iter().enumerate().any(|(number, key)| members[..number].contains(key)) {
            return Err(Error::Threshold("a key is twice among those of the threshold"));
        }
        Ok(Self { needed, members })
    }

    /// Returns the number of members that are needed.
    #[must_use]
    pub fn needed(&self) -> u8 {
        self.needed
    }

    /// Returns the members' keys.
    #[must_use]
    pub fn members(&self) -> &[PublicKey] {
        &self.members
    }

    /// Splits the file key, and seals a share to each member. Returns the entries.
    pub(crate) fn wrap(&self, file: &FileKey, entropy: Entropy) -> Result<Vec<Entry>, Error> {
        let preamble = file.preamble();
        let of = u8::try_from(self.members.len()).map_err(|_| Error::Threshold(TOO_MANY))?;
        let split = Split::new(file, self.needed, of, entropy)?;
        let digest = split.digest(preamble);
        let seal = |(number, key)| split.seal(number, key, preamble, &digest);
        self.members.iter().enumerate().map(seal).collect()
    }
}

const TOO_MANY: &str = "a threshold has at most 255 keys";

/// The numbers of a share: how many shares are needed, how many shares exist, and the index of this share, which begins
/// at 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) needed: u8,
    pub(crate) of: u8,
    pub(crate) index: u8,
}

impl Numbers {
    /// Checks the numbers of a share: 2 ≤ K ≤ N, and 1 ≤ index ≤ N.
    fn new(needed: u8, of: u8, index: u8) -> Result<Self, Error> {
        if needed < 2 || needed > of || index == 0 || index > of {
            return Err(Error::Header("the numbers of a share"));
        }
        Ok(Self { needed, of, index })
    }

    fn bytes(self) -> [u8; 3] {
        [self.needed, self.of, self.index]
    }
}
