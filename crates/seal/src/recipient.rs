//! Who can open a file.

use crate::{Cost, Kem, Mode, Passphrase, PublicKey};

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
}
