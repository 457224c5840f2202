//! The keys and passphrases that may open a file, tried in an order that asks the user as little as possible.

use std::path::{Path, PathBuf};

use crate::failure::{Exit, Failure};
use crate::home::{self, Home};
use crate::passphrase::Passphrases;
use crate::sealed::Sealed;
use crate::shown::shown;
use crate::suggest::closest;
use deadpan_seal::key::{Found, KeyError, ProtectedKey};
use deadpan_seal::{Error, Identity, Kem, MaxCost, Opened, PublicKey, Stanza};

/// The private keys to try, and the source of passphrases.
pub struct Identities {
    list: Vec<Candidate>,
    passphrases: Passphrases,
    /// The limit on the cost of hashing a file's own passphrase.
    max_cost: MaxCost,
    /// The key folder, if the keys come from there because none was named.
    folder: Option<PathBuf>,
}

struct Candidate {
    name: String,
    /// The key's file; `None` for a passphrase, and for one of several keys in a file.
    path: Option<PathBuf>,
    state: State,
}

enum State {
    Ready(Identity),
    /// A protected key. Its public part is known if it is in the file beside it.
    Locked(ProtectedKey, Option<PublicKey>),
}

impl Identities {
    /// Reads the named keys, or all of the user's own keys if none is named.
    pub fn collect(named: &[PathBuf], home: &Home, passphrases: Passphrases) -> Result<Self, Failure> {
        let mut identities = Self { folder: named.is_empty().then(|| home.folder.clone()), ..Self::none(passphrases) };
        for name in named {
            let path = if home::may_exist(name) { name.clone() } else { own_path(name, home)? };
            identities.add(&path)?;
        }
        if named.is_empty() {
            for own in home.own()? {
                // If a file in the key folder is damaged, the other keys are still tried.
                identities.add(&own.path).unwrap_or_else(|failure| failure.say());
            }
        }
        Ok(identities)
    }

    /// Starts without any key.
    pub fn none(passphrases: Passphrases) -> Self {
        Self { list: Vec::new(), passphrases, max_cost: MaxCost::default(), folder: None }
    }

    /// Sets another limit on the cost of hashing a file's own passphrase.
    pub fn within(self, max_cost: MaxCost) -> Self {
        Self { max_cost, ..self }
    }

    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        let name = shown(path);
        let all = home::read(path)?;
        let is_one = all.len() == 1;
        let only_public = all.iter().all(|found| matches!(found, Found::Public(_)));
        for found in all {
            let state = match found {
                Found::Private(key) => {
                    if is_one {
                        home::check_pair(path, key.public());
                    }
                    State::Ready(Identity::Key(key))
                }
                // The public part beside the file tells the kind of a key only if the file has one key.
                Found::Protected(key) => {
                    let public = if is_one { home::public_of(path).ok().flatten() } else { None };
                    State::Locked(key, public)
                }
                // A public key opens no file, so it is skipped.
                Found::Public(_) if !only_public => continue,
                Found::Public(_) => {
                    let hint = "open with the private key; a public key is for sealing, with -r";
                    return Err(Failure::usage(format!("{name} is a public key"), hint));
                }
            };
            self.list.push(Candidate { name: name.clone(), path: is_one.then(|| path.to_owned()), state });
        }
        Ok(())
    }

    /// Adds a passphrase that is known to be right. It is tried before any question to the user.
    pub fn know(&mut self, passphrase: deadpan_seal::Passphrase) {
        let state = State::Ready(Identity::Passphrase(passphrase));
        self.list.push(Candidate { name: "the passphrase".into(), path: None, state });
    }

    /// Returns the public keys, as far as they are known without a passphrase.
    pub fn public_keys(&self) -> Vec<PublicKey> {
        let public = |candidate: &Candidate| match &candidate.state {
            State::Ready(Identity::Key(key)) => Some(key.public().clone()),
            State::Ready(_) => None,
            State::Locked(_, public) => public.clone(),
        };
        self.list.iter().filter_map(public).collect()
    }

    /// Returns the source of passphrases.
    pub fn passphrases(&self) -> &Passphrases {
        &self.passphrases
    }

    /// Opens the header with the first identity that fits: first those that need no passphrase, then protected keys,
    /// then the file's own passphrase.
    pub fn open(&mut self, name: &str, sealed: &Sealed<'_>) -> Result<Opened, Failure> {
        let ready: Vec<_> = self.list.iter().filter_map(|candidate| candidate.ready_for(&sealed.stanzas)).collect();
        let none = match sealed.header.clone().open(&ready) {
            Err(error @ (Error::NoKeyFits(_) | Error::WrongPassphrase | Error::TooCostly(_))) => error,
            result => return result.map_err(|error| Failure::of(name, error)),
        };
        let mut refused = None;
        for candidate in &mut self.list {
            match candidate.unlock(&sealed.stanzas, &self.passphrases) {
                Ok(Some(identity)) => match sealed.header.clone().open(&[identity]) {
                    Err(Error::NoKeyFits(_)) => {}
                    result => return result.map_err(|error| Failure::of(name, error)),
                },
                Ok(None) => {}
                Err(failure) if failure.exit == Exit::Key => refused = Some(failure),
                Err(failure) => return Err(failure),
            }
        }
        if let Some(cost) = sealed.stanzas.iter().find_map(Stanza::cost) {
            // If the cost is above the limit, the user is not asked for a passphrase.
            if !self.max_cost.allows(cost) {
                return Err(Failure::of(name, Error::TooCostly(cost)));
            }
            match self.open_by_passphrase(name, sealed)? {
                Some(opened) => return Ok(opened),
                None => refused = refused.or_else(|| Some(not_given(name))),
            }
        }
        Err(refused.unwrap_or_else(|| self.none_fits(name, none)))
    }

    fn open_by_passphrase(&mut self, name: &str, sealed: &Sealed<'_>) -> Result<Option<Opened>, Failure> {
        let max_cost = self.max_cost;
        let opened = self.passphrases.unlock(name, |passphrase| {
            let passphrase = passphrase.clone().with_max_cost(max_cost);
            match sealed.header.clone().open(&[Identity::Passphrase(passphrase.clone())]) {
                Err(Error::WrongPassphrase | Error::NoKeyFits(_)) => Ok(None),
                result => result.map(|opened| Some((opened, passphrase))).map_err(|error| Failure::of(name, error)),
            }
        })?;
        Ok(opened.map(|(opened, passphrase)| {
            // The next file may have the same passphrase.
            self.know(passphrase);
            opened
        }))
    }

    /// Returns the library's error, with a hint that names the keys that were tried.
    fn none_fits(&self, name: &str, error: Error) -> Failure {
        let mut failure = Failure::of(name, error);
        failure.exit = Exit::Key;
        let tried: Vec<_> = self.list.iter().map(|candidate| candidate.name.as_str()).collect();
        failure.hint = Some(match (&self.folder, tried.is_empty()) {
            (Some(folder), true) => format!("there is no key in {}; name yours with -i", shown(folder)),
            (_, _) => format!(
                "tried {}; name the right key with -i, or ask the sender who it was sealed to",
                tried.join(", ")
            ),
        });
        failure
    }
}

impl Candidate {
    fn ready_for(&self, stanzas: &[Stanza]) -> Option<Identity> {
        match &self.state {
            State::Ready(identity @ Identity::Key(key)) => fits(Some(key.kem()), stanzas).then(|| identity.clone()),
            State::Ready(identity) => stanzas.iter().any(Stanza::is_passphrase).then(|| identity.clone()),
            State::Locked(..) => None,
        }
    }

    /// Unlocks the key with its passphrase. Returns `None` if it is unlocked already, or cannot fit.
    fn unlock(&mut self, stanzas: &[Stanza], passphrases: &Passphrases) -> Result<Option<Identity>, Failure> {
        let State::Locked(locked, public) = &self.state else { return Ok(None) };
        if !fits(public.as_ref().map(PublicKey::kem), stanzas) {
            return Ok(None);
        }
        let key = passphrases.unlock(&self.name, |passphrase| match locked.unlock(passphrase) {
            Ok(key) => Ok(Some(key)),
            Err(KeyError::WrongPassphrase) => Ok(None),
            Err(error) => Err(Failure::key(&self.name, &error)),
        })?;
        let key = key.ok_or_else(|| not_given(&self.name))?;
        self.path.iter().for_each(|path| home::check_pair(path, key.public()));
        self.state = State::Ready(Identity::Key(key.clone()));
        Ok(Some(Identity::Key(key)))
    }
}

/// Whether a key of this kind, or of an unknown one, may fit one of the recipients.
fn fits(kem: Option<Kem>, stanzas: &[Stanza]) -> bool {
    stanzas.iter().any(|stanza| matches!(stanza, Stanza::Key(other) if kem.is_none_or(|kem| kem == *other)))
}

/// Returns the failure for an empty answer to the question for a passphrase.
fn not_given(what: &str) -> Failure {
    Failure::new(
        Exit::Key,
        format!("no passphrase was given for {what}"),
        "type the passphrase, or name a key that needs none with -i",
    )
}

/// Returns the file of the own key with this name.
fn own_path(name: &Path, home: &Home) -> Result<PathBuf, Failure> {
    if let Some(path) = name
        .to_str()
        .filter(|name| home::check_name(name).is_ok())
        .map(|name| home.own_path(name))
        .filter(|path| path.exists())
    {
        return Ok(path);
    }
    home.refuse_contact(
        &name.to_string_lossy(),
        "opening takes the private key, which only the contact has; name one of your own keys",
    )?;
    let message = format!(
        "no key {}: there is no such file, and no own key of that name in {}",
        shown(name),
        shown(&home.folder)
    );
    let hint = match closest(&name.to_string_lossy(), home.own_names()) {
        Some(name) => format!("did you mean {name}? `deadpan keys` lists the names"),
        None => "list the names with: deadpan keys".into(),
    };
    Err(Failure::usage(message, hint))
}
