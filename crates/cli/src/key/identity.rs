//! The keys and passphrases that may open a file. The program tries the keys in an order that needs as few questions to
//! the user as possible.

mod args;
mod locked;

pub use args::IdentityArgs;

use std::path::{Path, PathBuf};

use crate::key::agent;
use crate::key::home::{self, Home};
use crate::key::passphrase::Passphrases;
use crate::key::shares::{self as share_file, Shares};
use crate::place::sealed::Sealed;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use crate::tell::suggest::closest;
use deadpan_seal::key::openssh::PrivateFile;
use deadpan_seal::key::{Found, ProtectedKey};
use deadpan_seal::{
    Error, Header, Identity, Kem, MaxCost, Opened, Passphrase, PrivateKey, PublicKey, Secret, Share, Stanza, plugin,
};

/// The private keys to try, and the source of passphrases.
pub struct Identities {
    list: Vec<Candidate>,
    passphrases: Passphrases,
    /// Shares of other people, for files that several keys open together.
    shares: Shares,
    /// Advice if shares are missing, for a command that does not accept shares.
    short_of_shares: Option<&'static str>,
    /// The limit on the cost of hashing a file's own passphrase.
    max_cost: MaxCost,
    /// The key folder, if the user gave no key, so that the keys come from this folder.
    folder: Option<PathBuf>,
}

struct Candidate {
    name: String,
    /// The key's file. The path is `None` for a passphrase, and for a key from a file with several keys.
    path: Option<PathBuf>,
    state: CandidateState,
}

enum CandidateState {
    Ready(Identity),
    /// A protected key that the agent holds, and whether the agent asks before each use.
    Held(PrivateKey, bool),
    /// A protected key, and its public part if the file beside the key contains that part.
    Locked(ProtectedKey, Option<PublicKey>),
    /// An identity of a plugin. The plugin may ask the user questions.
    Plugin(plugin::Identity),
    /// A protected key of SSH.
    LockedSsh(PrivateFile),
    /// An age file that is sealed with a passphrase and contains identities.
    LockedFile(Secret),
    /// The identities from an age file that was opened with its passphrase.
    Several(Vec<Identity>),
}

impl Identities {
    /// Reads the named keys, or all of the user's own keys if no key is named.
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
        // Keys of the agent are tried before keys that need a passphrase.
        identities.list.sort_by_key(|candidate| match candidate.state {
            CandidateState::Held(_, asks) => u8::from(asks),
            _ => 2,
        });
        Ok(identities)
    }

    /// Starts without any key.
    pub fn none(passphrases: Passphrases) -> Self {
        let shares = Shares::default();
        Self {
            list: Vec::new(),
            passphrases,
            shares,
            short_of_shares: None,
            max_cost: MaxCost::default(),
            folder: None,
        }
    }

    pub fn within(self, max_cost: MaxCost) -> Self {
        Self { max_cost, ..self }
    }

    fn add(&mut self, path: &Path) -> Result<(), Failure> {
        let name = shown(path);
        let (text, about) = home::text(path)?;
        if locked::is_age_file(&text) {
            self.list.push(Candidate { name, path: None, state: CandidateState::LockedFile(text) });
            return Ok(());
        }
        let all = home::keys_in(path, &text, &about)?;
        let is_one = all.len() == 1;
        let only_public =
            all.iter().all(|found| matches!(found, Found::Public(_) | Found::Ssh(_) | Found::PluginRecipient(_)));
        for found in all {
            let state = match found {
                Found::Private(key) => {
                    if is_one {
                        home::check_pair(path, key.public());
                    }
                    CandidateState::Ready(Identity::Key(key))
                }
                // A file may contain a signing key in addition to the key that opens sealed files.
                Found::Signing(_) | Found::Verifying(_) if !is_one => continue,
                Found::Signing(key) => return Err(home::signs(&name, key.public())),
                Found::Verifying(key) => return Err(home::signs(&name, &key)),
                // The public part beside the file belongs to the key only if the file has just one key.
                Found::Protected(key) => {
                    let public = if is_one { home::public_of(path).ok().flatten() } else { None };
                    match public.as_ref().and_then(|public| self.passphrases.held().private(public)) {
                        Some((held, asks)) => CandidateState::Held(held, asks),
                        None => CandidateState::Locked(key, public),
                    }
                }
                Found::OpenSsh(file) => match file.key() {
                    Some(key) => CandidateState::Ready(Identity::Ssh(key.clone())),
                    None => CandidateState::LockedSsh(file),
                },
                Found::PluginIdentity(identity) => {
                    CandidateState::Plugin(plugin::Identity::from(identity).with(crate::key::plugin::client()?))
                }
                // A public key opens no file, so it is skipped.
                Found::Public(_) | Found::Ssh(_) | Found::PluginRecipient(_) if !only_public => continue,
                Found::Public(_) | Found::Ssh(_) | Found::PluginRecipient(_) => {
                    let hint = "open with the private key; a public key is for sealing, with -r";
                    return Err(Failure::usage(format!("{name} is a public key"), hint));
                }
            };
            self.list.push(Candidate { name: name.clone(), path: is_one.then(|| path.to_owned()), state });
        }
        Ok(())
    }

    /// Adds a passphrase that is known to be right. The known passphrase is tried before any question to the user.
    pub fn know(&mut self, passphrase: Passphrase) {
        let state = CandidateState::Ready(Identity::Passphrase(passphrase));
        self.list.push(Candidate { name: "the passphrase".into(), path: None, state });
    }

    /// Returns the passphrase of a sealed file: the passphrase that has opened the file, or else the one that the user
    /// gives and that opens the file.
    #[cfg(unix)]
    pub fn passphrase_of(&mut self, name: &str, sealed: &Sealed<'_>) -> Result<Passphrase, Failure> {
        if self.known().is_none() {
            self.open_by_passphrase(name, sealed)?;
        }
        self.known().ok_or_else(|| not_given(name))
    }

    /// Returns the passphrase that has opened a file.
    #[cfg(unix)]
    fn known(&self) -> Option<Passphrase> {
        self.list.iter().find_map(|candidate| match &candidate.state {
            CandidateState::Ready(Identity::Passphrase(passphrase)) => Some(passphrase.clone()),
            _ => None,
        })
    }

    /// Returns the public keys that are known without a passphrase.
    pub fn public_keys(&self) -> Vec<PublicKey> {
        let public = |candidate: &Candidate| match &candidate.state {
            CandidateState::Ready(Identity::Key(key)) => Some(key.public().clone()),
            CandidateState::Locked(_, public) => public.clone(),
            CandidateState::Held(key, _) => Some(key.public().clone()),
            _ => None,
        };
        self.list.iter().filter_map(public).collect()
    }

    /// Returns the private keys that need no passphrase or are already unlocked.
    pub fn private_keys(&self) -> Vec<PrivateKey> {
        let private = |candidate: &Candidate| match &candidate.state {
            CandidateState::Ready(Identity::Key(key)) | CandidateState::Held(key, false) => Some(key.clone()),
            _ => None,
        };
        self.list.iter().filter_map(private).collect()
    }

    /// Returns the source of passphrases.
    pub fn passphrases(&self) -> &Passphrases {
        &self.passphrases
    }

    pub fn advise_on_shares(mut self, hint: &'static str) -> Self {
        self.short_of_shares = Some(hint);
        self
    }

    /// Reads files with shares of other people. Each file with shares is sealed to one of these identities.
    pub fn add_shares(mut self, files: &[PathBuf]) -> Result<Self, Failure> {
        for file in files {
            let shares = share_file::read(file, &mut self)?;
            self.shares.add(shown(file), shares);
        }
        Ok(self)
    }

    /// Opens the header with the first identity that can open it. First tries the identities that need no passphrase,
    /// then protected keys, then the file's own passphrase. If the file needs several keys together, opens the header
    /// as soon as enough identities are found.
    pub fn open(&mut self, name: &str, sealed: &Sealed<'_>) -> Result<Opened, Failure> {
        let shares = self.shares.fitting(&sealed.header);
        let mut ready = self.ready(&sealed.stanzas);
        ready.extend(shares.identities.iter().cloned());
        let mut none = match sealed.header.clone().open(&ready) {
            Err(error) if is_of_keys(&error) => error,
            result => return result.map(|opened| shares.note(opened)).map_err(|error| Failure::seal(name, error)),
        };
        let mut refused = None;
        for candidate in &mut self.list {
            match candidate.unlock(&sealed.stanzas, &self.passphrases, self.max_cost) {
                Ok(identities) if identities.is_empty() => {}
                Ok(identities) => {
                    // If the file needs several keys together, the earlier keys stay in the list, because they are
                    // needed together with the next key.
                    if sealed.header.group().is_none() {
                        ready.clear();
                    }
                    ready.extend(identities);
                    match sealed.header.clone().open(&ready) {
                        Err(Error::NoKeyFits(_)) => {}
                        Err(error) if agent::is_of_agent(&error) => {
                            // The agent refused to use its key, but another key may open the file.
                            ready.pop();
                            refused = Some(Failure::seal(name, error));
                        }
                        Err(error @ Error::Plugin(_)) => refused = Some(Failure::seal(name, error)),
                        Err(error @ Error::TooFewShares { .. }) => none = error,
                        result => {
                            return result
                                .map(|opened| shares.note(opened))
                                .map_err(|error| Failure::seal(name, error));
                        }
                    }
                }
                Err(mut failure) if failure.exit == Exit::Key => {
                    // This key may be none for this file.
                    if let (Some(hint), Some(_)) = (&mut failure.hint, &self.folder) {
                        hint.push_str("; if another key opens the file, name it with -i");
                    }
                    refused = Some(failure);
                }
                Err(failure) => return Err(failure),
            }
        }
        if let Some(cost) = sealed.stanzas.iter().find_map(Stanza::cost) {
            // If the cost is above the limit, the user is not asked for a passphrase.
            if !self.max_cost.allows(cost) {
                return Err(Failure::seal(name, Error::TooCostly(cost)));
            }
            match self.open_by_passphrase(name, sealed)? {
                Some(opened) => return Ok(opened),
                None => refused = refused.or_else(|| Some(not_given(name))),
            }
        }
        Err(shares.blame(refused.unwrap_or_else(|| self.none_fits(name, none))))
    }

    /// Opens the header if one of the keys that need no passphrase can open it.
    pub fn open_at_once(&self, sealed: &Sealed<'_>) -> Option<Opened> {
        let held = self.list.iter().filter_map(|candidate| match &candidate.state {
            CandidateState::Held(key, false) => Some(Identity::Key(key.clone())),
            _ => None,
        });
        let held: Vec<_> = held.filter(|identity| may_fit(identity, &sealed.stanzas)).collect();
        let open = |identities: &[Identity]| sealed.header.clone().open(identities).ok();
        open(&self.ready(&sealed.stanzas)).or_else(|| open(&held))
    }

    /// Returns the shares of a file that are sealed to these identities. Uses the keys that need no passphrase, or else
    /// the first protected key that has shares.
    pub fn shares(&mut self, name: &str, header: &Header) -> Result<Vec<Share>, Failure> {
        let stanzas = header.stanzas();
        let none = match header.shares(&self.ready(&stanzas)) {
            Err(error @ Error::NoKeyFits(_)) => error,
            result => return result.map_err(|error| Failure::seal(name, error)),
        };
        let mut refused = None;
        for candidate in &mut self.list {
            match candidate.unlock(&stanzas, &self.passphrases, self.max_cost) {
                Ok(identities) if identities.is_empty() => {}
                Ok(identities) => match header.shares(&identities) {
                    Err(Error::NoKeyFits(_)) => {}
                    Err(error) if agent::is_of_agent(&error) => refused = Some(Failure::seal(name, error)),
                    result => return result.map_err(|error| Failure::seal(name, error)),
                },
                Err(failure) if failure.exit == Exit::Key => refused = Some(failure),
                Err(failure) => return Err(failure),
            }
        }
        Err(refused.unwrap_or_else(|| self.none_fits(name, none)))
    }

    /// Returns the identities that need no passphrase and may fit one of the recipients.
    fn ready(&self, stanzas: &[Stanza]) -> Vec<Identity> {
        self.list.iter().flat_map(|candidate| candidate.ready_for(stanzas)).collect()
    }

    fn open_by_passphrase(&mut self, name: &str, sealed: &Sealed<'_>) -> Result<Option<Opened>, Failure> {
        let max_cost = self.max_cost;
        let opened = self.passphrases.unlock(name, |passphrase| {
            let passphrase = passphrase.clone().with_max_cost(max_cost);
            match sealed.header.clone().open(&[Identity::Passphrase(passphrase.clone())]) {
                Err(Error::WrongPassphrase | Error::NoKeyFits(_)) => Ok(None),
                result => result.map(|opened| Some((opened, passphrase))).map_err(|error| Failure::seal(name, error)),
            }
        })?;
        Ok(opened.map(|(opened, passphrase)| {
            // The passphrase stays in memory, since the next file may have the same passphrase.
            self.know(passphrase);
            opened
        }))
    }

    /// Returns the library's error, with a hint that lists the keys that were tried.
    fn none_fits(&self, name: &str, error: Error) -> Failure {
        let is_short_of_shares = matches!(error, Error::TooFewShares { .. });
        let mut failure = Failure::seal(name, error);
        failure.exit = Exit::Key;
        if is_short_of_shares {
            failure.hint = self.short_of_shares.map_or(failure.hint, |hint| Some(hint.into()));
            return failure;
        }
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
    fn ready_for(&self, stanzas: &[Stanza]) -> Vec<Identity> {
        match &self.state {
            CandidateState::Ready(identity) if may_fit(identity, stanzas) => vec![identity.clone()],
            CandidateState::Several(all) => all.iter().filter(|identity| may_fit(identity, stanzas)).cloned().collect(),
            _ => Vec::new(),
        }
    }

    /// Unlocks the keys with their passphrase. Returns no keys if the keys are already unlocked, or if they cannot open
    /// the file.
    fn unlock(
        &mut self,
        stanzas: &[Stanza],
        passphrases: &Passphrases,
        max_cost: MaxCost,
    ) -> Result<Vec<Identity>, Failure> {
        let name = &self.name;
        let given = |identity: Option<Identity>| identity.ok_or_else(|| not_given(name));
        let state = match &self.state {
            CandidateState::Held(key, _) => {
                let fits = fits(Some(key.kem()), stanzas);
                return Ok(fits.then(|| Identity::Key(key.clone())).into_iter().collect());
            }
            CandidateState::Plugin(identity) => {
                // In age files, an unknown stanza or a stanza of a tagged key may be for a plugin.
                let may_be = |stanza: &Stanza| {
                    matches!(
                        stanza,
                        Stanza::Plugin { .. } | Stanza::Unknown | Stanza::Key(Kem::P256 | Kem::MlKem768P256)
                    )
                };
                let fits = stanzas.iter().any(may_be);
                return Ok(fits.then(|| Identity::Plugin(identity.clone())).into_iter().collect());
            }
            CandidateState::Locked(locked, public) if fits(public.as_ref().map(PublicKey::kem), stanzas) => {
                let key = passphrases.unlock(name, |passphrase| locked::tried(name, locked.unlock(passphrase)))?;
                let key = key.ok_or_else(|| not_given(name))?;
                self.path.iter().for_each(|path| home::check_pair(path, key.public()));
                CandidateState::Ready(Identity::Key(key))
            }
            CandidateState::LockedSsh(file) if stanzas.contains(&Stanza::Ssh(file.public().kind())) => {
                let key = passphrases.unlock(name, |passphrase| locked::tried(name, file.unlock(passphrase)))?;
                CandidateState::Ready(given(key.map(Identity::Ssh))?)
            }
            CandidateState::LockedFile(text) => {
                let open =
                    |passphrase: &Passphrase| locked::open(name, text, &passphrase.clone().with_max_cost(max_cost));
                CandidateState::Several(passphrases.unlock(name, open)?.ok_or_else(|| not_given(name))?)
            }
            _ => return Ok(Vec::new()),
        };
        self.state = state;
        Ok(self.ready_for(stanzas))
    }
}

/// Whether an identity may belong to one of the recipients.
fn may_fit(identity: &Identity, stanzas: &[Stanza]) -> bool {
    match identity {
        Identity::Key(key) => fits(Some(key.kem()), stanzas),
        Identity::Ssh(key) => stanzas.contains(&Stanza::Ssh(key.kind())),
        _ => stanzas.iter().any(Stanza::is_passphrase),
    }
}

/// Whether a key of this kind may belong to one of the recipients. `None` is a key of unknown kind.
fn fits(kem: Option<Kem>, stanzas: &[Stanza]) -> bool {
    let is_for = |other: Kem| kem.is_none_or(|kem| kem == other);
    stanzas.iter().any(|stanza| matches!(stanza, Stanza::Key(kem) | Stanza::Share { kem, .. } if is_for(*kem)))
}

/// Whether the error means that other keys may open the file, but these keys and passphrases do not.
fn is_of_keys(error: &Error) -> bool {
    use Error::{NoKeyFits, TooCostly, TooFewShares, WrongPassphrase};
    matches!(error, NoKeyFits(_) | TooFewShares { .. } | WrongPassphrase | TooCostly(_))
}

/// Returns the failure for a user who typed no passphrase.
fn not_given(what: &str) -> Failure {
    Failure::new(
        Exit::Key,
        format!("no passphrase was given for {what}"),
        "type the passphrase, or name a key that needs none with -i",
    )
}

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
