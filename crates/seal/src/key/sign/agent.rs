//! Keys in an SSH agent: a client of its protocol (draft-ietf-sshm-ssh-agent) over a Unix socket.
//!
//! An agent holds private keys, or speaks to hardware that does, and signs without giving the keys away. The caller
//! passes the path of the socket, which is in `SSH_AUTH_SOCK` by custom. Each request is a connection of its own, with
//! one deadline for all of it. A signature is verified before it is returned, so a faulty agent is noticed at once.
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
mod socket;

pub use error::AgentError;

use std::path::PathBuf;
use std::time::Duration;

use super::wire::{self, WireReader};
use super::{SignError, VerifyingKey};
use crate::Error;
use socket::Socket;

/// Message numbers of the protocol.
mod number {
    pub(super) const FAILURE: u8 = 5;
    pub(super) const REQUEST_IDENTITIES: u8 = 11;
    pub(super) const IDENTITIES_ANSWER: u8 = 12;
    pub(super) const SIGN_REQUEST: u8 = 13;
    pub(super) const SIGN_RESPONSE: u8 = 14;
}

/// The most keys that an agent may list. OpenSSH's client has the same limit.
const MAX_KEYS: u32 = 2048;
/// The time for a request unless the caller sets another: a person may have to confirm, or to find the security key.
const TIMEOUT: Duration = Duration::from_secs(60);

/// An SSH agent.
#[derive(Clone, Debug)]
pub struct Agent {
    path: PathBuf,
    timeout: Duration,
}

impl Agent {
    /// Returns the agent at the socket `path`. Connects only when it is asked for something.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), timeout: TIMEOUT }
    }

    /// Returns the agent with another limit for the time of a whole request; it is 60 seconds otherwise.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Returns the keys of the agent, in its order. Keys of kinds that are not in [`Scheme`](super::Scheme), such as
    /// RSA keys and certificates, are left out.
    ///
    /// # Errors
    /// [`AgentError`] if the agent cannot be reached, takes too long, or answers something else.
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

    /// Sends a request and returns the contents of the answer, which has to have the number `wanted`.
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
    /// The public key as the agent names it.
    blob: Vec<u8>,
    comment: String,
}

impl AgentKey {
    /// Returns the public key.
    #[must_use]
    pub fn public(&self) -> &VerifyingKey {
        &self.public
    }

    /// Returns the comment, which may be empty and may have any characters.
    #[must_use]
    pub fn comment(&self) -> &str {
        &self.comment
    }

    /// Returns the agent's signature over `data`, as SSH writes it. The caller verifies it.
    pub(super) fn sign(&self, data: &[u8]) -> Result<Vec<u8>, AgentError> {
        // Flags choose the hash of RSA only.
        let request = [&wire::strings(&[&self.blob, data])[..], &0_u32.to_be_bytes()].concat();
        let answer = self.agent.ask(number::SIGN_REQUEST, &request, number::SIGN_RESPONSE)?;
        let mut reader = WireReader::new(&answer);
        let signature = reader.string().ok_or(AgentError::Malformed("its signature"))?;
        reader.end().ok_or(AgentError::Malformed("its signature"))?;
        Ok(signature.to_vec())
    }
}

#[cfg(all(test, unix))]
mod tests;
