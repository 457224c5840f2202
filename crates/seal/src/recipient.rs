//! Who can open a file: the file key, sealed once for each.

mod key;
mod passphrase;
mod session;
#[cfg(test)]
mod tests;

use crate::entropy::Entropy;
use crate::file_key::FileKey;
use crate::header::Entry;
use crate::{Cost, Error, Kem, Mode, Passphrase, PublicKey, Session};

/// The types of a passphrase's entry, for one file and for the items of a session; those of keys are the numbers of their KEMs.
const PASSPHRASE: u16 = 0xff01;
const SESSION: u16 = 0xff02;

/// Who can open a file.
#[derive(Clone, Debug)]
pub enum Recipient {
    /// The owner of a key.
    Key(PublicKey),
    /// Who knows a passphrase.
    Passphrase(Passphrase, Cost),
    /// Who knows the passphrase of a session, which is hashed once for many files.
    Session(Session),
}

impl From<&PublicKey> for Recipient {
    fn from(key: &PublicKey) -> Self {
        Self::Key(key.clone())
    }
}

/// At the usual cost.
impl From<&Passphrase> for Recipient {
    fn from(passphrase: &Passphrase) -> Self {
        Self::Passphrase(passphrase.clone(), Cost::default())
    }
}

impl From<&Session> for Recipient {
    fn from(session: &Session) -> Self {
        session.recipient()
    }
}

/// What a header shows of a recipient without any key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stanza {
    /// The kind of a key.
    Key(Kem),
    /// A passphrase, at this cost.
    Passphrase(Cost),
    /// The passphrase of a session, at this cost.
    Session(Cost),
}

impl Stanza {
    /// What it protects from; a passphrase has no mode, since no public key is involved.
    #[must_use]
    pub fn mode(&self) -> Option<Mode> {
        match self {
            Self::Key(kem) => Some(kem.mode()),
            Self::Passphrase(_) | Self::Session(_) => None,
        }
    }

    /// Whether a passphrase opens it.
    #[must_use]
    pub fn is_passphrase(&self) -> bool {
        !matches!(self, Self::Key(_))
    }

    /// What an entry is, if it is well formed.
    pub(crate) fn read(entry: &Entry) -> Result<Self, Error> {
        let (stanza, length) = match entry.kind {
            PASSPHRASE => (Self::Passphrase(passphrase::cost(&entry.body)?), passphrase::BODY),
            SESSION => (Self::Session(passphrase::cost(&entry.body)?), session::BODY),
            kind => {
                let kem = Kem::from_id(kind).ok_or(Error::Newer("a kind of recipient"))?;
                (Self::Key(kem), key::body(kem))
            }
        };
        if entry.body.len() == length { Ok(stanza) } else { Err(Error::Header("the length of a recipient")) }
    }
}

impl std::fmt::Display for Stanza {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key(kem) => write!(f, "{} key", kem.name()),
            Self::Passphrase(_) | Self::Session(_) => f.write_str("passphrase"),
        }
    }
}

impl Recipient {
    fn mode(&self) -> Option<Mode> {
        match self {
            Self::Key(key) => Some(key.kem().mode()),
            Self::Passphrase(..) | Self::Session(_) => None,
        }
    }

    /// How long its entry's body will be.
    pub(crate) fn body(&self) -> usize {
        match self {
            Self::Key(key) => key::body(key.kem()),
            Self::Passphrase(..) => passphrase::BODY,
            Self::Session(_) => session::BODY,
        }
    }

    /// Its entry for a file.
    pub(crate) fn wrap(&self, file: &FileKey, entropy: Entropy) -> Result<Entry, Error> {
        match self {
            Self::Key(key) => key::wrap(key, file),
            Self::Passphrase(passphrase, cost) => passphrase::wrap(passphrase, *cost, file, entropy),
            Self::Session(session) => session::wrap(session, file, entropy),
        }
    }
}

/// What makes a list of recipients no list to seal to. Unless it is asked for, no classical one stands beside others.
pub(crate) fn check(recipients: &[Recipient], mixed: bool) -> Result<(), Error> {
    if recipients.is_empty() {
        return Err(Error::NoRecipients);
    }
    for (number, recipient) in recipients.iter().filter(|it| !matches!(it, Recipient::Key(_))).enumerate() {
        if number > 0 {
            return Err(Error::TooMany("a file can have one passphrase"));
        }
        if let Recipient::Passphrase(passphrase, cost) = recipient {
            check_passphrase(passphrase, *cost)?;
        }
    }
    let classical = |it: &&Recipient| it.mode() == Some(Mode::Ecc);
    let weakest =
        recipients.iter().find(classical).filter(|_| recipients.iter().any(|it| matches!(it.mode(), Some(Mode::Pqc | Mode::Hybrid))));
    match weakest {
        Some(Recipient::Key(key)) if !mixed => Err(Error::Mixed(format!("the recipient with a {} key", key.kem().name()))),
        _ => Ok(()),
    }
}

/// What makes a passphrase and its cost nothing to seal with.
pub(crate) fn check_passphrase(passphrase: &Passphrase, cost: Cost) -> Result<(), Error> {
    if passphrase.as_bytes().is_empty() {
        return Err(Error::Invalid("an empty passphrase protects nothing"));
    }
    cost.check().map_err(|_| Error::Invalid("the passphrase's parameters are out of bounds"))
}

pub(crate) use key::unwrap as unwrap_with_key;
pub(crate) use passphrase::unwrap as unwrap_with_passphrase;
pub(crate) use session::unwrap as unwrap_of_session;
