//! Jobs: the state that several runs on several machines share, so that the next run continues where the last run
//! stopped.
//!
//! All state lies in the bucket of the results, in `_deadpan/JOB/`, and is sealed to the job's key. Without the job's
//! key, an attacker who can write to the bucket cannot give his own file key to the processes of the job.

use std::fmt;

use bytes::Bytes;
use serde_json::Value;

use crate::Error;
use crate::stamp::StampKey;
use deadpan_base64::hex;
use deadpan_remote::{Address, Object, Problem, Store, Words};
use deadpan_seal::{Cost, Header, Identity, MaxCost, Opened, Passphrase, Recipient, Sealing, Secret, Session};

/// The folder in which all jobs keep their state. The folder lies in the bucket that gets the results.
pub const STATE: &str = "_deadpan/";
/// In this field, each stored object of a job's state contains its own address.
const PLACE: &str = "place";
/// The number of hexadecimal digits of a key.
const DIGITS: usize = 64;
/// The cost of hashing the key. The key is random, so a slow hash, which a passphrase needs, would not improve
/// security.
const COST: Cost = Cost { memory: 8, passes: 1, lanes: 1 };

/// The secret of a job. All processes of the job have the secret, and nobody else has it.
#[derive(Clone)]
pub struct JobKey {
    session: Session,
    /// The key for names. The computed names reveal nothing without the job's key.
    names: [u8; 32],
    stamps: StampKey,
}

impl fmt::Debug for JobKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JobKey(..)")
    }
}

impl JobKey {
    /// Makes the text of a new key: 64 hexadecimal digits.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn generate() -> Result<Secret, deadpan_seal::Error> {
        let (bytes, mut text) = (Secret::random(DIGITS / 2)?, Secret::zeroed(DIGITS));
        let digits = hex::encode_into(hex::Case::Lower, &bytes, &mut text);
        digits.map(drop).map_err(|_| deadpan_seal::Error::Invalid("a key of another length"))?;
        Ok(text)
    }

    /// Reads a key from its text. Ignores white space around the text.
    ///
    /// # Errors
    /// If the text is no key.
    pub fn read(text: &[u8]) -> Result<Self, Error> {
        let text = text.trim_ascii();
        if text.len() != DIGITS || !text.iter().all(u8::is_ascii_hexdigit) {
            return Err(Error::Refused("a job's key is 64 hexadecimal digits".to_owned()));
        }
        let text = text.to_ascii_lowercase();
        let names = blake3::derive_key("deadpan 2026 names of a job's state", &text);
        let stamps = StampKey::new(blake3::derive_key("deadpan 2026 stamps of results", &text));
        // The cost is limited: an attacker could write state to the bucket, and the passphrase hash of this state could
        // need gigabytes.
        let session =
            Session::new(&Passphrase::new(&text), COST)?.with_max_cost(MaxCost::new(COST.memory, COST.passes));
        Ok(Self { session, names, stamps })
    }

    /// Returns a name that reveals nothing to people without the key, and that is the same on every machine of the job.
    pub(crate) fn digest(&self, parts: &[&str]) -> String {
        digest(blake3::Hasher::new_keyed(&self.names), parts)
    }

    /// Returns the key for the stamps of results in folders.
    #[must_use]
    pub fn stamps(&self) -> &StampKey {
        &self.stamps
    }

    pub(crate) fn recipient(&self) -> Recipient {
        self.session.recipient()
    }

    pub(crate) fn identities(&self) -> [Identity; 1] {
        [Identity::from(&self.session)]
    }

    pub(crate) fn open(&self, header: Header, name: &str) -> Result<Opened, Error> {
        header.open(&self.identities()).map_err(|_| Error::OtherKey(name.to_owned()))
    }
}

/// A job: its key, and the place of its state.
#[derive(Clone, Debug)]
pub struct Job {
    pub(crate) key: JobKey,
    pub(crate) store: Store,
    /// `_deadpan/JOB/`.
    pub(crate) folder: Address,
    /// The settings that are the same in each run, such as the recipients.
    pub(crate) how: Value,
}

impl Job {
    /// Returns the job that applies the act named `act` to all objects of `source` and writes the results to `target`.
    /// Every machine computes the same name for the job.
    ///
    /// # Errors
    /// If the bucket cannot have objects with the keys of the job's state.
    pub fn new(key: JobKey, store: Store, act: &str, source: &str, target: &Address) -> Result<Self, Error> {
        refuse_state(target)?;
        let hasher = blake3::Hasher::new_derive_key("deadpan 2026 names of jobs");
        let name = digest(hasher, &[act, &target.text()]);
        let folder = key_at(target, &format!("{STATE}{}/", &name[..16]))?;
        let how = Value::from_iter([("source", source), ("target", &target.text())]);
        Ok(Self { key, store, folder, how })
    }

    /// Adds the settings of the job. A run with these settings does not continue a job that an earlier run began with
    /// other settings.
    #[must_use]
    pub fn how(mut self, how: Value) -> Self {
        if let (Value::Object(all), Value::Object(more)) = (&mut self.how, how) {
            all.extend(more);
        }
        self
    }

    /// Returns the place of the state.
    #[must_use]
    pub fn folder(&self) -> &Address {
        &self.folder
    }

    pub(crate) fn at(&self, name: &str) -> Result<Address, Error> {
        key_at(&self.folder, &format!("{}{name}", self.folder.key()))
    }

    /// Compares the settings of the job with the note in the bucket, if the job was begun before.
    ///
    /// # Errors
    /// The errors of [`Job::agree`].
    pub fn check(&self) -> Result<(), Error> {
        if let Some(known) = self.read(&self.at("job")?)? { self.compare(&known.value) } else { Ok(()) }
    }

    /// Writes a note with the settings of the job into the bucket. If a note exists already, compares the note with
    /// this job. Returns whether this call wrote the note.
    ///
    /// # Errors
    /// [`Error::OtherJob`] if the job was begun with other settings, [`Error::OtherKey`] if the job was begun with
    /// another key, or another error if the store fails.
    pub fn agree(&self) -> Result<bool, Error> {
        let place = self.at("job")?;
        if let Some(known) = self.read(&place)? {
            return self.compare(&known.value).map(|()| false);
        }
        match self.write(&place, &self.how, &[]) {
            Err(Error::Store(error)) if error.problem() == Problem::Exists => {
                let known = self.read(&place)?.ok_or(Error::Lost(format!("{place} comes and goes")))?;
                self.compare(&known.value).map(|()| false)
            }
            other => other.map(|()| true),
        }
    }

    /// Returns a mark of a passphrase. Equal passphrases have equal marks. Guessing a passphrase from the value that
    /// this function returns costs as much as guessing it from a sealed file.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn mark(&self, passphrase: &Passphrase) -> Result<String, deadpan_seal::Error> {
        let salt = blake3::hash(self.folder.text().as_bytes());
        let salt = salt.as_bytes().first_chunk().unwrap_or(&[0; 16]);
        let mark = passphrase.derive(Cost::default(), salt, 16)?;
        Ok(hex::encode(&mark))
    }

    fn compare(&self, known: &Value) -> Result<(), Error> {
        let (Value::Object(known), Value::Object(how)) = (known, &self.how) else {
            return Err(self.other("in another way"));
        };
        match how.iter().find(|(field, value)| known.get(*field) != Some(value)) {
            Some((field, _)) if field == "source" => {
                let source = known.get(field).and_then(Value::as_str).unwrap_or("unknown");
                Err(self.other(&format!("with another source: {}", Words::new(source))))
            }
            Some((field, _)) if field.ends_with('s') => Err(self.other(&format!("with other {field}"))),
            Some((field, _)) => Err(self.other(&format!("with another {field}"))),
            None => Ok(()),
        }
    }

    fn other(&self, how: &str) -> Error {
        Error::OtherJob(self.folder.to_string(), how.to_owned())
    }

    /// Reads a piece of state. Returns `None` if no state is stored at this address.
    pub(crate) fn read(&self, place: &Address) -> Result<Option<Found>, Error> {
        let object = match Object::open(&self.store, place) {
            Ok(object) => object,
            Err(error) if error.problem() == Problem::Missing => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let sealed = object.bytes(0..object.length().min(LONGEST))?;
        let (mut input, name) = (&sealed[..], place.to_string());
        let header = Header::read(&mut input).map_err(|_| Error::OtherKey(name.clone()))?;
        let damaged = || Error::Damaged(name.clone());
        let text = self.key.open(header, &name)?.open(input).map_err(|_| damaged())?;
        let line = text.iter().position(|byte| *byte == b'\n').ok_or_else(damaged)?;
        let mut value: Value = serde_json::from_slice(&text[..line]).map_err(|_| damaged())?;
        // An attacker who can write to the bucket could copy state from another address to this address.
        let place_of = value.as_object_mut().and_then(|fields| fields.remove(PLACE));
        if place_of != Some(place.text().into()) {
            return Err(damaged());
        }
        Ok(Some(Found { value, more: Bytes::from(text).slice(line + 1..) }))
    }

    /// Writes state to an address at which no state is stored yet. The stored state consists of a line of JSON and the
    /// bytes in `more`.
    pub(crate) fn write(&self, place: &Address, value: &Value, more: &[u8]) -> Result<(), Error> {
        let mut value = value.clone();
        if let Some(fields) = value.as_object_mut() {
            fields.insert(PLACE.to_owned(), place.text().into());
        }
        let text = [value.to_string().as_bytes(), b"\n", more].concat();
        let sealed = Sealing::to(&self.key.session)?.seal(&text)?;
        Ok(self.store.put(place, Bytes::from(sealed), false)?)
    }
}

/// A piece of state.
pub(crate) struct Found {
    pub(crate) value: Value,
    pub(crate) more: Bytes,
}

/// The most bytes in a piece of state. Up to 256 KiB of these bytes are the header of a sealed object.
const LONGEST: u64 = 1 << 20;

/// Fails if a target lies below [`STATE`].
///
/// # Errors
/// [`Error::Refused`] if the target lies below [`STATE`].
pub fn refuse_state(target: &Address) -> Result<(), Error> {
    if target.key().starts_with(STATE) {
        Err(Error::Refused(format!("{target}: below {STATE} lies the state of jobs")))
    } else {
        Ok(())
    }
}

fn key_at(address: &Address, key: &str) -> Result<Address, Error> {
    address.with_key(key).map_err(|error| Error::Refused(format!("{address}: {error}")))
}

/// Returns a name that reveals nothing, and that is the same on every machine.
fn digest(mut hasher: blake3::Hasher, parts: &[&str]) -> String {
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.folder.fmt(f)
    }
}
