//! The errors that occur when a text with keys is read. An error can contain the position of a key in the text.

use std::borrow::Cow;
use std::fmt;

use super::Unsupported;
use crate::Fault;
use deadpan_base64::pem;

/// The place of a key in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The number of a PEM block, counted from 1.
    Block(usize),
    /// The number of a line, counted from 1.
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

/// A reason why a key cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum KeyError {
    // The data.
    /// The text has no key in any known form.
    Unknown,
    /// The text is longer than 1 MiB.
    TooLong,
    /// A line is not empty, and is neither a key nor a comment.
    NotAKey {
        /// The place of the line.
        place: Place,
    },
    /// A line holds a key and, after white space, something else.
    Crowded {
        /// The place of the line.
        place: Place,
    },
    /// The PEM armor of a block is not well formed.
    Armor {
        /// The block.
        place: Place,
        /// The error in the block.
        error: pem::Error,
    },
    /// A key is damaged or contains a typing error.
    Malformed {
        /// The place of the key.
        place: Place,
        /// The fault, in words.
        what: &'static str,
    },
    /// The text holds a well-known kind of key or block that cannot seal, or a key in an unsupported form.
    Unsupported {
        /// The place of the key.
        place: Place,
        /// The kind of the key or block.
        what: Unsupported,
    },
    /// A key requires more work or memory than a reader should spend.
    Limit {
        /// The place of the key.
        place: Place,
        /// The parameter that is too large.
        what: &'static str,
    },
    /// The key is for another use: a key that signs cannot seal, and a key that seals cannot sign.
    Use {
        /// The place of the key.
        place: Place,
        /// The kind of the key, with an English article.
        kind: String,
        /// Whether the key signs.
        signs: bool,
    },
    /// The comment before a protected key contains the fingerprint of another key.
    Fingerprint {
        /// The place of the key.
        place: Place,
    },

    // The keys.
    /// The passphrase is wrong, or the file is damaged. The reader cannot distinguish a wrong passphrase from a damaged
    /// file.
    WrongPassphrase,

    // The system.
    /// The system does not have enough memory for the key derivation.
    System(&'static str),
}

impl std::error::Error for KeyError {}

/// Shows the position of the key, if the position is known, and the reason.
impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.reason())
    }
}

impl KeyError {
    /// Returns the position of the key in the text, or `None` if the error does not concern a single key.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        match self {
            Self::NotAKey { place }
            | Self::Crowded { place }
            | Self::Armor { place, .. }
            | Self::Malformed { place, .. }
            | Self::Unsupported { place, .. }
            | Self::Limit { place, .. }
            | Self::Use { place, .. }
            | Self::Fingerprint { place } => Some(*place),
            Self::Unknown | Self::TooLong | Self::WrongPassphrase | Self::System(_) => None,
        }
    }

    /// Returns the reason of the error without the position. In a text with only one key, the position is not
    /// necessary.
    #[must_use]
    pub fn reason(&self) -> Cow<'static, str> {
        let text = match self {
            Self::Unknown => "not a key",
            Self::TooLong => "the key file is longer than 1 MiB",
            Self::NotAKey { .. } => "neither a key nor a comment",
            Self::Crowded { .. } => "something stands after the key in its line",
            Self::Armor { error, .. } => return error.to_string().into(),
            Self::Malformed { what, .. } => what,
            Self::Unsupported { what, .. } => return format!("{what} is not supported").into(),
            Self::Limit { what, .. } => return format!("the key asks for more than is allowed: {what}").into(),
            Self::Use { kind, signs: true, .. } => return format!("{kind} signs, and does not seal").into(),
            Self::Use { kind, .. } => return format!("{kind} seals, and does not sign").into(),
            Self::Fingerprint { .. } => "the key has another fingerprint than the comment before it says",
            Self::WrongPassphrase => "the passphrase does not fit this key",
            Self::System(what) => return format!("the system failed: {what}").into(),
        };
        text.into()
    }

    /// Returns the cause of the error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::WrongPassphrase => Fault::Key,
            Self::Use { .. } => Fault::Caller,
            Self::System(_) => Fault::System,
            _ => Fault::Data,
        }
    }
}

/// An error in a key, without the position of the key.
#[derive(Debug)]
pub(super) enum Trouble {
    Crowded,
    Malformed(&'static str),
    Unsupported(Unsupported),
    Limit(&'static str),
    WrongPassphrase,
    System(&'static str),
}

impl From<Unsupported> for Trouble {
    fn from(what: Unsupported) -> Self {
        Self::Unsupported(what)
    }
}

impl Trouble {
    pub(super) fn at(self, place: Place) -> KeyError {
        match self {
            Self::Crowded => KeyError::Crowded { place },
            Self::Malformed(what) => KeyError::Malformed { place, what },
            Self::Unsupported(what) => KeyError::Unsupported { place, what },
            Self::Limit(what) => KeyError::Limit { place, what },
            Self::WrongPassphrase => KeyError::WrongPassphrase,
            Self::System(what) => KeyError::System(what),
        }
    }
}
