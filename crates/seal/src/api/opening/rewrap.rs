//! Changes the recipients of a sealed file by making a new header for the old payload.

use super::Opened;
use super::unlocked::Unlocked;
use crate::format::age;
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::header::{self, PAGE, Parsed};
use crate::format::deadpan::layout::Entry;
use crate::format::deadpan::{floe, recipient};
use crate::primitive::entropy::Entropy;
use crate::{Error, Format, PrivateKey, PublicKey, Recipient, Stanza};

/// A recipient of the old header can still open the payload if the recipient kept the old header or the file key. To
/// exclude a recipient, seal the data again.
impl Opened {
    /// Makes a header for other recipients. The new header has the length of the old header, so that it can be written
    /// over the old header. The payload stays unchanged.
    ///
    /// # Errors
    /// The errors of [`crate::Sealing::to`], or of [`crate::Sealing::mixed`] if `mixed` is set; [`Error::TooMany`] if
    /// the recipients need a longer header: see [`Opened::rewrap_longer`].
    pub fn rewrap(&self, recipients: &[Recipient], mixed: bool) -> Result<Vec<u8>, Error> {
        let header = self.rewrap_longer(recipients, mixed)?;
        let room = self.unlocked.header_length();
        // An age header has no free space, so a new age header must be exactly as long as the old header.
        if header.len() > room || self.format() == Format::Age && header.len() < room {
            return Err(Error::TooMany("these recipients need more room than the header has"));
        }
        Ok(header)
    }

    /// Makes a header for other recipients. The new header may be longer than the old header. A longer header cannot be
    /// written over the old header: write the new header to a new file, and append the payload.
    ///
    /// # Errors
    /// The errors of [`crate::Sealing::to`], or of [`crate::Sealing::mixed`] if `mixed` is set; [`Error::TooMany`] if
    /// the recipients do not fit into any header.
    pub fn rewrap_longer(&self, recipients: &[Recipient], mixed: bool) -> Result<Vec<u8>, Error> {
        self.rewrap_keeping(&[], recipients, mixed)
    }

    /// Makes a header that keeps the entries of the recipients whose numbers are in `kept`, and adds other recipients.
    /// The numbers are positions in the result of [`Opened::stanzas`]. The new header keeps the order of `kept`. The
    /// new header is as long as the old header if the old header has enough room. If the old header has too little
    /// room, the new header is longer: see [`Opened::rewrap_longer`].
    ///
    /// # Errors
    /// [`Error::NoRecipients`] if the file would have no recipients; [`Error::TooMany`] if there is more than one
    /// passphrase, or if the recipients do not fit into any header; [`Error::EmptyPassphrase`]; [`Error::Mixed`] if
    /// `mixed` is not set, and the added recipients would lead to a file with both classical and other recipients.
    pub fn rewrap_keeping(&self, kept: &[usize], added: &[Recipient], mixed: bool) -> Result<Vec<u8>, Error> {
        let added = recipient::distinct(added.to_vec());
        match &self.unlocked {
            Unlocked::Deadpan { key, header, .. } => rewrapped(key, header, kept, added, mixed),
            Unlocked::Age { key, header } => {
                let old = at(&header.stanzas, kept)?;
                let kept: Vec<_> = old.iter().map(|(stanza, _)| *stanza).collect();
                recipient::check_beside(&kept, &added, mixed)?;
                age::check(&added)?;
                let passphrases = kept.iter().filter(|it| it.is_passphrase()).count()
                    + added.iter().filter(|it| it.is_passphrase()).count();
                if passphrases > 0 && kept.len() + added.len() > 1 {
                    return Err(Error::TooMany("an age file with a passphrase has no other recipients"));
                }
                let mut stanzas: Vec<_> = old.into_iter().map(|(_, stanza)| stanza.clone()).collect();
                stanzas.extend(age::wrap_all(&added, &kept, mixed, key, Entropy::System)?);
                age::AgeHeader::build(key, &stanzas)
            }
        }
    }

    /// Returns the public part of each recipient's entry.
    #[must_use]
    pub fn stanzas(&self) -> Vec<Stanza> {
        match &self.unlocked {
            Unlocked::Deadpan { header, .. } => header.entries.iter().map(|(stanza, _)| *stanza).collect(),
            Unlocked::Age { header, .. } => header.stanzas.iter().map(|(stanza, _)| *stanza).collect(),
        }
    }

    /// Returns the number of bytes in the header.
    #[must_use]
    pub fn header_length(&self) -> u64 {
        self.unlocked.header_length() as u64
    }

    /// Returns the numbers of the recipients that have this public key. Only a holder of the file key can find these
    /// recipients. This method does not find entries by other programs or earlier versions, because those programs use
    /// random bytes for each entry. In an age file, this method finds no recipient.
    ///
    /// # Errors
    /// If the system fails.
    pub fn recipients_with(&self, key: &PublicKey) -> Result<Vec<usize>, Error> {
        let Unlocked::Deadpan { key: file, header, .. } = &self.unlocked else { return Ok(Vec::new()) };
        match Recipient::from(key).wrap(file, Entropy::System) {
            Ok(entries) => Ok(numbers(header, |other| entries.contains(other))),
            // The key is a point of small order. Nobody can seal to a point of small order, so no recipient has this
            // key.
            Err(Error::InvalidKey(_)) => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// Returns the numbers of the recipients whose entries this private key opens. It does not matter which program
    /// wrote the entries.
    ///
    /// # Errors
    /// If the system fails.
    pub fn recipients_of(&self, key: &PrivateKey) -> Result<Vec<usize>, Error> {
        let mut numbers = Vec::new();
        match &self.unlocked {
            Unlocked::Deadpan { key: file, header, .. } => {
                for (number, (stanza, entry)) in header.entries.iter().enumerate() {
                    if *stanza == Stanza::Key(key.kem()) {
                        let opened = recipient::unwrap_with_key(key, file.preamble(), entry)?;
                        numbers.extend(opened.filter(|other| other.same(file)).map(|_| number));
                    }
                }
            }
            Unlocked::Age { key: file, header } => {
                let unwrapping = age::Unwrapping::default();
                for (number, (stanza, body)) in header.stanzas.iter().enumerate() {
                    let opened = unwrapping.unwrap(&key.into(), *stanza, body)?;
                    numbers.extend(opened.filter(|other| other.same(file)).map(|_| number));
                }
            }
        }
        Ok(numbers)
    }
}

fn at<'e, E>(entries: &'e [(Stanza, E)], numbers: &[usize]) -> Result<Vec<&'e (Stanza, E)>, Error> {
    let found = numbers.iter().map(|number| entries.get(*number)).collect::<Option<Vec<_>>>();
    found.ok_or(Error::Invalid("a file has no recipient of this number"))
}

fn numbers(header: &Parsed, is_wanted: impl Fn(&Entry) -> bool) -> Vec<usize> {
    let entries = header.entries.iter().enumerate();
    entries.filter(|(_, (_, entry))| is_wanted(entry)).map(|(number, _)| number).collect()
}

/// Returns a header of Deadpan's own format that keeps some recipients and adds other recipients.
fn rewrapped(
    key: &FileKey,
    header: &Parsed,
    kept: &[usize],
    added: Vec<Recipient>,
    mixed: bool,
) -> Result<Vec<u8>, Error> {
    let old = at(&header.entries, kept)?;
    let stanzas: Vec<_> = old.iter().map(|(stanza, _)| *stanza).collect();
    recipient::check_beside(&stanzas, &added, mixed)?;
    // Whether a plugin's recipient has post-quantum protection is known only after the plugin has wrapped a key.
    let added = recipient::prepare(&added, true)?.unwrap_or(added);
    recipient::check_beside(&stanzas, &added, mixed)?;
    let mut entries: Vec<Entry> = old.into_iter().map(|(_, entry)| entry.clone()).collect();
    entries.extend(recipient::wrap_all(&added, key, Entropy::System)?);
    let needed = header::length(entries.iter().map(|entry| entry.body.len()), header.metadata.len());
    let length = header.length();
    let is_aligned = (length + floe::HEADER).is_multiple_of(PAGE);
    let length = match needed > length {
        // If the old payload begins at a page boundary, the new payload also begins at a page boundary.
        true if is_aligned => header::with_room(needed),
        _ => needed.max(length),
    };
    header::build(key, &entries, &header.metadata, length)
}
