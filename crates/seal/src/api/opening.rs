//! Opens sealed files. The caller reads the header, opens the header with a key that fits, and then reads the data in
//! one of several ways.

mod expand;
mod opened;
mod opener;
mod range;
mod rewrap;
#[cfg(test)]
mod tests;
mod unlocked;

pub use opened::Opened;
pub use opener::Opener;
pub use range::RangeReader;

use std::fmt;
use std::io::Read;

use crate::format::age;
use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::floe::{self, Parameters, Segments};
use crate::format::deadpan::header::{Parsed, check_segment};
use crate::format::deadpan::layout::{Entry, SIGNATURE, VERSION};
use crate::format::deadpan::metadata::Contents;
use crate::format::deadpan::recipient::unwrap_with_plugin;
use crate::format::deadpan::threshold::group::{GatheredShares, Group};
use crate::format::deadpan::trailer::{Addressee, FOOTER, Footer};
use crate::format::fill::read_full;
use crate::format::plugin;
use crate::{Cost, Error, Format, Identity, PublicKey, Share, ShareFault, Stanza};
use unlocked::{Unlocked, refuse_header};

/// The lengths of the parts of a trailer. Everybody can see these lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trailer {
    /// The number of bytes in the trailer.
    pub length: u64,
    /// The number of segments before the trailer.
    pub segments: u64,
    /// The number of bytes in the sealed hashes of the segments.
    pub leaves: u64,
    /// The number of bytes in the sealed box with the signatures.
    pub signatures: u64,
}

impl Trailer {
    /// The number of bytes at the end of a signed file that contain these lengths.
    pub const END: usize = FOOTER;
}

/// A sealed file's header. The header is well formed, but only [`Header::open`] checks whether the header is authentic.
/// Everybody can read the header without a key.
#[derive(Clone)]
pub struct Header(FormatHeader);

#[derive(Clone)]
enum FormatHeader {
    Deadpan(Parsed),
    Age(age::AgeHeader),
}

/// The reasons why the identities failed, for an error if no single identity opens the file.
#[derive(Default)]
struct Misses {
    /// Whether a passphrase was tried.
    tried: bool,
    /// The hashing cost of a passphrase that was not tried because this cost is above the limit.
    costly: Option<Cost>,
    /// The first failure of a plugin.
    plugin: Option<plugin::PluginError>,
}

impl fmt::Debug for Header {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Header")
            .field("stanzas", &self.stanzas())
            .field("length", &self.length())
            .finish_non_exhaustive()
    }
}

impl Header {
    /// Reads the header, and no byte after the header.
    ///
    /// # Errors
    /// If the input cannot be read, is not a sealed file, or is damaged.
    pub fn read(mut input: impl Read) -> Result<Self, Error> {
        let mut start = [0; 16];
        let length = read_full(&mut input, &mut start).map_err(Error::Read)?;
        let start = &start[..length];
        let form = if age::is_age(start) {
            FormatHeader::Age(age::AgeHeader::read(start, input)?)
        } else {
            FormatHeader::Deadpan(Parsed::read(start.chain(input))?)
        };
        Ok(Self(form))
    }

    /// Returns the format of the file.
    #[must_use]
    pub fn format(&self) -> Format {
        match self.0 {
            FormatHeader::Deadpan(_) => Format::Deadpan,
            FormatHeader::Age(_) => Format::Age,
        }
    }

    fn parsed(&self) -> Option<&Parsed> {
        if let FormatHeader::Deadpan(parsed) = &self.0 { Some(parsed) } else { None }
    }

    /// Returns the unchanged stanzas of an age file, or `None` for a file in Deadpan's own format.
    #[must_use]
    pub fn age_stanzas(&self) -> Option<Vec<&age::AgeStanza>> {
        let FormatHeader::Age(header) = &self.0 else { return None };
        Some(header.stanzas.iter().map(|(_, stanza)| stanza).collect())
    }

    /// Returns the public part of each recipient's entry.
    #[must_use]
    pub fn stanzas(&self) -> Vec<Stanza> {
        match &self.0 {
            FormatHeader::Deadpan(parsed) => parsed.entries.iter().map(|(stanza, _)| *stanza).collect(),
            FormatHeader::Age(header) => header.stanzas.iter().map(|(stanza, _)| *stanza).collect(),
        }
    }

    /// Returns the number of bytes in the header. The payload follows the header.
    #[must_use]
    pub fn length(&self) -> u64 {
        (match &self.0 {
            FormatHeader::Deadpan(parsed) => parsed.length(),
            FormatHeader::Age(header) => header.length(),
        }) as u64
    }

    /// Returns the version of the format.
    #[must_use]
    pub fn version(&self) -> u8 {
        VERSION
    }

    /// Returns the number of bytes in the header that are free for more recipients.
    #[must_use]
    pub fn slack(&self) -> u64 {
        self.parsed().map_or(0, |parsed| parsed.slack as u64)
    }

    /// Returns the number of bytes in the metadata box. An age file has no metadata.
    #[must_use]
    pub fn metadata_length(&self) -> u64 {
        self.parsed().map_or(0, |parsed| parsed.metadata.len() as u64)
    }

    /// Returns whether the file is signed. In a signed file, a trailer with the signatures follows the payload.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        self.parsed().is_some_and(|parsed| parsed.preamble.is_signed())
    }

    /// Returns the lengths of the parts of the trailer. `end` holds the last bytes of a signed file. The lengths are
    /// not authentic.
    ///
    /// # Errors
    /// If the file is not signed, or if `end` does not hold the last bytes of a signed file.
    pub fn trailer(&self, end: &[u8]) -> Result<Trailer, Error> {
        let footer = end.last_chunk::<FOOTER>().filter(|_| self.is_signed()).ok_or(Error::Trailer("its end"))?;
        let footer = Footer::decode(footer)?;
        Ok(Trailer {
            length: footer.trailer(),
            segments: footer.segments,
            leaves: footer.leaf_pages(),
            signatures: footer.sealed_box as u64,
        })
    }

    /// Returns how the payload of a file of `length` bytes divides into segments. `length` does not include a trailer.
    /// `input` begins after the header. The result is not authentic.
    ///
    /// # Errors
    /// If the payload's header is not well formed, or if no sealed file has this length.
    pub fn segments(&self, mut input: impl Read, length: u64) -> Result<Segments, Error> {
        if let FormatHeader::Age(header) = &self.0 {
            return Segments::for_sealed(age::SHAPE, length.saturating_sub((header.length() + age::NONCE) as u64));
        }
        let mut start = [0; SIGNATURE];
        let read = read_full(&mut input, &mut start).map_err(Error::Read)?;
        refuse_header(&start[..read])?;
        let parameters = Parameters::read(start[..read].chain(input))?;
        check_segment(parameters.segment_length())?;
        let payload = length.saturating_sub(self.length() + floe::HEADER as u64);
        parameters.segments_in(payload)
    }

    /// Tries the identities in order, and opens the header with the first identity that fits. Tries each identity only
    /// on recipients of its kind. If no identity alone fits, opens the header with threshold shares: the shares in
    /// `identities`, and the shares that the identities can open. May leak: which identity fits which recipient.
    ///
    /// # Errors
    /// [`Error::NoKeyFits`] if no identity fits; [`Error::TooFewShares`] if there are too few fitting shares;
    /// [`Error::Share`] if a share is wrong and there are not enough other shares; [`Error::Plugin`] if a plugin
    /// failed, and nothing else fits; [`Error::WrongPassphrase`] if a passphrase was tried and nothing else fits;
    /// [`Error::TooCostly`] if a passphrase was not tried because of its cost, and nothing else fits;
    /// [`Error::HeaderForged`] if the header was changed.
    pub fn open(self, identities: &[Identity]) -> Result<Opened, Error> {
        let mut misses = Misses::default();
        let own = |identity: &Identity| identity.public().cloned().into_iter().collect();
        match &self.0 {
            FormatHeader::Deadpan(parsed) => {
                let unwrap =
                    |identity: &Identity, stanza, entry: &Entry| identity.unwrap(parsed.preamble, stanza, entry);
                let plugin = |plugin: &plugin::Identity| unwrap_with_plugin(plugin, parsed.preamble, &parsed.entries);
                if let Some(Fit { key, identity, entry }) =
                    fitting(identities, &parsed.entries, unwrap, plugin, &mut misses)?
                {
                    return unlock(key, parsed.clone(), own(identity), identity.addressee(entry));
                }
                if let Some((key, keys, opener)) = combined(parsed, identities)? {
                    return unlock(key, parsed.clone(), keys, opener);
                }
            }
            FormatHeader::Age(header) => {
                // If the header's MAC is wrong under the key from a plugin, the plugin may have made a mistake. Another
                // identity may still open the file.
                let plugin = |plugin: &plugin::Identity| match age::unwrap_with_plugin(plugin, &header.stanzas)? {
                    Some((key, _)) if header.verify(&key).is_err() => Err(plugin.wrong_key().into()),
                    found => Ok(found),
                };
                let unwrapping = age::Unwrapping::default();
                let unwrap =
                    |identity: &Identity, stanza, body: &age::AgeStanza| unwrapping.unwrap(identity, stanza, body);
                let fit = fitting(identities, &header.stanzas, unwrap, plugin, &mut misses)?;
                if let Some(Fit { key, identity, .. }) = fit {
                    header.verify(&key)?;
                    let unlocked = Unlocked::Age { key, header: header.clone() };
                    return Ok(Opened::new(unlocked, Contents::default(), own(identity)));
                }
            }
        }
        Err(match misses {
            Misses { plugin: Some(error), .. } => error.into(),
            Misses { costly: Some(cost), .. } => Error::TooCostly(cost),
            Misses { tried: true, .. } => Error::WrongPassphrase,
            _ => Error::NoKeyFits(self.describe()),
        })
    }

    /// Returns a short name for the set of the file's shares, or `None` if the file is not sealed to a threshold.
    /// Everybody can see this name. It differs from file to file. [`Share::group`] returns the same name.
    #[must_use]
    pub fn group(&self) -> Option<String> {
        self.parsed()?.group.as_ref().map(Group::fingerprint)
    }

    /// Returns the shares that these identities can open, in the order of the identities and without repetition. Checks
    /// that each [`Identity::Share`] is a share of this file. Opening shares does not prove that the rest of the
    /// header, or the data, are authentic.
    ///
    /// # Errors
    /// [`Error::Threshold`] if the file is not sealed to a threshold; [`Error::Share`] if a share is wrong, and no
    /// share is right; [`Error::NoKeyFits`] if no identity fits.
    pub fn shares(&self, identities: &[Identity]) -> Result<Vec<Share>, Error> {
        let parsed = self.parsed().and_then(|parsed| Some((parsed, parsed.group.as_ref()?)));
        let (parsed, group) = parsed.ok_or(Error::Threshold("the file is not sealed to a threshold"))?;
        let GatheredShares { shares, wrong, .. } = group.gather(parsed.preamble, &parsed.entries, identities)?;
        match wrong {
            _ if !shares.is_empty() => Ok(shares),
            Some(fault) => Err(Error::Share(fault)),
            None => Err(Error::NoKeyFits(self.describe())),
        }
    }

    /// Describes the recipients in words, for example `2 X-Wing keys and one passphrase` or `any 2 of 3 X-Wing keys`.
    fn describe(&self) -> String {
        let mut kinds: Vec<(Stanza, usize)> = Vec::new();
        let mut group = None;
        for stanza in self.stanzas() {
            if let Stanza::Share { kem, needed, of, .. } = stanza {
                let (.., same) = group.get_or_insert((needed, of, Some(kem)));
                *same = same.filter(|known| *known == kem);
                continue;
            }
            match kinds.iter_mut().find(|(kind, _)| *kind == stanza) {
                Some((_, count)) => *count += 1,
                None => kinds.push((stanza, 1)),
            }
        }
        let words = |(kind, count): &(Stanza, usize)| match (kind, count) {
            (kind, 1) => format!("one {kind}"),
            (Stanza::Unknown, count) => format!("{count} recipients of unknown types"),
            (kind, count) => format!("{count} {kind}s"),
        };
        let group = group.map(|(needed, of, kem)| {
            let kind = kem.map_or(String::new(), |kem| format!("{} ", kem.name()));
            format!("any {needed} of {of} {kind}keys")
        });
        kinds.iter().map(words).chain(group).collect::<Vec<_>>().join(" and ")
    }
}

struct Fit<'a, E, K> {
    key: K,
    identity: &'a Identity,
    entry: &'a E,
}

/// Tries the identities in order, and returns the result of the first identity that fits.
fn fitting<'a, E, K>(
    identities: &'a [Identity],
    entries: &'a [(Stanza, E)],
    unwrap: impl Fn(&Identity, Stanza, &E) -> Result<Option<K>, Error>,
    unwrap_with_plugin: impl Fn(&plugin::Identity) -> Result<Option<(K, &'a E)>, Error>,
    misses: &mut Misses,
) -> Result<Option<Fit<'a, E, K>>, Error> {
    for identity in identities {
        if let Identity::Plugin(plugin) = identity {
            match unwrap_with_plugin(plugin) {
                Ok(Some((key, entry))) => return Ok(Some(Fit { key, identity, entry })),
                Ok(None) => {}
                // Another identity may still fit.
                Err(Error::Plugin(error)) => misses.plugin = misses.plugin.take().or(Some(error)),
                Err(error) => return Err(error),
            }
            continue;
        }
        for (stanza, entry) in entries {
            match unwrap(identity, *stanza, entry) {
                Ok(Some(key)) => return Ok(Some(Fit { key, identity, entry })),
                Ok(None) => misses.tried |= identity.is_passphrase() && stanza.is_passphrase(),
                // Another identity may still fit.
                Err(Error::TooCostly(cost)) => misses.costly = Some(cost),
                Err(error) => return Err(error),
            }
        }
    }
    Ok(None)
}

fn unlock(key: FileKey, header: Parsed, keys: Vec<PublicKey>, opener: Addressee) -> Result<Opened, Error> {
    if !key.verify(&header.bytes, &header.mac)? {
        return Err(Error::HeaderForged);
    }
    let contents = Contents::open(&key, &header.metadata)?;
    Ok(Opened::new(Unlocked::Deadpan { key, header, opener }, contents, keys))
}

/// The file key from the shares, the public keys of the private keys that opened shares, and the threshold recipient.
type Combined = (FileKey, Vec<PublicKey>, Addressee);

/// Computes the file key from shares: the shares in `identities`, and the shares that the identities can open. Returns
/// `None` if no share fits.
fn combined(parsed: &Parsed, identities: &[Identity]) -> Result<Option<Combined>, Error> {
    let Some(group) = &parsed.group else {
        let has_share = identities.iter().any(|it| matches!(it, Identity::Share(_)));
        return if has_share { Err(Error::Share(ShareFault::OtherFile)) } else { Ok(None) };
    };
    let GatheredShares { shares, keys, wrong } = group.gather(parsed.preamble, &parsed.entries, identities)?;
    let (needed, of, found) = (group.needed, group.of, shares.len());
    match wrong {
        _ if found >= usize::from(needed) => {
            Ok(Some((group.combine(parsed.preamble, &shares)?, keys, Addressee::group(group))))
        }
        Some(fault) => Err(Error::Share(fault)),
        None if found == 0 => Ok(None),
        None => Err(Error::TooFewShares { needed, of, found: found as u8 }),
    }
}
