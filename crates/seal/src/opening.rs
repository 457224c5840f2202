//! Opening: read the header, open it with a key that fits, and then read the data in any of several ways.

mod opened;
mod opener;
mod range;
#[cfg(test)]
mod tests;

pub use opened::Opened;
pub use opener::Opener;
pub use range::RangeReader;

use std::fmt;
use std::io::Read;

use crate::file_key::FileKey;
use crate::floe::{self, Parameters, Segments};
use crate::header::{Parsed, check_segment};
use crate::layout::{Entry, VERSION};
use crate::metadata::Contents;
use crate::recipient::{unwrap_of_session, unwrap_with_key, unwrap_with_passphrase};
use crate::{Error, Passphrase, PrivateKey, Session, Stanza};

/// A key or passphrase to open files with.
#[derive(Clone, Debug)]
pub enum Identity {
    /// A private key.
    Key(PrivateKey),
    /// A passphrase.
    Passphrase(Passphrase),
    /// The passphrase of a session, which keeps its hashes.
    Session(Session),
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
    /// Whether this is a passphrase, which may fit any passphrase entry.
    fn is_passphrase(&self) -> bool {
        !matches!(self, Self::Key(_))
    }

    /// Returns the file key if the identity fits the entry.
    fn unwrap(&self, stanza: Stanza, entry: &Entry) -> Result<Option<FileKey>, Error> {
        match (self, stanza) {
            (Self::Key(key), Stanza::Key(kem)) if key.kem() == kem => unwrap_with_key(key, entry),
            (Self::Passphrase(passphrase), Stanza::Passphrase(_)) => unwrap_with_passphrase(passphrase, entry),
            (Self::Passphrase(passphrase), Stanza::Session(_)) => unwrap_of_session(passphrase, entry),
            (Self::Session(session), Stanza::Passphrase(_)) => unwrap_with_passphrase(session, entry),
            (Self::Session(session), Stanza::Session(_)) => unwrap_of_session(session, entry),
            _ => Ok(None),
        }
    }
}

/// A sealed file's header. The header is parsed, but not authentic before [`Header::open`]. Everybody can read it
/// without a key.
#[derive(Clone)]
pub struct Header(Parsed);

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header")
            .field("stanzas", &self.stanzas())
            .field("length", &self.length())
            .finish_non_exhaustive()
    }
}

impl Header {
    /// Reads the header, and no byte after it.
    ///
    /// # Errors
    /// If the input cannot be read, is not a sealed file, or is damaged.
    pub fn read(input: impl Read) -> Result<Self, Error> {
        Parsed::read(input).map(Self)
    }

    /// Returns the public part of each recipient's entry.
    #[must_use]
    pub fn stanzas(&self) -> Vec<Stanza> {
        self.0.entries.iter().map(|(stanza, _)| *stanza).collect()
    }

    /// Returns the bytes in the header. The payload follows.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.0.length() as u64
    }

    /// Returns the version of the format.
    #[must_use]
    pub fn version(&self) -> u8 {
        VERSION
    }

    /// Returns how many bytes are free for more recipients.
    #[must_use]
    pub fn slack(&self) -> u64 {
        self.0.slack as u64
    }

    /// Returns the bytes in the metadata box.
    #[must_use]
    pub fn metadata_length(&self) -> u64 {
        self.0.metadata.len() as u64
    }

    /// Returns how the payload of a file of `length` bytes divides into segments. `input` begins after the header. The
    /// answer is not authentic.
    ///
    /// # Errors
    /// If the payload's header is not well formed, or no sealed file has this length.
    pub fn segments(&self, input: impl Read, length: u64) -> Result<Segments, Error> {
        let parameters = Parameters::read(input)?;
        check_segment(parameters.segment_length())?;
        let payload = length.saturating_sub(self.length() + floe::HEADER as u64);
        parameters.segments_in(payload)
    }

    /// Tries the identities in order, each on the recipients of its kind, and opens the header with the first that
    /// fits. May leak: which identity fits which recipient.
    ///
    /// # Errors
    /// [`Error::NoKeyFits`] if no identity fits; [`Error::WrongPassphrase`] if a passphrase was tried;
    /// [`Error::TooCostly`] if a passphrase was not tried because of its cost, and nothing else fits;
    /// [`Error::HeaderForged`] if the header was changed.
    pub fn open(self, identities: &[Identity]) -> Result<Opened, Error> {
        let (mut tried, mut costly) = (false, None);
        for identity in identities {
            for (stanza, entry) in &self.0.entries {
                match identity.unwrap(*stanza, entry) {
                    Ok(Some(key)) => return self.unlock(key),
                    Ok(None) => tried |= identity.is_passphrase() && stanza.is_passphrase(),
                    // Another identity may still fit.
                    Err(Error::TooCostly(cost)) => costly = Some(cost),
                    Err(error) => return Err(error),
                }
            }
        }
        Err(match costly {
            Some(cost) => Error::TooCostly(cost),
            None if tried => Error::WrongPassphrase,
            None => Error::NoKeyFits(self.describe()),
        })
    }

    fn unlock(self, key: FileKey) -> Result<Opened, Error> {
        let parsed = self.0;
        if !key.verify(&parsed.bytes, &parsed.mac)? {
            return Err(Error::HeaderForged);
        }
        let contents = Contents::open(&key, &parsed.metadata)?;
        Ok(Opened::new(key, contents, parsed))
    }

    /// Returns the recipients in words: `2 X-Wing keys and one passphrase`.
    fn describe(&self) -> String {
        let mut kinds: Vec<(Stanza, usize)> = Vec::new();
        for stanza in self.stanzas() {
            match kinds.iter_mut().find(|(kind, _)| *kind == stanza) {
                Some((_, count)) => *count += 1,
                None => kinds.push((stanza, 1)),
            }
        }
        let words = |(kind, count): &(Stanza, usize)| {
            if *count == 1 { format!("one {kind}") } else { format!("{count} {kind}s") }
        };
        kinds.iter().map(words).collect::<Vec<_>>().join(" and ")
    }
}
