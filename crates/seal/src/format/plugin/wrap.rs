//! `recipient-v1`: a plugin wraps keys.

use super::error::Reason;
use super::talk::{Talk, index};
use crate::Secret;
use crate::format::age::{self, AgeStanza};

/// The maximum number of stanzas for one key. The specification allows one stanza for each recipient, but some plugins
/// make several stanzas.
pub(crate) const MOST: usize = 16;
/// The maximum number of labels. Only one label is known.
const LABELS: usize = 16;

/// Keys that a plugin has wrapped.
#[derive(Clone, Debug, Default)]
pub struct Wrapping {
    /// The stanzas of each key, in the order of the keys. Each key has at least one stanza.
    pub stanzas: Vec<Vec<AgeStanza>>,
    /// The labels of these stanzas. A file's recipients must all have the same labels.
    pub labels: Vec<String>,
}

pub(super) fn wrap(talk: &mut Talk<'_>, command: &str, text: &[u8], keys: &[Secret]) -> Result<Wrapping, Reason> {
    talk.expect(keys.len() * MOST);
    talk.tell(&[command.as_bytes(), text], b"")?;
    talk.grease()?;
    for key in keys {
        talk.tell(&[b"wrap-file-key"], key)?;
    }
    talk.tell(&[b"extension-labels"], b"")?;
    talk.tell(&[b"done"], b"")?;
    let mut stanzas = vec![Vec::new(); keys.len()];
    let mut labels = None;
    talk.listen(|talk, stanza| {
        match stanza.tag.as_str() {
            "recipient-stanza" => {
                let mut args = std::mem::take(&mut stanza.args).into_iter();
                let of_key = &mut stanzas[index(args.next().as_ref(), keys.len())?];
                let tag = args.next().ok_or(Reason::Protocol("a stanza without a type"))?;
                if of_key.len() == MOST {
                    return Err(Reason::Flood("too many stanzas for one key"));
                }
                let made = AgeStanza { tag, args: args.collect(), body: std::mem::take(&mut stanza.body) };
                age::check_of_plugin(&made)?;
                of_key.push(made);
            }
            "labels" if labels.is_some() => return Err(Reason::Protocol("two lists of labels")),
            "labels" if stanza.args.len() > LABELS => return Err(Reason::Flood("too many labels")),
            "labels" => labels = Some(std::mem::take(&mut stanza.args)),
            _ => return Ok(false),
        }
        talk.ok().map(|()| true)
    })?;
    if let Some(reason) = talk.excuse().filter(|reason| {
        // A plugin may continue if nobody answers its question.
        matches!(reason, Reason::Refused { .. }) || stanzas.iter().any(Vec::is_empty)
    }) {
        return Err(reason);
    }
    if stanzas.iter().any(Vec::is_empty) {
        return Err(Reason::NoStanza);
    }
    Ok(Wrapping { stanzas, labels: labels.unwrap_or_default() })
}
