//! Identities: the keys and passphrases that open files.

use super::deadpan::file_key::FileKey;
use super::deadpan::layout::{Entry, Preamble};
use super::deadpan::recipient::{unwrap_of_session, unwrap_with_key, unwrap_with_passphrase};
use super::deadpan::trailer::Addressee;
use super::plugin;
use crate::key::openssh::OpensshKey;
use crate::{Error, MaxCost, Passphrase, PrivateKey, PublicKey, Session, Share, Stanza};

/// A key or passphrase to open files with.
#[derive(Clone, Debug)]
pub enum Identity {
    /// A private key.
    Key(PrivateKey),
    /// A passphrase.
    Passphrase(Passphrase),
    /// The passphrase of a session. The session keeps its hashes.
    Session(Session),
    /// A share of a file that is sealed to a threshold.
    Share(Share),
    /// A private SSH key, which opens age files.
    Ssh(OpensshKey),
    /// An identity of one of age's plugins.
    Plugin(plugin::Identity),
}

impl From<&PrivateKey> for Identity {
    fn from(key: &PrivateKey) -> Self {
        Self::Key(key.clone())
    }
}

impl From<&Passphrase> for Identity {
    fn from(passphrase: &Passphrase) -> Self {
        Self::Passphrase(passphrase.clone())
    }
}

impl From<&Session> for Identity {
    fn from(session: &Session) -> Self {
        Self::Session(session.clone())
    }
}

impl Identity {
    /// Returns the same identity. If the identity is a passphrase or a session, sets a limit on the cost of trying the
    /// passphrase: see [`Passphrase::with_max_cost`] and [`Session::with_max_cost`]. Keys have no cost.
    #[must_use]
    pub fn with_max_cost(self, max: MaxCost) -> Self {
        match self {
            Self::Passphrase(passphrase) => Self::Passphrase(passphrase.with_max_cost(max)),
            Self::Session(session) => Self::Session(session.with_max_cost(max)),
            other => other,
        }
    }

    pub(crate) fn public(&self) -> Option<&PublicKey> {
        if let Self::Key(key) = self { Some(key.public()) } else { None }
    }

    /// Returns whether this identity is a passphrase. A passphrase may fit any passphrase entry.
    pub(crate) fn is_passphrase(&self) -> bool {
        matches!(self, Self::Passphrase(_) | Self::Session(_))
    }

    /// Returns the value with which a signed statement identifies the recipient who has this identity. The identity
    /// opened `entry`.
    pub(crate) fn addressee(&self, entry: &Entry) -> Addressee {
        match self {
            Self::Key(key) => Addressee::key(key.public()),
            _ => Addressee::entry(entry),
        }
    }

    /// Returns the file key if the identity fits the entry.
    pub(crate) fn unwrap(&self, preamble: Preamble, stanza: Stanza, entry: &Entry) -> Result<Option<FileKey>, Error> {
        match (self, stanza) {
            (Self::Key(key), Stanza::Key(kem)) if key.kem() == kem => unwrap_with_key(key, preamble, entry),
            (Self::Passphrase(passphrase), Stanza::Passphrase(_)) => {
                unwrap_with_passphrase(passphrase, preamble, entry)
            }
            (Self::Passphrase(passphrase), Stanza::Session(_)) => unwrap_of_session(passphrase, preamble, entry),
            (Self::Session(session), Stanza::Passphrase(_)) => unwrap_with_passphrase(session, preamble, entry),
            (Self::Session(session), Stanza::Session(_)) => unwrap_of_session(session, preamble, entry),
            _ => Ok(None),
        }
    }
}
