//! Keys that Deadpan's agent holds, and that open files: the client of its messages.

use super::{Agent, AgentError, number};
use crate::key::sign::wire::{self, WireReader};
use crate::{Error, Kem, KeyHolder, PrivateKey, PublicKey, Secret};
use deadpan_ct::{Wipe, Wiped};

/// The names of Deadpan's messages. In the agent protocol, messages beyond the standard are extensions with a name.
pub(super) mod extension {
    pub(in super::super) const KEYS: &[u8] = b"keys@deadpan";
    pub(in super::super) const UNLOCK: &[u8] = b"unlock@deadpan";
    pub(in super::super) const DECAPSULATE: &[u8] = b"decapsulate@deadpan";
    pub(in super::super) const MULTIPLY: &[u8] = b"multiply@deadpan";
}

const LIST: AgentError = AgentError::Malformed("its list of keys");
const SECRET: AgentError = AgentError::Malformed("its shared secret");
const MOST_KEYS: u32 = 2048;

/// A key in Deadpan's agent.
#[derive(Clone, Debug)]
pub struct HeldKey {
    /// The name that the owner gave the key.
    pub name: String,
    /// The public key, or `None` if the key signs.
    pub public: Option<PublicKey>,
    /// The number of seconds until the agent forgets the key.
    pub seconds: u32,
}

impl Agent {
    /// Returns the keys of Deadpan's agent: those that open files, and those that sign.
    ///
    /// # Errors
    /// [`AgentError`] if the agent cannot be reached, takes too long, or is not Deadpan's.
    pub fn held_keys(&self) -> Result<Vec<HeldKey>, Error> {
        let answer = self.extension(extension::KEYS, &[])?;
        let mut reader = WireReader::new(&answer);
        let count = reader.number().filter(|count| *count <= MOST_KEYS).ok_or(LIST)?;
        let mut keys = Vec::new();
        for _ in 0..count {
            keys.push(held_key(&mut reader).ok_or(LIST)?);
        }
        reader.end().ok_or(LIST)?;
        Ok(keys)
    }

    /// Gives the agent a private key: a key file in PEM without protection. After `seconds`, the agent forgets it. With
    /// `asks`, the agent asks the user before each use.
    ///
    /// # Errors
    /// [`AgentError`] if the agent cannot be reached, takes too long, or refuses the key.
    pub fn unlock(&self, name: &str, pem: &[u8], seconds: u32, asks: bool) -> Result<(), Error> {
        let mut contents = Wiped::new(wire::strings(&[name.as_bytes(), pem]));
        contents.extend_from_slice(&seconds.to_be_bytes());
        contents.push(asks.into());
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
    let public = match id {
        0 => None,
        id => Some(PublicKey::from_bytes(Kem::from_id(id.try_into().ok()?)?, public).ok()?),
    };
    Some(HeldKey { name, public, seconds })
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
