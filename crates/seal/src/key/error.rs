//! Why a key cannot be read, and where in the text it stands.

use crate::Fault;
use deadpan_base64::pem;
use std::fmt;

/// Where in a text a key stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In this PEM block, counted from 1.
    Block(usize),
    /// In this line, counted from 1.
    Line(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Block(number) => write!(f, "PEM block {number}"),
            Self::Line(number) => write!(f, "line {number}"),
        }
    }
}

/// Why a key cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    // The data.
    /// It is none of the forms that are known.
    #[error("not a key\nhint: a key is a PEM file (PKCS#8 or SPKI), or an age identity or recipient")]
    Unknown,
    /// More than a key file has any use for.
    #[error("the key file is longer than 1 MiB\nhint: is it the right file?")]
    TooLong,
    /// PEM and age's lines in one text, of which a reader of PEM would pass over the latter.
    #[error("PEM blocks and age identities in one file\nhint: put them into files of their own")]
    Mixed,
    /// A PEM block whose armour is not well formed.
    #[error("{place}: {error}")]
    Armour {
        /// Which one.
        place: Place,
        /// What is wrong with it.
        error: pem::Error,
    },
    /// A key that is damaged or was written wrong.
    #[error("{place}: {what}\nhint: the key is damaged, or its writer had a fault; get another copy")]
    Malformed {
        /// Where.
        place: Place,
        /// What is wrong.
        what: &'static str,
    },
    /// Something well known that is no key for sealing, or a form of one that is not read.
    #[error("{place}: {name} is not supported\nhint: {hint}")]
    Unsupported {
        /// Where.
        place: Place,
        /// What it is, with its article.
        name: String,
        /// What to do.
        hint: &'static str,
    },
    /// A key that asks for more work or memory than a reader should spend on it.
    #[error("{place}: the key asks for more than is allowed: {what}\nhint: the file is damaged or hostile; nothing was computed")]
    Limit {
        /// Where.
        place: Place,
        /// What it asks for.
        what: &'static str,
    },

    // The keys.
    /// The passphrase is wrong (or the file is damaged: which of them cannot be told).
    #[error("the passphrase does not fit this key\nhint: passphrases are case-sensitive; check the keyboard's layout")]
    WrongPassphrase,
    /// The file is encrypted, and no passphrase was given.
    #[error("the key is protected by a passphrase\nhint: run this on a terminal, or give it with --passphrase-file")]
    Protected,

    // The system.
    /// There is not enough memory for what the passphrase has to go through.
    #[error("the system failed: {0}\nhint: a key protected with scrypt may need 1 GiB of memory")]
    System(&'static str),
}

impl KeyError {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::WrongPassphrase | Self::Protected => Fault::Key,
            Self::System(_) => Fault::System,
            _ => Fault::Data,
        }
    }
}

/// What is wrong with a key, before it is known where that stands.
#[derive(Debug)]
pub(super) enum Trouble {
    Malformed(&'static str),
    Unsupported { name: String, hint: &'static str },
    Limit(&'static str),
    WrongPassphrase,
    System(&'static str),
}

impl Trouble {
    pub(super) fn unsupported(name: impl Into<String>, hint: &'static str) -> Self {
        Self::Unsupported { name: name.into(), hint }
    }

    pub(super) fn at(self, place: Place) -> KeyError {
        match self {
            Self::Malformed(what) => KeyError::Malformed { place, what },
            Self::Unsupported { name, hint } => KeyError::Unsupported { place, name, hint },
            Self::Limit(what) => KeyError::Limit { place, what },
            Self::WrongPassphrase => KeyError::WrongPassphrase,
            Self::System(what) => KeyError::System(what),
        }
    }
}
