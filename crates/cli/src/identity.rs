//! What may open a file: keys tried in an order that asks for as little as possible.

use crate::failure::{Exit, Failure};
use crate::home::{self, Home};
use crate::passphrase::Passphrases;
use crate::sealed::Sealed;
use crate::shown::shown;
use deadpan_seal::key::{Found, KeyError, ProtectedKey};
use deadpan_seal::{Error, Identity, Kem, Opened, Stanza};
use std::path::{Path, PathBuf};

/// The keys at hand, and who to ask for passphrases.
pub struct Identities {
    list: Vec<Candidate>,
    passphrases: Passphrases,
    /// Where keys were looked for when none was named.
    folder: Option<PathBuf>,
}

struct Candidate {
    name: String,
    state: State,
}

enum State {
    Ready(Identity),
    /// Protected; its kind if the public part beside it tells.
    Locked(ProtectedKey, Option<Kem>),
}

impl Identities {
    /// The named keys, or else all of one's own.
    pub fn collect(named: &[PathBuf], home: &Home, passphrases: Passphrases) -> Result<Self, Failure> {
        let mut identities = Self { list: Vec::new(), passphrases, folder: named.is_empty().then(|| home.folder.clone()) };
        for name in named {
            let path = if name.exists() { name.clone() } else { own_path(name, home)? };
            identities.add(&path)?;
        }
        if named.is_empty() {
            for own in home.own()? {
                // One bad file in the key folder is no reason not to try the others.
                identities.add(&own.path).unwrap_or_else(|failure| failure.say());
            }
        }
        Ok(identities)
    }

    /// None yet.
    pub fn none(passphrases: Passphrases) -> Self {
        Self { list: Vec::new(), passphrases, folder: None }
    }

    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        let name = shown(path);
        for found in home::read(path)? {
            let state = match found {
                Found::Private(key) => State::Ready(Identity::Key(key)),
                Found::Protected(key) => State::Locked(key, home::public_of(path).ok().flatten().map(|public| public.kem())),
                Found::Public(_) => {
                    let hint = "opening takes the private key; this one is for sealing, with -r";
                    return Err(Failure::usage(format!("{name} is a public key"), hint));
                }
            };
            self.list.push(Candidate { name: name.clone(), state });
        }
        Ok(())
    }

    /// A passphrase that is known to be right, to be tried before anything is asked.
    pub fn know(&mut self, passphrase: deadpan_seal::Passphrase) {
        self.list.push(Candidate { name: "the passphrase".into(), state: State::Ready(Identity::Passphrase(passphrase)) });
    }

    /// Opens the header with whatever fits: first what needs no question, then protected keys, then the file's own passphrase.
    pub fn open(&mut self, name: &str, sealed: &Sealed<'_>) -> Result<Opened, Failure> {
        let ready: Vec<_> = self.list.iter().filter_map(|candidate| candidate.ready_for(&sealed.stanzas)).collect();
        let none = match sealed.header.clone().open(&ready) {
            Err(error @ (Error::NoKeyFits(_) | Error::WrongPassphrase)) => error,
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
        if sealed.stanzas.iter().any(Stanza::is_passphrase) {
            match self.open_by_passphrase(name, sealed) {
                Ok(Some(opened)) => return Ok(opened),
                Ok(None) => {}
                Err(failure) => return Err(failure),
            }
        }
        Err(refused.unwrap_or_else(|| self.none_fits(name, none)))
    }

    fn open_by_passphrase(&mut self, name: &str, sealed: &Sealed<'_>) -> Result<Option<Opened>, Failure> {
        let opened =
            self.passphrases.unlock(name, |passphrase| match sealed.header.clone().open(&[Identity::Passphrase(passphrase.clone())]) {
                Err(Error::WrongPassphrase | Error::NoKeyFits(_)) => Ok(None),
                result => result.map(|opened| Some((opened, passphrase.clone()))).map_err(|error| Failure::of(name, error)),
            })?;
        Ok(opened.map(|(opened, passphrase)| {
            // The next file may have the same.
            self.know(passphrase);
            opened
        }))
    }

    /// No key fits: in the library's words, with what was tried.
    fn none_fits(&self, name: &str, error: Error) -> Failure {
        let mut failure = Failure::of(name, error);
        failure.exit = Exit::Key;
        let tried: Vec<_> = self.list.iter().map(|candidate| candidate.name.as_str()).collect();
        failure.hint = Some(match (&self.folder, tried.is_empty()) {
            (Some(folder), true) => format!("there is no key in {}; name yours with -i", shown(folder)),
            (_, _) => format!("tried {}; name the right key with -i, or ask the sender who it was sealed to", tried.join(", ")),
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

    /// The key, if it was locked until now and may fit.
    fn unlock(&mut self, stanzas: &[Stanza], passphrases: &Passphrases) -> Result<Option<Identity>, Failure> {
        let State::Locked(locked, kem) = &self.state else { return Ok(None) };
        if !fits(*kem, stanzas) {
            return Ok(None);
        }
        let key = passphrases.unlock(&self.name, |passphrase| match locked.unlock(passphrase) {
            Ok(key) => Ok(Some(key)),
            Err(KeyError::WrongPassphrase) => Ok(None),
            Err(error) => Err(Failure::key(&self.name, &error)),
        })?;
        let Some(key) = key else { return Ok(None) };
        self.state = State::Ready(Identity::Key(key.clone()));
        Ok(Some(Identity::Key(key)))
    }
}

/// Whether a key of this kind, or of an unknown one, may fit one of the recipients.
fn fits(kem: Option<Kem>, stanzas: &[Stanza]) -> bool {
    stanzas.iter().any(|stanza| matches!(stanza, Stanza::Key(other) if kem.is_none_or(|kem| kem == *other)))
}

/// The file of one's own key, by its name.
fn own_path(name: &Path, home: &Home) -> Result<PathBuf, Failure> {
    if let Some(path) =
        name.to_str().filter(|name| home::check_name(name).is_ok()).map(|name| home.own_path(name)).filter(|path| path.exists())
    {
        return Ok(path);
    }
    if name.to_string_lossy().starts_with("AGE-SECRET-KEY-") {
        let hint = "everybody on this machine can see arguments; put it into a file, and treat this key as known";
        return Err(Failure::usage("a private key as an argument", hint));
    }
    let message = format!("no key {}: there is no such file, and no own key of that name in {}", shown(name), shown(&home.folder));
    Err(Failure::usage(message, "list the names with: deadpan keys"))
}
