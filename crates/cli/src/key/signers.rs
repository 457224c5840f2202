//! The keys to sign with, and the people whose signatures are known.
//!
//! Known people are the user's own keys that sign, contacts with a key that signs, and the principals of an
//! `allowed_signers` file.

use std::io::{ErrorKind, Read as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::key::home::{self, Home};
use crate::key::passphrase::Passphrases;
use crate::tell::failure::{Exit, Failure};
use crate::tell::patience;
use crate::tell::shown::{Foreign, shown};
use crate::tell::suggest::closest;
use deadpan_disk::{Input, OpenMode};
use deadpan_seal::Error;
use deadpan_seal::key::{self, Found, KeyError};
use deadpan_seal::sign::{Agent, AgentError, Allowed, SignError, Signer, VerifyingKey};

/// The pipe of the SSH agent that comes with Windows, where `SSH_AUTH_SOCK` is usually not set.
const PIPE: Option<&str> = if cfg!(windows) { Some(r"\\.\pipe\openssh-ssh-agent") } else { None };
/// The prefix of a fingerprint in the form of OpenSSH.
const SSH_FINGERPRINT: &str = "SHA256:";
/// The maximum number of bytes that are read from an `allowed_signers` file. Longer files are refused.
const LONGEST: u64 = (1 << 20) + 1;
/// Advice if a key for signing is missing.
const MAKE: &str = "make a key for signing with: deadpan keygen --sign";

pub struct Signers {
    people: Vec<Person>,
    /// The people in an `allowed_signers` file. The file may limit a person to some namespaces and times.
    allowed: Option<Allowed>,
}

struct Person {
    name: Foreign,
    key: VerifyingKey,
}

/// A person whose signature the user requires: a name, and the keys of the person with this name.
pub struct Wanted {
    name: Foreign,
    keys: Vec<VerifyingKey>,
    /// The name in the `allowed_signers` file.
    principal: Option<String>,
}

impl Signers {
    /// Reads the user's own keys and the contacts. Reports and skips a damaged file.
    pub fn known(home: &Home) -> Result<Self, Failure> {
        let mut people = Vec::new();
        for own in home.own_signing()? {
            match own.verifying() {
                Ok(Some(key)) => people.push(Person { name: Foreign::new(own.name), key }),
                Ok(None) => {}
                Err(failure) => failure.say(),
            }
        }
        for contact in home.contacts()? {
            match home::read(&contact.path) {
                Ok(found) => people.extend(found.into_iter().filter_map(|found| match found {
                    Found::Verifying(key) => Some(Person { name: Foreign::new(contact.name.clone()), key }),
                    _ => None,
                })),
                Err(failure) => failure.say(),
            }
        }
        Ok(Self { people, allowed: None })
    }

    /// Reads an `allowed_signers` file of OpenSSH.
    ///
    /// Times without a `Z` count as UTC.
    pub fn allowed(file: &Path) -> Result<Self, Failure> {
        let failed = |error| Failure::path("read", file, &error);
        let mut text = Vec::new();
        Input::open(file, OpenMode::WAITING)
            .map_err(failed)?
            .file
            .take(LONGEST)
            .read_to_end(&mut text)
            .map_err(failed)?;
        let allowed = Allowed::read(&text).map_err(|error| Failure::seal(&shown(file), error))?;
        Ok(Self { people: Vec::new(), allowed: Some(allowed) })
    }

    /// Returns the words that follow "a key that" in a message about a key of an unknown person.
    pub fn stranger(&self) -> &'static str {
        match self.allowed {
            Some(_) => "has no line in that file for this purpose and time",
            None => "you do not know",
        }
    }

    /// Returns advice on a key that belongs to no known person.
    pub fn introduce(&self) -> &'static str {
        match self.allowed {
            Some(_) => "compare the fingerprint with its owner, then add a line for the key to that file",
            None => "compare the fingerprint with its owner, then: deadpan keys add NAME FILE",
        }
    }

    /// Returns the name of the person with this key. The user's own keys and contacts are valid for every namespace and
    /// time. The lines of an `allowed_signers` file may be limited to some namespaces and times. `time` counts seconds
    /// since 1970.
    pub fn name_of(&self, key: &VerifyingKey, namespace: &str, time: i64) -> Option<Foreign> {
        if let Some(allowed) = &self.allowed {
            return allowed.principals(key, namespace, time).first().map(|name| Foreign::new(*name));
        }
        self.people.iter().find(|person| person.key == *key).map(|person| person.name.clone())
    }

    /// Whether a key belongs to the required person, for this namespace and at this time.
    pub fn is_by(&self, wanted: &Wanted, key: &VerifyingKey, namespace: &str, time: i64) -> bool {
        match (&self.allowed, &wanted.principal) {
            (Some(allowed), Some(principal)) => allowed.permits(principal, key, namespace, time),
            // The user chose a key by its fingerprint or by a file. The `allowed_signers` file also limits the use of a
            // key that was chosen by its fingerprint or by a file.
            (Some(allowed), None) => wanted.keys.contains(key) && !allowed.principals(key, namespace, time).is_empty(),
            (None, _) => wanted.keys.contains(key),
        }
    }

    /// Returns the person for a text, which may be a known name, a fingerprint of either form, a public key file, or a
    /// public key of SSH.
    pub fn wanted(&self, who: &str) -> Result<Wanted, Failure> {
        let name = Foreign::new(who);
        // A text in the form of a fingerprint is never the name of a person.
        let is_name = !home::is_fingerprint(who) && !who.starts_with(SSH_FINGERPRINT);
        let allowed = self.allowed.as_ref().filter(|_| is_name).map(|allowed| allowed.keys(who));
        if let Some(keys) = allowed.filter(|keys| !keys.is_empty()) {
            let keys = keys.into_iter().cloned().collect();
            return Ok(Wanted { name, keys, principal: Some(who.to_owned()) });
        }
        let named = self.people.iter().filter(|person| is_name && person.name.raw() == who);
        let mut keys: Vec<_> = named.map(|person| person.key.clone()).collect();
        if keys.is_empty() {
            let is = |key: &VerifyingKey| key.fingerprint() == who || key.ssh_fingerprint() == who;
            let people = self.people.iter().map(|person| &person.key);
            let allowed = self.allowed.iter().flat_map(Allowed::all_keys);
            keys.extend(people.chain(allowed).filter(|key| is(key)).cloned());
        }
        if keys.is_empty() && is_line(who) {
            keys.extend(verifying(key::read(who.as_bytes()).map_err(|error| Failure::key("", &error))?));
        } else if keys.is_empty() && home::may_exist(Path::new(who)) {
            let found = home::read(Path::new(who))?;
            if let Some(Found::Public(key)) = found.first()
                && found.len() == 1
            {
                return Err(home::seals(&name.to_string(), key));
            }
            keys.extend(verifying(found));
            if keys.is_empty() {
                let message = format!("{name} holds no key whose signatures can be checked here");
                let hint = "name a public key of deadpan keygen --sign, or an Ed25519 key of SSH";
                return Err(Failure::usage(message, hint));
            }
        }
        if keys.is_empty() {
            let hint = match closest(who, self.people.iter().map(|person| person.name.raw().to_owned())) {
                Some(name) => format!("did you mean {name}? `deadpan keys` lists the names"),
                None if who.contains('/') || Path::new(who).extension().is_some() => {
                    "there is no such file, either; name the file of a public key, or a name from `deadpan keys`".into()
                }
                None if self.allowed.is_some() => "with --signers, the person needs a line in that file".into(),
                None => "add the person's public key with: deadpan keys add NAME FILE".into(),
            };
            return Err(Failure::usage(format!("no key for signatures is known of {name}"), hint));
        }
        Ok(Wanted { name, keys, principal: None })
    }
}

impl Wanted {
    /// Whether this key is one of the person's keys, regardless of limits on times and purposes.
    pub fn has(&self, key: &VerifyingKey) -> bool {
        self.keys.contains(key)
    }

    /// Returns the name for messages.
    pub fn name(&self) -> &Foreign {
        &self.name
    }
}

/// Returns the current time, in seconds since 1970.
pub fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| i64::try_from(time.as_secs()).unwrap_or(i64::MAX))
}

/// Returns the keys to sign with: the keys that the user chose, or else the user's default key for signing.
pub fn resolve(named: &[String], home: &Home, passphrases: &Passphrases) -> Result<Vec<Signer>, Failure> {
    if !named.is_empty() {
        return named.iter().map(|text| signer(text, home, passphrases)).collect();
    }
    let nothing = || Failure::new(Exit::Key, format!("you have no key for signing in {}", shown(&home.folder)), MAKE);
    let own = home.default_signing_key()?.ok_or_else(nothing)?;
    Ok(vec![in_file(&own.path, passphrases)?])
}

/// Returns the signer whose signatures this key verifies: one of the user's own keys, or a key in the SSH agent.
#[cfg(unix)]
pub fn with_key(key: &VerifyingKey, home: &Home, passphrases: &Passphrases) -> Result<Option<Signer>, Failure> {
    for own in home.own_signing()? {
        if own.verifying().is_ok_and(|public| public.as_ref() == Some(key)) {
            return in_file(&own.path, passphrases).map(Some);
        }
    }
    Ok(in_agent("the key", key).ok())
}

/// Returns the signer for one argument: a public key of SSH whose private half is in the agent, one of the user's own
/// keys, or a file.
fn signer(text: &str, home: &Home, passphrases: &Passphrases) -> Result<Signer, Failure> {
    if is_line(text) {
        let found = verifying(key::read(text.as_bytes()).map_err(|error| Failure::key("", &error))?);
        return found.into_iter().next().map_or_else(|| Err(missing(text, home)), |key| in_agent(text, &key));
    }
    let own = home::check_name(text).ok().map(|()| home.own_path(text)).filter(|path| path.exists());
    let file = || Some(PathBuf::from(text)).filter(|path| home::may_exist(path));
    if own.is_none() && file().is_none() {
        home.refuse_contact(text, "only the contact can sign with it; name one of your own keys")?;
    }
    let path = own.or_else(file).ok_or_else(|| missing(text, home))?;
    in_file(&path, passphrases)
}

/// Returns the key in a file. If the file has only a public key, the private half has to be in the agent.
fn in_file(path: &Path, passphrases: &Passphrases) -> Result<Signer, Failure> {
    let name = &shown(path);
    let mut found = home::read(path)?;
    let (Some(only), true) = (found.pop(), found.is_empty()) else {
        return Err(Failure::usage(format!("{name} holds several keys"), "put each into a file of its own first"));
    };
    match only {
        Found::Signing(key) => {
            home::check_signing_pair(path, key.public());
            Ok(key.into())
        }
        Found::Protected(locked) => {
            if let (false, Ok(Some(public))) = (locked.signs(), home::public_of(path)) {
                return Err(home::seals(name, &public));
            }
            let public = home::verifying_of(path).ok().flatten();
            if let Some(signer) = public.and_then(|public| passphrases.held().signer(&public)) {
                return Ok(signer);
            }
            let key = unlock(name, passphrases, |passphrase| locked.unlock_signing(passphrase))?;
            home::check_signing_pair(path, key.public());
            Ok(key.into())
        }
        Found::OpenSsh(file) => {
            let open = match file.key() {
                Some(key) => key.clone(),
                None => unlock(name, passphrases, |passphrase| file.unlock(passphrase))?,
            };
            let key = open.signing_key().ok_or_else(|| {
                let message =
                    format!("{name} is a key of the kind {}, which is not supported here", open.kind().name());
                Failure::usage(message, "sign with an Ed25519 key, or make one with: deadpan keygen --sign")
            })?;
            Ok(key.into())
        }
        Found::Verifying(key) => in_agent(name, &key),
        Found::Private(key) => Err(home::seals(name, key.public())),
        Found::Public(key) => Err(home::seals(name, &key)),
        Found::Ssh(key) => {
            let message = format!("{name} is a key of the kind {}, which is not supported here", key.kind().name());
            Err(Failure::usage(message, "sign with an Ed25519 key, or make one with: deadpan keygen --sign"))
        }
        Found::PluginRecipient(_) | Found::PluginIdentity(_) => {
            let hint = "make a key for signing with: deadpan keygen --sign";
            Err(Failure::usage(format!("{name} is of a plugin, which seals and does not sign"), hint))
        }
    }
}

fn unlock<T>(
    name: &str,
    passphrases: &Passphrases,
    open: impl Fn(&deadpan_seal::Passphrase) -> Result<T, KeyError>,
) -> Result<T, Failure> {
    let key = passphrases.unlock(name, |passphrase| match open(passphrase) {
        Ok(key) => Ok(Some(key)),
        Err(KeyError::WrongPassphrase) => Ok(None),
        Err(error) => Err(Failure::key(name, &error)),
    })?;
    key.ok_or_else(|| {
        Failure::new(
            Exit::Key,
            format!("no passphrase was given for {name}"),
            "type the passphrase, or name another key",
        )
    })
}

fn in_agent(name: &str, key: &VerifyingKey) -> Result<Signer, Failure> {
    let missing = || {
        let message = format!("{name} is a public key ({}), and signing needs the private one", key.scheme().name());
        let hint =
            "name the private key: one of your own (deadpan keys), its file, or start the SSH agent that holds it";
        Failure::new(Exit::Key, message, hint)
    };
    let given = std::env::var_os("SSH_AUTH_SOCK").filter(|path| !path.is_empty());
    let usual = PIPE.filter(|_| given.is_none());
    let socket = given.or(usual.map(Into::into)).ok_or_else(missing)?;
    let agent = match patience::seconds(patience::AGENT, "an answer of the SSH agent")? {
        Some(limit) => Agent::new(socket).with_timeout(limit),
        None => Agent::new(socket),
    };
    let keys = agent.keys().map_err(|error| match &error {
        Error::Sign(SignError::Agent(AgentError::Unreachable(reason)))
            if usual.is_some() && reason.kind() == ErrorKind::NotFound =>
        {
            missing()
        }
        _ => Failure::seal(usual.unwrap_or("SSH_AUTH_SOCK"), error),
    })?;
    keys.into_iter().find(|held| held.public() == key).map(Signer::from).ok_or_else(|| {
        let message = format!("the SSH agent does not have the private half of {name}");
        Failure::new(Exit::Key, message, "add it with ssh-add, or name the file of the private key")
    })
}

fn verifying(found: Vec<Found>) -> Vec<VerifyingKey> {
    let key = |found| match found {
        Found::Verifying(key) => Some(key),
        Found::Signing(key) => Some(key.public().clone()),
        Found::OpenSsh(file) => file.public().verifying_key(),
        _ => None,
    };
    found.into_iter().filter_map(key).collect()
}

/// Whether a text is a public key of SSH, and not the name of a file.
pub fn is_line(text: &str) -> bool {
    ["ssh-", "sk-ssh-"].iter().any(|prefix| text.starts_with(prefix)) && text.contains(' ')
}

fn missing(text: &str, home: &Home) -> Failure {
    let message = format!(
        "no key {}: there is no such file, and no own key of that name in {}",
        Foreign::new(text),
        shown(&home.folder)
    );
    let hint = match closest(text, home.own_names()) {
        Some(name) => format!("did you mean {name}? `deadpan keys` lists the names"),
        None => MAKE.into(),
    };
    Failure::usage(message, hint)
}
