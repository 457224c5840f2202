//! Who can open a file: the file key, sealed once for each.

mod key;
mod passphrase;
#[cfg(test)]
mod tests;

use crate::entropy::Entropy;
use crate::file_key::FileKey;
use crate::header::Entry;
use crate::{Cost, Error, Kem, Mode, Passphrase, PublicKey};

/// The type of the passphrase's entry; those of keys are the numbers of their KEMs.
const PASSPHRASE: u16 = 0xff01;

/// Who can open a file.
#[derive(Clone, Debug)]
pub enum Recipient {
    /// The owner of a key.
    Key(PublicKey),
    /// Who knows a passphrase.
    Passphrase(Passphrase, Cost),
}

/// What a header shows of a recipient without any key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stanza {
    /// The kind of a key.
    Key(Kem),
    /// A passphrase, at this cost.
    Passphrase(Cost),
}

impl Stanza {
    /// What it protects from; a passphrase has no mode, since no public key is involved.
    #[must_use]
    pub fn mode(&self) -> Option<Mode> {
        match self {
            Self::Key(kem) => Some(kem.mode()),
            Self::Passphrase(_) => None,
        }
    }

    /// What an entry is, if it is well formed.
    pub(crate) fn read(entry: &Entry) -> Result<Self, Error> {
        let (stanza, length) = if entry.kind == PASSPHRASE {
            (Self::Passphrase(passphrase::cost(&entry.body)?), passphrase::BODY)
        } else {
            let kem = Kem::from_id(entry.kind).ok_or(Error::Newer("a kind of recipient"))?;
            (Self::Key(kem), key::body(kem))
        };
        if entry.body.len() == length { Ok(stanza) } else { Err(Error::Header("the length of a recipient")) }
    }
}

impl std::fmt::Display for Stanza {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key(kem) => write!(f, "{} key", kem.name()),
            Self::Passphrase(_) => f.write_str("passphrase"),
        }
    }
}

impl Recipient {
    fn mode(&self) -> Option<Mode> {
        match self {
            Self::Key(key) => Some(key.kem().mode()),
            Self::Passphrase(..) => None,
        }
    }

    /// How long its entry's body will be.
    pub(crate) fn body(&self) -> usize {
        match self {
            Self::Key(key) => key::body(key.kem()),
            Self::Passphrase(..) => passphrase::BODY,
        }
    }

    /// Its entry for a file.
    pub(crate) fn wrap(&self, file: &FileKey, entropy: Entropy) -> Result<Entry, Error> {
        match self {
            Self::Key(key) => key::wrap(key, file),
            Self::Passphrase(passphrase, cost) => passphrase::wrap(passphrase, *cost, file, entropy),
        }
    }
}

/// What makes a list of recipients no list to seal to. Unless it is asked for, no classical one stands beside others.
pub(crate) fn check(recipients: &[Recipient], mixed: bool) -> Result<(), Error> {
    if recipients.is_empty() {
        return Err(Error::NoRecipients);
    }
    let passphrases =
        recipients.iter().filter_map(|it| if let Recipient::Passphrase(passphrase, cost) = it { Some((passphrase, cost)) } else { None });
    for (number, (passphrase, cost)) in passphrases.enumerate() {
        if number > 0 {
            return Err(Error::TooMany("a file can have one passphrase"));
        }
        if passphrase.as_bytes().is_empty() {
            return Err(Error::Invalid("an empty passphrase protects nothing"));
        }
        cost.check().map_err(|_| Error::Invalid("the passphrase's parameters are out of bounds"))?;
    }
    let classical = |it: &&Recipient| it.mode() == Some(Mode::Ecc);
    let weakest =
        recipients.iter().find(classical).filter(|_| recipients.iter().any(|it| matches!(it.mode(), Some(Mode::Pqc | Mode::Hybrid))));
    match weakest {
        Some(Recipient::Key(key)) if !mixed => Err(Error::Mixed(format!("the recipient with a {} key", key.kem().name()))),
        _ => Ok(()),
    }
}

pub(crate) use key::unwrap as unwrap_with_key;
pub(crate) use passphrase::unwrap as unwrap_with_passphrase;
