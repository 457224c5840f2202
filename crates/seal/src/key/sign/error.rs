//! Errors of signing and verifying.

use std::borrow::Cow;

use super::AgentError;
use crate::Fault;

/// The reason why signing failed, or why a signature is not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignError {
    // The data.
    /// The signature is damaged, or its writer made an error.
    #[error("the signature is not well formed: {0}")]
    Malformed(&'static str),
    /// A signature is made with an unsupported algorithm. The text names the algorithm.
    #[error("signatures of the kind {0} are not supported")]
    Unsupported(String),
    /// This key did not make the signature over these data: the signature or the data were changed.
    #[error("the signature is wrong: it or the data were changed")]
    Forged,
    /// The signature was made for another purpose.
    #[error("the signature was made for the namespace {found:?}, and not for {wanted:?}")]
    Namespace {
        /// The namespace in the signature.
        found: String,
        /// The namespace that the caller asked for.
        wanted: String,
    },
    /// A line of an `allowed_signers` file is not valid.
    #[error("line {line}: {what}")]
    AllowedSigners {
        /// The number of the line, counted from 1.
        line: usize,
        /// The fault, in words.
        what: Cow<'static, str>,
    },
    /// A request to an SSH agent failed.
    #[error("{0}")]
    Agent(#[from] AgentError),

    // The caller.
    /// This crate cannot generate or store a private key for this algorithm.
    #[error("only a security key has private keys of the kind {0}")]
    Hardware(&'static str),
    /// A namespace is empty.
    #[error("a signature needs a namespace")]
    NoNamespace,
}

impl SignError {
    /// Returns the cause of the error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Malformed(_) | Self::Unsupported(_) | Self::Forged | Self::Namespace { .. } => Fault::Data,
            Self::AllowedSigners { .. } => Fault::Data,
            Self::Agent(error) => error.fault(),
            Self::Hardware(_) | Self::NoNamespace => Fault::Caller,
        }
    }
}
