//! Opening: a header, the keys that fit it, and then any of the ways to get at the data.

mod opened;
mod opener;
mod range;
#[cfg(test)]
mod tests;

pub use opened::Opened;
pub use opener::Opener;
pub use range::RangeReader;

use crate::file_key::FileKey;
use crate::floe::{self, Parameters, Segments};
use crate::header::{Entry, Parsed, VERSION, check_segment};
use crate::metadata::Contents;
use crate::recipient::{unwrap_of_session, unwrap_with_key, unwrap_with_passphrase};
use crate::{Error, Passphrase, PrivateKey, Session, Stanza};
use std::fmt;
use std::io::Read;

/// What may open a file.
#[derive(Clone, Debug)]
pub enum Identity {
    /// A private key.
    Key(PrivateKey),
    /// A passphrase.
    Passphrase(Passphrase),
    /// The passphrase of a session, which remembers what it was hashed to.
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
    /// Whether it is a passphrase, and so may fit any entry of one.
    fn is_passphrase(&self) -> bool {
        !matches!(self, Self::Key(_))
    }

    /// The file key, if this identity and the entry belong together.
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

/// A sealed file's header, parsed and not yet trusted: what it shows to anybody.
#[derive(Clone)]
pub struct Header(Parsed);

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header").field("stanzas", &self.stanzas()).field("length", &self.length()).finish_non_exhaustive()
    }
}

impl Header {
    /// Reads the header, and not a byte more.
    ///
    /// # Errors
    /// If the input is not a sealed file, or damaged.
    pub fn read(input: impl Read) -> Result<Self, Error> {
        Parsed::read(input).map(Self)
    }

    /// The recipients, as far as they show.
    #[must_use]
    pub fn stanzas(&self) -> Vec<Stanza> {
        self.0.entries.iter().map(|(stanza, _)| *stanza).collect()
    }

    /// Bytes in the header; the payload follows.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.0.length() as u64
    }

    /// The format's version.
    #[must_use]
    pub fn version(&self) -> u8 {
        VERSION
    }

    /// Bytes left free for more recipients.
    #[must_use]
    pub fn slack(&self) -> u64 {
        self.0.slack as u64
    }

    /// Bytes in the metadata box.
    #[must_use]
    pub fn metadata_length(&self) -> u64 {
        self.0.metadata.len() as u64
    }

    /// How the segments lie in a file of `length` bytes, by what stands behind the header, which is read from `input`. Nothing of it is
    /// authentic.
    ///
    /// # Errors
    /// If the payload's header is not well formed, or no sealed file is so long.
    pub fn segments(&self, input: impl Read, length: u64) -> Result<Segments, Error> {
        let parameters = Parameters::read(input)?;
        check_segment(parameters.segment_length())?;
        let payload = length.saturating_sub(self.length() + floe::HEADER as u64);
        parameters.segments_in(payload)
    }

    /// Tries the identities, in their order, against the recipients of their kind. May leak: which fit.
    ///
    /// # Errors
    /// [`Error::NoKeyFits`]; [`Error::WrongPassphrase`]; [`Error::HeaderForged`].
    pub fn open(self, identities: &[Identity]) -> Result<Opened, Error> {
        let mut tried = false;
        for identity in identities {
            for (stanza, entry) in &self.0.entries {
                tried |= identity.is_passphrase() && stanza.is_passphrase();
                if let Some(key) = identity.unwrap(*stanza, entry)? {
                    return self.unlock(key);
                }
            }
        }
        Err(if tried { Error::WrongPassphrase } else { Error::NoKeyFits(self.describe()) })
    }

    fn unlock(self, key: FileKey) -> Result<Opened, Error> {
        let parsed = self.0;
        if !key.verify(&parsed.bytes, &parsed.mac)? {
            return Err(Error::HeaderForged);
        }
        let contents = Contents::open(&key, &parsed.metadata)?;
        Ok(Opened::new(key, contents, parsed))
    }

    /// The recipients in words: `2 X-Wing keys and a passphrase`.
    fn describe(&self) -> String {
        let mut kinds: Vec<(Stanza, usize)> = Vec::new();
        for stanza in self.stanzas() {
            match kinds.iter_mut().find(|(kind, _)| *kind == stanza) {
                Some((_, count)) => *count += 1,
                None => kinds.push((stanza, 1)),
            }
        }
        let words = |(kind, count): &(Stanza, usize)| if *count == 1 { format!("one {kind}") } else { format!("{count} {kind}s") };
        kinds.iter().map(words).collect::<Vec<_>>().join(" and ")
    }
}
