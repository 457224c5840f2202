//! Keys in an SSH agent. This module is a client of the agent protocol (draft-ietf-sshm-ssh-agent) over a Unix socket,
//! or over a named pipe of Windows.
//!
//! An agent holds private keys, or talks to hardware that holds private keys, and signs without revealing the keys. The
//! caller passes the path of the socket. By convention, the environment variable `SSH_AUTH_SOCK` contains the path of
//! the socket. Deadpan's own agent speaks the same protocol, with a few extensions for keys that open files:
//! [`Keyring`] is what it does. Each request opens a new connection, and one deadline applies to the whole request. This module verifies
//! each signature before it returns the signature, so that wrong signatures from a faulty agent are detected at once.
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
mod held;
mod keyring;
#[cfg(windows)]
mod pipe;
mod socket;

pub use error::AgentError;
pub use held::HeldKey;
pub use keyring::{Answer, Keyring, Task, UseOfKey, failure};

use std::path::PathBuf;
use std::time::Duration;

use super::wire::{self, WireReader};
use super::{SignError, VerifyingKey};
use crate::Error;
use socket::Socket;

/// Message numbers of the protocol.
mod number {
    pub(super) const FAILURE: u8 = 5;
    pub(super) const SUCCESS: u8 = 6;
    pub(super) const REQUEST_IDENTITIES: u8 = 11;
    pub(super) const IDENTITIES_ANSWER: u8 = 12;
    pub(super) const SIGN_REQUEST: u8 = 13;
    pub(super) const SIGN_RESPONSE: u8 = 14;
    pub(super) const REMOVE_ALL: u8 = 19;
    pub(super) const EXTENSION: u8 = 27;
    pub(super) const EXTENSION_RESPONSE: u8 = 29;
}

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

#[cfg(test)]
mod tests;
