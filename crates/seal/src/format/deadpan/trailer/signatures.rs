//! The result of checking a signed file.

use std::time::SystemTime;

use crate::key::sign::VerifyingKey;

/// Who signed a file, when, and for whom. All signatures are right, and the data are those that were signed.
///
/// Whether a key belongs to a person that the caller trusts is for the caller to decide: everybody can make a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signatures {
    pub(super) keys: Vec<VerifyingKey>,
    pub(super) time: SystemTime,
    pub(super) audience: Audience,
}

/// Whom a signed file was sealed for, as its signers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Audience {
    /// The signers named nobody: anyone may forward the file.
    Anyone,
    /// The signers named the recipients, and the recipient who opened the file is among them.
    Opener {
        /// How many recipients the signers named.
        recipients: usize,
    },
    /// The signers named recipients, and the recipient who opened the file is not among them: one of those recipients
    /// forwarded the file.
    Others {
        /// How many recipients the signers named.
        recipients: usize,
    },
}

impl Signatures {
    /// Returns the keys of the signers, at least one, each once.
    #[must_use]
    pub fn keys(&self) -> &[VerifyingKey] {
        &self.keys
    }

    /// Returns when the signers say that they signed, in whole seconds.
    #[must_use]
    pub fn time(&self) -> SystemTime {
        self.time
    }

    /// Returns whom the signers sealed the file for.
    #[must_use]
    pub fn audience(&self) -> Audience {
        self.audience
    }

    /// Returns whether the signers meant the recipient who opened the file: they named this recipient, or nobody.
    #[must_use]
    pub fn are_for_opener(&self) -> bool {
        !matches!(self.audience, Audience::Others { .. })
    }
}
