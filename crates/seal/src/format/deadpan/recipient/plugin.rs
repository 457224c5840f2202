//! The file key, sealed under a new key that a plugin has wrapped. The body holds the plugin's stanzas as text.

use std::sync::Arc;

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

use super::{PLUGIN, Recipient, Stanza};
use crate::format::age;
use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::layout::{Entry, Preamble};
use crate::format::plugin::{self, Tag, stanzas};
use crate::primitive::imp::hkdf::{self, HkdfHash};
use crate::{Error, Mode, Secret};
use deadpan_ct::Wiped;

const LABEL: &[u8] = b"deadpan v1 plugin";
const TAG: usize = 16;
/// The number of bytes of the mode and the sealed file key, which a body has in addition to its stanzas.
const REST: usize = 1 + KEY + TAG;
/// The length of the shortest body, which has the shortest stanza.
pub(crate) const SHORTEST: usize = REST + "-> x\n\n".len();
/// The length of the longest body. The length field of an entry has two bytes.
const LONGEST: usize = u16::MAX as usize;
/// age's specification gives this label to stanzas that withstand a quantum computer.
const POST_QUANTUM: &str = "postquantum";
/// The possible values of the mode's byte.
const CLASSICAL_MODE: u8 = 0;
const POST_QUANTUM_MODE: u8 = 1;

/// A new key that a plugin has wrapped. The key seals the file key of one file.
#[derive(Clone)]
pub(crate) struct Prepared {
    key: Secret,
    stanzas: Vec<u8>,
    labels: Vec<String>,
}

impl Prepared {
    pub(crate) fn mode(&self) -> Mode {
        if self.labels.iter().any(|label| label == POST_QUANTUM) { Mode::Pqc } else { Mode::Ecc }
    }

    /// Returns the labels that only the plugin understands. All recipients of a file must have these labels.
    fn other_labels(&self) -> Vec<&str> {
        self.labels.iter().map(String::as_str).filter(|label| *label != POST_QUANTUM).collect()
    }

    pub(crate) fn body(&self) -> usize {
        REST + self.stanzas.len()
    }

    /// Seals the file key. The IV is constant, because the wrapped key is new and seals only one message.
    pub(crate) fn wrap(&self, file: &FileKey) -> Result<Entry, Error> {
        let preamble = file.preamble();
        let mut body = vec![if self.mode() == Mode::Ecc { CLASSICAL_MODE } else { POST_QUANTUM_MODE }];
        body.extend_from_slice(&self.stanzas);
        let begin = body.len();
        body.resize(begin + KEY + TAG, 0);
        let (sealed, tag) = body[begin..].split_at_mut(KEY);
        let aad = Aad::from(preamble.bytes());
        let key = wrap_key(&self.key, preamble)?;
        let done = key.seal_out_of_place_scatter(nonce(), aad, file.bytes(), sealed, &[], tag);
        done.map_err(|_| Error::System("sealing failed"))?;
        Ok(Entry { kind: PLUGIN, body })
    }
}

fn wrap_key(key: &[u8], preamble: Preamble) -> Result<LessSafeKey, Error> {
    let mut extracted = Wiped::new([0; KEY]);
    hkdf::extract(preamble.bytes(), key, &mut extracted)?;
    let mut wrap = Secret::zeroed(KEY);
    hkdf::expand(HkdfHash::Sha256, &*extracted, LABEL, &mut wrap)?;
    UnboundKey::new(&AES_256_GCM, &wrap).map(LessSafeKey::new).map_err(|_| Error::System("no cipher"))
}

fn nonce() -> Nonce {
    Nonce::assume_unique_for_key([0; NONCE_LEN])
}

impl plugin::Recipient {
    /// Lets the plugin wrap a new key.
    pub(crate) fn prepare(&self) -> Result<Self, Error> {
        let ahead = self.ahead().pop();
        if let Some(prepared) = ahead {
            return Ok(self.with_prepared(prepared));
        }
        let key = Secret::random(plugin::KEY)?;
        let mut wrapping = self.wrap(std::slice::from_ref(&key))?;
        let stanzas = stanzas::text(&wrapping.stanzas.pop().unwrap_or_default())?;
        wrapping.labels.sort();
        wrapping.labels.dedup();
        if stanzas.len() > LONGEST - REST {
            return Err(Error::TooMany("the stanzas of a plugin do not fit an entry of 64 KiB"));
        }
        Ok(self.with_prepared(Arc::new(Prepared { key, stanzas, labels: wrapping.labels })))
    }
}

/// Reads a body strictly: the mode and the stanzas.
fn parse(body: &[u8]) -> Result<(Mode, Vec<age::AgeStanza>), Error> {
    if body.len() < SHORTEST {
        return Err(Error::Header("the length of a recipient"));
    }
    let mode = match body[0] {
        CLASSICAL_MODE => Mode::Ecc,
        POST_QUANTUM_MODE => Mode::Pqc,
        _ => return Err(Error::Header("the mode of a plugin's recipient")),
    };
    let stanzas = stanzas::parse(&body[1..body.len() - KEY - TAG]).ok_or(Error::Header("the stanzas of a plugin"))?;
    Ok((mode, stanzas))
}

/// Reads the visible part of an entry.
pub(crate) fn stanza(body: &[u8]) -> Result<Stanza, Error> {
    let (mode, stanzas) = parse(body)?;
    let tag = stanzas.first().map_or_else(|| Tag::from_text(""), |stanza| Tag::from_text(&stanza.tag));
    Ok(Stanza::Plugin { tag, mode })
}

/// If the plugin unwraps the key of a plugin entry, returns the file key and this entry. The plugin is started only if
/// the header has plugin entries, and only once for all entries. May leak: which entry opens.
pub(crate) fn unwrap<'e>(
    identity: &plugin::Identity,
    preamble: Preamble,
    entries: &'e [(Stanza, Entry)],
) -> Result<Option<(FileKey, &'e Entry)>, Error> {
    let own: Vec<_> = entries.iter().map(|(_, entry)| entry).filter(|entry| entry.kind == PLUGIN).collect();
    if own.is_empty() {
        return Ok(None);
    }
    let files: Result<Vec<_>, _> = own.iter().map(|entry| parse(&entry.body).map(|(_, stanzas)| stanzas)).collect();
    let keys = identity.unwrap(&files?)?;
    let mut wrong = false;
    for (entry, key) in own.into_iter().zip(keys) {
        let Some(key) = key else { continue };
        let (input, tag) = entry.body[entry.body.len() - KEY - TAG..].split_at(KEY);
        let mut file = Secret::zeroed(KEY);
        let aad = Aad::from(preamble.bytes());
        if wrap_key(&key, preamble)?.open_separate_gather(nonce(), aad, input, tag, &mut file).is_ok() {
            return Ok(FileKey::from_secret(file, preamble).map(|file| (file, entry)));
        }
        wrong = true;
    }
    if wrong { Err(identity.wrong_key().into()) } else { Ok(None) }
}

/// Lets plugins wrap their keys. Returns the recipients with the wrapped keys, or `None` if no recipient has a plugin.
///
/// # Errors
/// If a plugin fails, or if other recipients do not have the labels that a plugin requires.
pub(crate) fn prepare(recipients: &[Recipient], mixed: bool) -> Result<Option<Vec<Recipient>>, Error> {
    if !recipients.iter().any(|it| matches!(it, Recipient::Plugin(_))) {
        return Ok(None);
    }
    let prepare = |recipient: &Recipient| match recipient {
        Recipient::Plugin(plugin) => plugin.prepare().map(Recipient::Plugin),
        other => Ok(other.clone()),
    };
    let prepared = recipients.iter().map(prepare).collect::<Result<Vec<_>, _>>()?;
    super::check_modes(&[], &prepared, mixed)?;
    let labels = |recipient: &Recipient| match recipient {
        Recipient::Plugin(plugin) => plugin
            .prepared
            .as_ref()
            .map_or_else(Vec::new, |it| it.other_labels().into_iter().map(str::to_owned).collect()),
        _ => Vec::new(),
    };
    for recipient in &prepared {
        if let Recipient::Plugin(plugin) = recipient
            && prepared.iter().any(|other| labels(other) != labels(recipient))
            && !labels(recipient).is_empty()
        {
            return Err(plugin.incompatible(&labels(recipient)).into());
        }
    }
    Ok(Some(prepared))
}

/// If a plugin wrapped a key that was not used, stores the key in the plugin's recipient for the next file.
pub(crate) fn put_back(prepared: &[Recipient]) {
    for recipient in prepared {
        if let Recipient::Plugin(plugin) = recipient
            && let Some(prepared) = &plugin.prepared
        {
            plugin.ahead().push(Arc::clone(prepared));
        }
    }
}
