//! Keys in an SSH agent. This module is a client of the agent protocol (draft-ietf-sshm-ssh-agent) over a Unix socket,
//! or over a named pipe of Windows.
//!
//! An agent holds private keys, or talks to hardware that holds private keys, and signs without revealing the keys. The
//! caller passes the path of the socket. By convention, the environment variable `SSH_AUTH_SOCK` contains the path of
//! the socket. Each request opens a new connection, and one deadline applies to the whole request. This module verifies
//! each signature before it returns the signature, so that wrong signatures from a faulty agent are detected at once.
//!
//! Deadpan's own agent uses the same protocol, with extensions for keys that open files. The module
//! [`keyring`](crate::keyring) answers the messages of this protocol.
//!
//! ```no_run
//! use deadpan_seal::sign::{Agent, Signer};
//!
//! let agent = Agent::new("/run/user/1000/ssh-agent.socket");
//! let key = agent.keys()?.swap_remove(0);
//! let signature = Signer::from(key).sign("file", &[7; 64])?;
//! # Ok::<(), deadpan_seal::Error>(())
//! ```

mod error;
#[cfg(windows)]
mod pipe;
mod socket;

pub use error::AgentError;

use std::path::PathBuf;
use std::time::Duration;

use super::wire::{self, WireReader};
use super::{SignError, VerifyingKey};
use crate::{Error, Kem, KeyHolder, PrivateKey, PublicKey, Secret};
use deadpan_ct::{Wipe, Wiped};
use socket::Socket;

/// Message numbers of the protocol.
pub(crate) mod number {
    pub(crate) const FAILURE: u8 = 5;
    pub(crate) const SUCCESS: u8 = 6;
    pub(crate) const REQUEST_IDENTITIES: u8 = 11;
    pub(crate) const IDENTITIES_ANSWER: u8 = 12;
    pub(crate) const SIGN_REQUEST: u8 = 13;
    pub(crate) const SIGN_RESPONSE: u8 = 14;
    pub(crate) const REMOVE_ALL: u8 = 19;
    pub(crate) const EXTENSION: u8 = 27;
    pub(crate) const EXTENSION_RESPONSE: u8 = 29;
}

/// The names of Deadpan's extensions of the agent protocol.
pub(crate) mod extension {
    pub(crate) const KEYS: &[u8] = b"keys@deadpan";
    pub(crate) const UNLOCK: &[u8] = b"unlock@deadpan";
    pub(crate) const LOCK: &[u8] = b"lock@deadpan";
    pub(crate) const DECAPSULATE: &[u8] = b"decapsulate@deadpan";
    pub(crate) const MULTIPLY: &[u8] = b"multiply@deadpan";
}

const LIST: AgentError = AgentError::Malformed("its list of keys");
const SECRET: AgentError = AgentError::Malformed("its shared secret");
/// The maximum number of keys that an agent may list. OpenSSH's client also accepts at most 2048 keys.
const MAX_KEYS: u32 = 2048;
/// The default time limit for a request. The time limit is long, because a person may have to confirm the request or
/// find the security key.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An SSH agent.
#[derive(Clone, Debug)]
pub struct Agent {
    path: PathBuf,
    timeout: Duration,
}

impl Agent {
    /// Returns the agent at the socket `path`. The agent is contacted only when a method sends a request.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), timeout: TIMEOUT }
    }

    /// Returns the agent with another time limit for a whole request. The default limit is 60 seconds.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Returns the keys of the agent, in the order of the agent's list. Omits keys of kinds that are not in
    /// [`Scheme`](super::Scheme), such as RSA keys and certificates.
    ///
    /// # Errors
    /// [`AgentError`] if the agent cannot be reached, takes too long, or sends an answer that is not a list of keys.
    pub fn keys(&self) -> Result<Vec<AgentKey>, Error> {
        let answer = self.ask(number::REQUEST_IDENTITIES, &[], number::IDENTITIES_ANSWER)?;
        let mut reader = WireReader::new(&answer);
        let count =
            reader.number().filter(|count| *count <= MAX_KEYS).ok_or(AgentError::Malformed("its list of keys"))?;
        let mut keys = Vec::new();
        for _ in 0..count {
            let (Some(blob), Some(comment)) = (reader.string(), reader.string()) else {
                return Err(AgentError::Malformed("its list of keys").into());
            };
            match VerifyingKey::from_ssh(blob) {
                Ok(public) => keys.push(AgentKey {
                    agent: self.clone(),
                    public,
                    blob: blob.to_vec(),
                    comment: String::from_utf8_lossy(comment).into_owned(),
                }),
                Err(Error::Sign(SignError::Unsupported(_))) => {}
                Err(_) => return Err(AgentError::Malformed("a key in its list").into()),
            }
        }
        reader.end().ok_or(AgentError::Malformed("its list of keys"))?;
        Ok(keys)
    }

    /// Sends a request. The answer must have the message number `wanted`.
    fn ask(&self, request: u8, contents: &[u8], wanted: u8) -> Result<Vec<u8>, AgentError> {
        let mut socket = Socket::connect(&self.path, self.timeout)?;
        socket.send(request, contents)?;
        let (number, answer) = socket.receive()?;
        match number {
            _ if number == wanted => Ok(answer),
            number::FAILURE => Err(AgentError::Refused),
            _ => Err(AgentError::Malformed("an answer to another question")),
        }
    }
}

/// A key that an SSH agent holds.
#[derive(Clone, Debug)]
pub struct AgentKey {
    agent: Agent,
    public: VerifyingKey,
    /// The public key, in the form in which the agent sent it.
    blob: Vec<u8>,
    comment: String,
}

impl AgentKey {
    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> &VerifyingKey {
        &self.public
    }

    /// Returns the comment of the key. The comment may be empty and may contain any characters.
    #[must_use]
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// Returns the agent's signature over `data`, in SSH form. The caller must verify the signature.
    pub(super) fn sign(&self, data: &[u8]) -> Result<Vec<u8>, AgentError> {
        // The flags are zero, because they only choose the hash for RSA signatures.
        let request = [&wire::strings(&[&self.blob, data])[..], &0_u32.to_be_bytes()].concat();
        let answer = self.agent.ask(number::SIGN_REQUEST, &request, number::SIGN_RESPONSE)?;
        let mut reader = WireReader::new(&answer);
        let signature = reader.string().ok_or(AgentError::Malformed("its signature"))?;
        reader.end().ok_or(AgentError::Malformed("its signature"))?;
        Ok(signature.to_vec())
    }
}

/// A key in Deadpan's agent.
#[derive(Clone, Debug)]
pub struct HeldKey {
    /// The name that the owner gave the key.
    pub name: String,
    /// The public key, or `None` if the key signs.
    pub public: Option<PublicKey>,
    /// The number of seconds until the agent forgets the key.
    pub seconds: u32,
    /// Whether the agent asks the user before each use.
    pub asks: bool,
}

impl Agent {
    /// Returns the keys of Deadpan's agent: those that open files, and those that sign.
    ///
    /// # Errors
    /// [`AgentError`] if the agent cannot be reached, takes too long, or is not Deadpan's.
    pub fn held_keys(&self) -> Result<Vec<HeldKey>, Error> {
        let answer = self.extension(extension::KEYS, &[])?;
        let mut reader = WireReader::new(&answer);
        let count = reader.number().filter(|count| *count <= MAX_KEYS).ok_or(LIST)?;
        let mut keys = Vec::new();
        for _ in 0..count {
            keys.push(held_key(&mut reader).ok_or(LIST)?);
        }
        reader.end().ok_or(LIST)?;
        Ok(keys)
    }

    /// Gives the agent a private key, in PEM and without protection. The agent forgets the key after `seconds`. If
    /// `asks` is not empty, the agent asks the user before each use, with the program `asks`.
    ///
    /// # Errors
    /// [`AgentError`] if the agent cannot be reached, takes too long, or refuses the key.
    pub fn unlock(&self, name: &str, pem: &[u8], seconds: u32, asks: &[u8]) -> Result<(), Error> {
        let strings = Wiped::new(wire::strings(&[name.as_bytes(), asks, pem]));
        let contents = Wiped::new([&strings[..], &seconds.to_be_bytes()].concat());
        let answer = self.extension(extension::UNLOCK, &contents);
        answer.map(|_| ()).map_err(Error::from)
    }

    /// Makes the agent forget all keys.
    ///
    /// # Errors
    /// [`AgentError`] if the agent cannot be reached, takes too long, or refuses.
    pub fn forget_all(&self) -> Result<(), Error> {
        self.ask(number::REMOVE_ALL, &[], number::SUCCESS)?;
        Ok(())
    }

    /// Makes the agent forget the keys of this name. Returns whether there was one.
    ///
    /// # Errors
    /// [`AgentError`] if the agent cannot be reached, takes too long, or is not Deadpan's.
    pub fn forget(&self, name: &str) -> Result<bool, Error> {
        let answer = self.extension(extension::LOCK, &wire::strings(&[name.as_bytes()]))?;
        Ok(WireReader::new(&answer).byte().ok_or(LIST)? != 0)
    }

    fn extension(&self, name: &[u8], contents: &[u8]) -> Result<Wiped<Vec<u8>>, AgentError> {
        let request = Wiped::new([&wire::strings(&[name])[..], contents].concat());
        self.ask(number::EXTENSION, &request, number::EXTENSION_RESPONSE).map(Wiped::new)
    }

    /// Asks for a shared secret. The agent answers with an empty string if there is none.
    fn shared(&self, name: &[u8], key: &PublicKey, contents: &[u8]) -> Result<Option<Secret>, Error> {
        let id = u32::from(key.kem().id()).to_be_bytes();
        let request = [&id[..], &wire::strings(&[key.as_bytes(), contents])].concat();
        let mut answer = self.extension(name, &request)?;
        let mut reader = WireReader::new(&answer);
        let secret = reader.string().ok_or(SECRET)?;
        reader.end().ok_or(SECRET)?;
        let secret = (!secret.is_empty()).then(|| Secret::copy_of(secret));
        answer.wipe();
        Ok(secret)
    }
}

fn held_key(reader: &mut WireReader<'_>) -> Option<HeldKey> {
    let name = reader.text()?.to_owned();
    let id = reader.number()?;
    let public = reader.string()?;
    let seconds = reader.number()?;
    let asks = reader.byte()? != 0;
    let public = match id {
        0 => None,
        id => Some(PublicKey::from_bytes(Kem::from_id(id.try_into().ok()?)?, public).ok()?),
    };
    Some(HeldKey { name, public, seconds, asks })
}

impl KeyHolder for Agent {
    fn decapsulate(&self, key: &PublicKey, enc: &[u8]) -> Result<Option<Secret>, Error> {
        self.shared(extension::DECAPSULATE, key, enc)
    }

    fn multiply(&self, key: &PublicKey, point: &[u8; 32]) -> Result<Option<Secret>, Error> {
        self.shared(extension::MULTIPLY, key, point)
    }
}

impl HeldKey {
    /// Returns the key as a private key that the agent uses for this process. Returns `None` if the key signs.
    #[must_use]
    pub fn private(&self, agent: &Agent) -> Option<PrivateKey> {
        Some(PrivateKey::held(self.public.clone()?, agent.clone()))
    }
}

#[cfg(test)]
mod tests;
