//! The result of checking a signed file.

use std::time::SystemTime;

use crate::key::sign::VerifyingKey;

/// The signers of a file, the time of signing, and the people for whom the file was sealed. All signatures are right,
/// and the data are the data that were signed.
///
/// Everybody can make a key, so the caller must decide whether a key belongs to a person that the caller trusts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signatures {
    pub(super) keys: Vec<VerifyingKey>,
    pub(super) time: SystemTime,
    pub(super) audience: Audience,
}

/// The people for whom a signed file was sealed, according to its signers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Audience {
    /// The signers named no recipients, so anyone may forward the file.
    Anyone,
    /// The signers named the recipients, and the recipient who opened the file is one of the named recipients.
    Opener {
        /// The number of recipients that the signers named.
        recipients: usize,
    },
    /// The signers named recipients, but not the recipient who opened the file: one of the named recipients forwarded
    /// the file.
    Others {
        /// The number of recipients that the signers named.
        recipients: usize,
    },
}

impl Signatures {
    /// Returns the keys of the signers. There is at least one key, and no key is repeated.
    #[must_use]
    pub fn keys(&self) -> &[VerifyingKey] {
        &self.keys
    }

    /// Returns the time of signing, as the signers state it, in whole seconds.
    #[must_use]
    pub fn time(&self) -> SystemTime {
        self.time
    }

    /// Returns the audience for which the signers sealed the file.
    #[must_use]
    pub fn audience(&self) -> Audience {
        self.audience
    }

    /// Returns whether the signers intended the file for the recipient who opened it. Returns `true` if the signers
    /// named this recipient, or if they named no recipients.
    #[must_use]
    pub fn are_for_opener(&self) -> bool {
        !matches!(self.audience, Audience::Others { .. })
    }
}
