//! The part of Deadpan's agent that needs no socket and no clock: a [`Keyring`] stores private keys for a time, and
//! answers the messages that [`Agent`](crate::sign::Agent) sends. The caller transfers the messages, passes the time,
//! and asks the user.

use std::time::Duration;

use crate::key::sign::agent::{extension, number};
use crate::key::sign::wire::WireReader;
use crate::key::sign::{SigningKey, sshsig, wire};
use crate::key::{self, Found};
use crate::{Error, Kem, PrivateKey, PublicKey, Secret};

/// The maximum number of keys that an agent holds.
const MOST: usize = 100;

/// The private keys of an agent.
#[derive(Debug, Default)]
pub struct Keyring {
    keys: Vec<KeyringEntry>,
}

#[derive(Clone, Debug)]
struct KeyringEntry {
    name: String,
    key: Held,
    /// The time when the key is forgotten.
    until: Duration,
    /// The program that asks the user before each use. Empty if no program asks.
    asks: Vec<u8>,
}

#[derive(Clone, Debug)]
enum Held {
    Opens(PrivateKey),
    Signs(SigningKey),
}

impl Held {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Opens(one), Self::Opens(other)) => one.public() == other.public(),
            (Self::Signs(one), Self::Signs(other)) => one.public() == other.public(),
            _ => false,
        }
    }
}

/// The answer to a message: the message number of the answer, and the contents of the answer.
pub type Answer = (u8, Secret);

/// The work that a message causes.
pub enum Task {
    /// The answer is ready.
    Answer(Answer),
    /// An agent has to use a key for the answer.
    Use(UseOfKey),
}

/// The use of a key. If [`UseOfKey::asks`] returns a program, the caller asks the user first.
pub struct UseOfKey {
    entry: KeyringEntry,
    what: What,
}

enum What {
    Decapsulate(Vec<u8>),
    Multiply([u8; 32]),
    Sign(Vec<u8>),
}

impl Keyring {
    /// Reads a message, which consists of a number and contents. `now` is the time on a clock of the caller. The clock
    /// must also run while the machine sleeps.
    pub fn task(&mut self, now: Duration, message: u8, contents: &[u8]) -> Task {
        self.forget(now);
        self.read(now, message, contents).unwrap_or_else(|| Task::Answer(failure()))
    }

    fn read(&mut self, now: Duration, message: u8, contents: &[u8]) -> Option<Task> {
        let mut reader = WireReader::new(contents);
        match message {
            number::REQUEST_IDENTITIES => {
                reader.end()?;
                Some(Task::Answer((number::IDENTITIES_ANSWER, self.identities())))
            }
            number::SIGN_REQUEST => {
                let (blob, data) = (reader.string()?, reader.string()?.to_vec());
                reader.number()?;
                reader.end()?;
                let signs = |held: &Held| matches!(held, Held::Signs(key) if key.public().to_ssh() == blob);
                self.using(signs, What::Sign(data))
            }
            number::REMOVE_ALL => {
                reader.end()?;
                self.keys.clear();
                Some(Task::Answer((number::SUCCESS, Secret::zeroed(0))))
            }
            number::EXTENSION => self.extension(now, reader),
            _ => None,
        }
    }

    fn extension(&mut self, now: Duration, mut reader: WireReader<'_>) -> Option<Task> {
        let done = |contents| Some(Task::Answer((number::EXTENSION_RESPONSE, contents)));
        match reader.string()? {
            extension::KEYS => {
                reader.end()?;
                done(self.list(now))
            }
            extension::UNLOCK => {
                let name = reader.text()?.to_owned();
                let asks = reader.string()?.to_vec();
                let pem = reader.string()?;
                let seconds = reader.number()?;
                reader.end()?;
                let [key] = <[Found; 1]>::try_from(key::read(pem).ok()?).ok()?;
                let key = match key {
                    Found::Private(key) => Held::Opens(key),
                    Found::Signing(key) => Held::Signs(key),
                    _ => return None,
                };
                self.keys.retain(|entry| !entry.key.is_same(&key));
                if self.keys.len() == MOST {
                    return None;
                }
                self.keys.push(KeyringEntry { name, key, until: now + Duration::from_secs(seconds.into()), asks });
                done(Secret::zeroed(0))
            }
            extension::LOCK => {
                let name = reader.text()?;
                reader.end()?;
                let before = self.keys.len();
                self.keys.retain(|entry| entry.name != name);
                done(Secret::copy_of(&[u8::from(self.keys.len() < before)]))
            }
            name @ (extension::DECAPSULATE | extension::MULTIPLY) => {
                let kem = Kem::from_id(reader.number()?.try_into().ok()?)?;
                let public = PublicKey::from_bytes(kem, reader.string()?).ok()?;
                let contents = reader.string()?;
                reader.end()?;
                let what = if name == extension::MULTIPLY {
                    What::Multiply(contents.try_into().ok()?)
                } else {
                    What::Decapsulate(contents.to_vec())
                };
                self.using(|held| matches!(held, Held::Opens(key) if *key.public() == public), what)
            }
            _ => None,
        }
    }

    fn using(&self, is_it: impl Fn(&Held) -> bool, what: What) -> Option<Task> {
        let entry = self.keys.iter().find(|entry| is_it(&entry.key))?.clone();
        Some(Task::Use(UseOfKey { entry, what }))
    }

    /// Returns the list of the keys that sign, in the form of the SSH agent protocol.
    fn identities(&self) -> Secret {
        let keys = self.keys.iter().filter_map(|entry| match &entry.key {
            Held::Signs(key) => Some(wire::strings(&[&key.public().to_ssh(), entry.name.as_bytes()])),
            Held::Opens(_) => None,
        });
        counted(keys)
    }

    fn list(&self, now: Duration) -> Secret {
        counted(self.keys.iter().map(|entry| {
            let (id, public) = match &entry.key {
                Held::Opens(key) => (key.kem().id(), key.public().as_bytes()),
                Held::Signs(_) => (0, &[][..]),
            };
            let seconds = u32::try_from(entry.until.saturating_sub(now).as_secs()).unwrap_or(u32::MAX);
            let (name, public) = (wire::strings(&[entry.name.as_bytes()]), wire::strings(&[public]));
            let asks = [u8::from(!entry.asks.is_empty())];
            [&name[..], &u32::from(id).to_be_bytes(), &public, &seconds.to_be_bytes(), &asks].concat()
        }))
    }

    /// Forgets the keys whose time is over. Returns the time when the next key is forgotten.
    pub fn forget(&mut self, now: Duration) -> Option<Duration> {
        self.keys.retain(|entry| entry.until > now);
        self.keys.iter().map(|entry| entry.until).min()
    }

    /// Whether the keyring still has the key. The caller checks this after the user answered.
    #[must_use]
    pub fn holds(&self, wanted: &UseOfKey) -> bool {
        self.keys.iter().any(|entry| entry.key.is_same(&wanted.entry.key))
    }

    /// Forgets all keys.
    pub fn forget_all(&mut self) {
        self.keys.clear();
    }
}

impl UseOfKey {
    /// Returns the program that asks the user, if the user wants to be asked about each use.
    #[must_use]
    pub fn asks(&self) -> Option<&[u8]> {
        (!self.entry.asks.is_empty()).then_some(&*self.entry.asks)
    }

    /// Returns the name of the key.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.entry.name
    }

    /// Returns the purpose of the use, for the question to the user: "Use KEY to PURPOSE?".
    #[must_use]
    pub fn purpose(&self) -> &'static str {
        match self.what {
            What::Decapsulate(_) | What::Multiply(_) => "open a file",
            What::Sign(_) => "sign",
        }
    }

    /// Uses the key, and returns the answer.
    #[must_use]
    pub fn answer(self) -> Answer {
        let shared = |shared: Result<Option<Secret>, Error>| {
            let shared = shared.ok()?;
            Some((number::EXTENSION_RESPONSE, string(shared.as_deref().unwrap_or_default())))
        };
        let answer = match (self.entry.key, self.what) {
            (Held::Opens(key), What::Decapsulate(enc)) => shared(key.decapsulate(&enc)),
            (Held::Opens(key), What::Multiply(point)) => shared(key.multiply(&point)),
            (Held::Signs(key), What::Sign(data)) => key.sign(&data).ok().map(|signature| {
                (number::SIGN_RESPONSE, string(&sshsig::signature_blob(key.public().scheme(), &signature)))
            }),
            _ => None,
        };
        answer.unwrap_or_else(failure)
    }
}

/// Returns the answer to a message that the agent does not understand or refuses.
#[must_use]
pub fn failure() -> Answer {
    (number::FAILURE, Secret::zeroed(0))
}

fn string(bytes: &[u8]) -> Secret {
    let mut string = Secret::zeroed(4 + bytes.len());
    string[..4].copy_from_slice(&(bytes.len() as u32).to_be_bytes());
    string[4..].copy_from_slice(bytes);
    string
}

fn counted(items: impl Iterator<Item = Vec<u8>>) -> Secret {
    let items: Vec<_> = items.collect();
    Secret::copy_of(&[&(items.len() as u32).to_be_bytes()[..], &items.concat()].concat())
}

#[cfg(test)]
mod tests;
