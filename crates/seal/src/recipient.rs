//! Recipients: the keys and passphrases that can open a file. The header holds the file key, sealed once for each
//! recipient.

mod key;
mod passphrase;
mod session;
#[cfg(test)]
mod tests;

use crate::entropy::Entropy;
use crate::file_key::FileKey;
use crate::layout::Entry;
use crate::passphrase::form::Form;
use crate::{Cost, Error, Kem, Mode, Passphrase, PublicKey, Session};

/// The types of passphrase entries: for one file, and for the items of a session. A key's type is its KEM's number.
const PASSPHRASE: u16 = 0xff01;
const SESSION: u16 = 0xff02;

/// A recipient: a person or program that can open a file.
#[derive(Clone, Debug)]
pub enum Recipient {
    /// The owner of a key.
    Key(PublicKey),
    /// Everybody who knows a passphrase, which is hashed at this cost.
    Passphrase(Passphrase, Cost),
    /// Everybody who knows the passphrase of a session. The passphrase is hashed once for many files.
    Session(Session),
}

impl From<&PublicKey> for Recipient {
    fn from(key: &PublicKey) -> Self {
        Self::Key(key.clone())
    }
}

/// Takes the default cost.
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

/// A recipient as everybody can see it in a header, without any key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stanza {
    /// A key of this kind.
    Key(Kem),
    /// A passphrase that is hashed at this cost.
    Passphrase(Cost),
    /// A passphrase of a session that is hashed at this cost.
    Session(Cost),
}

impl Stanza {
    /// Returns the mode of a key. A passphrase has none, because it involves no public key.
    #[must_use]
    pub fn mode(&self) -> Option<Mode> {
        match self {
            Self::Key(kem) => Some(kem.mode()),
            Self::Passphrase(_) | Self::Session(_) => None,
        }
    }

    /// Returns whether a passphrase opens this recipient.
    #[must_use]
    pub fn is_passphrase(&self) -> bool {
        self.cost().is_some()
    }

    /// Returns what one try at the passphrase costs; `None` for a key.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        match self {
            Self::Key(_) => None,
            Self::Passphrase(cost) | Self::Session(cost) => Some(*cost),
        }
    }

    /// Reads the kind of an entry, and checks its length and its cost.
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

    /// Returns the length of the body of this recipient's entry.
    pub(crate) fn body(&self) -> usize {
        match self {
            Self::Key(key) => key::body(key.kem()),
            Self::Passphrase(..) => passphrase::BODY,
            Self::Session(_) => session::BODY,
        }
    }

    /// Seals the file key to this recipient. Returns the entry.
    pub(crate) fn wrap(&self, file: &FileKey, entropy: Entropy) -> Result<Entry, Error> {
        match self {
            Self::Key(key) => key::wrap(key, file),
            Self::Passphrase(passphrase, cost) => passphrase::wrap(passphrase, Form::Composed, *cost, file, entropy),
            Self::Session(session) => session::wrap(session, file, entropy),
        }
    }
}

/// Checks a list of recipients: not empty, one passphrase at most, and unless `mixed` is set no classical key beside
/// post-quantum or hybrid ones.
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
    let weakest = recipients
        .iter()
        .find(classical)
        .filter(|_| recipients.iter().any(|it| matches!(it.mode(), Some(Mode::Pqc | Mode::Hybrid))));
    match weakest {
        Some(Recipient::Key(key)) if !mixed => {
            Err(Error::Mixed(format!("the recipient with a {} key", key.kem().name())))
        }
        _ => Ok(()),
    }
}

/// Checks a passphrase and its cost before sealing: the passphrase is not empty, and the cost is within the format's
/// bounds.
pub(crate) fn check_passphrase(passphrase: &Passphrase, cost: Cost) -> Result<(), Error> {
    if passphrase.as_bytes().is_empty() {
        return Err(Error::EmptyPassphrase);
    }
    cost.check().map_err(|_| Error::Invalid("the passphrase's parameters are out of bounds"))
}

pub(crate) use key::unwrap as unwrap_with_key;
pub(crate) use passphrase::unwrap as unwrap_with_passphrase;
pub(crate) use session::unwrap as unwrap_of_session;
