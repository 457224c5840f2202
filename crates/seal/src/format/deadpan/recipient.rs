//! Recipients are the keys and passphrases that can open a file. The header holds the file key, sealed once for each
//! recipient.

mod key;
mod passphrase;
mod plugin;
mod session;
#[cfg(test)]
mod tests;

use crate::format::deadpan::file_key::FileKey;
use crate::format::deadpan::layout::Entry;
use crate::format::deadpan::threshold::Numbers;
use crate::format::deadpan::threshold::entry::{self, Part};
use crate::key::openssh::{self, SshPublic};
use crate::key::passphrase::form::Form;
use crate::primitive::entropy::Entropy;
use crate::{Cost, Error, Kem, Mode, Passphrase, PublicKey, Session, Threshold};

/// The types of passphrase entries: one type for a single file, and one type for the items of a session. The type of a
/// key's entry is the number of its KEM.
const PASSPHRASE: u16 = 0xff01;
const SESSION: u16 = 0xff02;
/// The type of an entry whose wrapping key is wrapped by a plugin.
const PLUGIN: u16 = 0xff03;

/// A recipient: a person or program that can open a file.
#[derive(Clone, Debug)]
pub enum Recipient {
    /// The owner of a key.
    Key(PublicKey),
    /// Everybody who knows this passphrase. The passphrase is hashed at this cost.
    Passphrase(Passphrase, Cost),
    /// Everybody who knows the passphrase of a session. The passphrase is hashed once for many files.
    Session(Session),
    /// The owners of a group of keys. A given number of the owners can open the file together.
    Threshold(Threshold),
    /// The owner of an SSH key. Only age files can be sealed to SSH keys.
    Ssh(SshPublic),
    /// The owner of a key that a plugin of age uses. Sealing a file starts the plugin.
    Plugin(crate::format::plugin::Recipient),
}

impl From<&PublicKey> for Recipient {
    fn from(key: &PublicKey) -> Self {
        Self::Key(key.clone())
    }
}

/// Makes a recipient with the default cost.
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

impl From<&Self> for Recipient {
    fn from(recipient: &Self) -> Self {
        recipient.clone()
    }
}

/// One or several recipients for [`seal()`](crate::seal()) and [`Sealing::to`](crate::Sealing::to). One recipient is a
/// public key, a passphrase, a session or a [`Recipient`]. Several recipients are an array, a vector or a slice of such
/// values.
pub trait IntoRecipients {
    /// Returns the recipients.
    fn into_recipients(self) -> Vec<Recipient>;
}

impl<R: Into<Recipient>> IntoRecipients for R {
    fn into_recipients(self) -> Vec<Recipient> {
        vec![self.into()]
    }
}

impl<R: Into<Recipient>, const N: usize> IntoRecipients for [R; N] {
    fn into_recipients(self) -> Vec<Recipient> {
        self.map(Into::into).into()
    }
}

impl<R: Into<Recipient>> IntoRecipients for Vec<R> {
    fn into_recipients(self) -> Vec<Recipient> {
        self.into_iter().map(Into::into).collect()
    }
}

impl<'a, R> IntoRecipients for &'a [R]
where
    &'a R: Into<Recipient>,
{
    fn into_recipients(self) -> Vec<Recipient> {
        self.iter().map(Into::into).collect()
    }
}

impl<'a, R> IntoRecipients for &'a Vec<R>
where
    &'a R: Into<Recipient>,
{
    fn into_recipients(self) -> Vec<Recipient> {
        self.as_slice().into_recipients()
    }
}

/// The part of a recipient's entry that everybody can see in a header without a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stanza {
    /// A key of this kind.
    Key(Kem),
    /// A passphrase that is hashed at this cost.
    Passphrase(Cost),
    /// A passphrase of a session that is hashed at this cost.
    Session(Cost),
    /// A share for a key of this kind. The file has `of` shares, and any `needed` of these shares open the file
    /// together.
    Share {
        /// The kind of key.
        kem: Kem,
        /// The number of shares that are needed.
        needed: u8,
        /// The number of shares that the file has.
        of: u8,
        /// The number of this share. Numbers begin with 1.
        index: u8,
    },
    /// A recipient of a plugin.
    Plugin {
        /// The type of the plugin's stanza, which shows the kind of the plugin.
        tag: crate::format::plugin::Tag,
        /// The mode that the plugin reports for its stanza: [`Mode::Pqc`] if the stanza withstands a quantum computer,
        /// otherwise [`Mode::Ecc`].
        mode: Mode,
    },
    /// An SSH key of this kind, in an age file.
    Ssh(openssh::SshKind),
    /// A recipient with an unknown type, in an age file. Readers ignore such a recipient.
    Unknown,
}

impl Stanza {
    /// Returns the mode of a key. A passphrase has no mode, because it involves no public key.
    #[must_use]
    pub fn mode(&self) -> Option<Mode> {
        match self {
            Self::Key(kem) | Self::Share { kem, .. } => Some(kem.mode()),
            Self::Plugin { mode, .. } => Some(*mode),
            Self::Ssh(_) => Some(Mode::Ecc),
            Self::Passphrase(_) | Self::Session(_) | Self::Unknown => None,
        }
    }

    /// Returns whether a passphrase opens the entry of this recipient.
    #[must_use]
    pub fn is_passphrase(&self) -> bool {
        self.cost().is_some()
    }

    /// Returns the cost of trying one passphrase, or `None` for a key.
    #[must_use]
    pub fn cost(&self) -> Option<Cost> {
        match self {
            Self::Key(_) | Self::Share { .. } | Self::Plugin { .. } | Self::Ssh(_) | Self::Unknown => None,
            Self::Passphrase(cost) | Self::Session(cost) => Some(*cost),
        }
    }

    /// Reads the kind of an entry, and checks its length and its cost.
    pub(crate) fn read(entry: &Entry) -> Result<Self, Error> {
        if entry.kind == PLUGIN {
            return plugin::stanza(&entry.body);
        }
        let (stanza, length) = match entry.kind {
            PASSPHRASE => (Self::Passphrase(passphrase::cost(&entry.body)?), passphrase::BODY),
            SESSION => (Self::Session(passphrase::cost(&entry.body)?), session::BODY),
            entry::KIND => {
                let Part { numbers: Numbers { needed, of, index }, kem, .. } = Part::read(&entry.body)?;
                (Self::Share { kem, needed, of, index }, entry::body(kem))
            }
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
            Self::Plugin { tag, .. } => write!(f, "{tag} plugin key"),
            Self::Passphrase(_) | Self::Session(_) => f.write_str("passphrase"),
            Self::Ssh(kind) => write!(f, "{} key", kind.name()),
            Self::Unknown => f.write_str("recipient of an unknown type"),
            Self::Share { kem, needed, of, .. } => write!(f, "share of {needed} of {of}, {} key", kem.name()),
        }
    }
}

impl Recipient {
    /// Returns the public keys of this recipient: one key, the keys of a threshold, or no key.
    pub(crate) fn keys(&self) -> &[PublicKey] {
        match self {
            Self::Key(key) => std::slice::from_ref(key),
            Self::Threshold(threshold) => threshold.members(),
            Self::Passphrase(..) | Self::Session(_) | Self::Plugin(_) | Self::Ssh(_) => &[],
        }
    }

    pub(crate) fn is_passphrase(&self) -> bool {
        matches!(self, Self::Passphrase(..) | Self::Session(_))
    }

    /// Returns the lengths of the bodies of this recipient's entries. If the recipient has a plugin, the plugin must
    /// already have wrapped a key.
    pub(crate) fn bodies(&self) -> Vec<usize> {
        match self {
            Self::Key(key) => vec![key::body(key.kem())],
            Self::Passphrase(..) => vec![passphrase::BODY],
            Self::Session(_) => vec![session::BODY],
            Self::Plugin(plugin) => plugin.prepared.iter().map(|prepared| prepared.body()).collect(),
            Self::Ssh(_) => Vec::new(),
            Self::Threshold(threshold) => threshold.members().iter().map(|key| entry::body(key.kem())).collect(),
        }
    }

    /// Returns one entry, or the entries for all shares of a threshold.
    pub(crate) fn wrap(&self, file: &FileKey, entropy: Entropy) -> Result<Vec<Entry>, Error> {
        let entry = match self {
            Self::Key(key) => key::wrap(key, file)?,
            Self::Passphrase(passphrase, cost) => passphrase::wrap(passphrase, Form::Composed, *cost, file, entropy)?,
            Self::Session(session) => session::wrap(session, file, entropy)?,
            Self::Plugin(plugin) => match &plugin.prepared {
                Some(prepared) => prepared.wrap(file)?,
                None => plugin.prepare()?.prepared.ok_or(Error::System("no wrapped key"))?.wrap(file)?,
            },
            Self::Ssh(_) => return Err(Error::Invalid("keys of SSH are recipients of age files only")),
            Self::Threshold(threshold) => return threshold.wrap(file, entropy),
        };
        Ok(vec![entry])
    }
}

/// Returns the entries.
pub(crate) fn wrap_all(recipients: &[Recipient], file: &FileKey, entropy: Entropy) -> Result<Vec<Entry>, Error> {
    let entries: Result<Vec<_>, Error> = recipients.iter().map(|it| it.wrap(file, entropy)).collect();
    Ok(entries?.into_iter().flatten().collect())
}

/// The file key and the public key determine the entry. If a key were repeated, the file would have two equal entries,
/// and everybody could see the repetition.
pub(crate) fn distinct(recipients: Vec<Recipient>) -> Vec<Recipient> {
    let mut distinct: Vec<Recipient> = Vec::with_capacity(recipients.len());
    let mut seen = std::collections::HashSet::new();
    for recipient in recipients {
        let is_new = match &recipient {
            Recipient::Key(key) => seen.insert((key.kem(), key.as_bytes().to_vec())),
            _ => true,
        };
        if is_new {
            distinct.push(recipient);
        }
    }
    distinct
}

/// Checks a list of recipients. The list must not be empty, and may have at most one passphrase. If `mixed` is not set,
/// the list must not contain classical keys together with post-quantum or hybrid keys.
pub(crate) fn check(recipients: &[Recipient], mixed: bool) -> Result<(), Error> {
    check_beside(&[], recipients, mixed)
}

/// Checks new recipients together with the recipients that a header already has, by the rules of [`check`]. If the
/// header already has classical and other recipients, this mixture may stay.
pub(crate) fn check_beside(kept: &[Stanza], added: &[Recipient], mixed: bool) -> Result<(), Error> {
    if kept.is_empty() && added.is_empty() {
        return Err(Error::NoRecipients);
    }
    check_groups(kept, added)?;
    let mut passphrases = kept.iter().filter(|stanza| stanza.is_passphrase()).count();
    for recipient in added.iter().filter(|it| it.is_passphrase()) {
        passphrases += 1;
        if passphrases > 1 {
            return Err(Error::TooMany("a file can have one passphrase"));
        }
        if let Recipient::Passphrase(passphrase, cost) = recipient {
            passphrase.check(*cost)?;
        }
    }
    check_modes(kept, added, mixed)
}

/// If `mixed` is not set, checks that the list does not contain classical recipients together with post-quantum or
/// hybrid recipients. Whether a plugin's recipient has post-quantum protection is known only after the plugin has
/// wrapped a key.
fn check_modes(kept: &[Stanza], added: &[Recipient], mixed: bool) -> Result<(), Error> {
    let of_plugin = |recipient: &Recipient| match recipient {
        Recipient::Plugin(plugin) => plugin.prepared.as_ref().map(|prepared| prepared.mode()),
        Recipient::Ssh(_) => Some(Mode::Ecc),
        _ => None,
    };
    let mode_of = |key: &PublicKey| key.kem().mode();
    let modes =
        |recipient: &Recipient| recipient.keys().iter().map(mode_of).chain(of_plugin(recipient)).collect::<Vec<_>>();
    let classical = added.iter().find(|it| modes(it).contains(&Mode::Ecc)).map(|recipient| match recipient {
        Recipient::Plugin(plugin) => format!("the recipient of age-plugin-{}", plugin.name()),
        Recipient::Ssh(key) => format!("a recipient ({} key)", key.kind().name()),
        recipient => {
            let key = recipient.keys().iter().find(|key| mode_of(key) == Mode::Ecc);
            format!("a recipient ({} key)", key.map_or("classical", |key| key.kem().name()))
        }
    });
    let kept_modes: Vec<_> = kept.iter().filter_map(Stanza::mode).collect();
    let were_mixed = kept_modes.contains(&Mode::Ecc) && kept_modes.iter().any(|mode| *mode != Mode::Ecc);
    let has_other = added.iter().flat_map(modes).chain(kept_modes).any(|mode| mode != Mode::Ecc);
    let kept_classical = kept.iter().find(|it| it.mode() == Some(Mode::Ecc));
    let classical = kept_classical.map(|stanza| format!("a recipient ({stanza})")).or(classical);
    match classical.filter(|_| has_other && !mixed && !were_mixed) {
        Some(name) => Err(Error::Mixed(name)),
        None => Ok(()),
    }
}

/// Checks that there is at most one threshold, and that the new header has either all shares of a threshold or no
/// share.
fn check_groups(kept: &[Stanza], added: &[Recipient]) -> Result<(), Error> {
    let shares = kept.iter().filter_map(|it| if let Stanza::Share { of, .. } = it { Some(*of) } else { None });
    if shares.clone().next().is_some_and(|of| usize::from(of) != shares.clone().count()) {
        return Err(Error::Invalid("the shares of a threshold stay or go together"));
    }
    let kept = usize::from(shares.count() > 0);
    if kept + added.iter().filter(|it| matches!(it, Recipient::Threshold(_))).count() > 1 {
        return Err(Error::TooMany("a file can have one threshold"));
    }
    Ok(())
}

pub(crate) use key::unwrap as unwrap_with_key;
pub(crate) use passphrase::unwrap as unwrap_with_passphrase;
pub(crate) use plugin::{Prepared, SHORTEST as SHORTEST_PLUGIN, prepare, put_back, unwrap as unwrap_with_plugin};
pub(crate) use session::unwrap as unwrap_of_session;
