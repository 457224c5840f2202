//! `identity-v1`: a plugin unwraps keys.

use super::KEY;
use super::error::Reason;
use super::talk::{Talk, index};
use crate::Secret;
use crate::format::age::AgeStanza;
use deadpan_ct::Wipe;

pub(super) fn unwrap(
    talk: &mut Talk<'_>,
    identity: &[u8],
    files: &[Vec<AgeStanza>],
) -> Result<Vec<Option<Secret>>, Reason> {
    talk.expect(files.len());
    talk.tell(&[b"add-identity", identity], b"")?;
    talk.grease()?;
    for (number, stanzas) in files.iter().enumerate() {
        let number = number.to_string();
        for AgeStanza { tag, args, body } in stanzas {
            let mut words = vec![&b"recipient-stanza"[..], number.as_bytes(), tag.as_bytes()];
            words.extend(args.iter().map(String::as_bytes));
            talk.tell(&words, body)?;
        }
    }
    talk.tell(&[b"done"], b"")?;
    let mut keys: Vec<Option<Secret>> = vec![None; files.len()];
    talk.listen(|talk, stanza| {
        if stanza.tag != "file-key" {
            return Ok(false);
        }
        let key = Secret::copy_of(&stanza.body);
        stanza.body.wipe();
        let place = &mut keys[index(stanza.args.first(), files.len())?];
        if stanza.args.len() != 1 {
            return Err(Reason::Protocol("a key with more than its number"));
        }
        if key.len() != KEY {
            return Err(Reason::KeyLength(key.len()));
        }
        if place.replace(key).is_some() {
            return Err(Reason::Protocol("two keys for one file"));
        }
        talk.ok().map(|()| true)
    })?;
    match talk.excuse() {
        Some(reason) if keys.iter().all(Option::is_none) => Err(reason),
        _ => Ok(keys),
    }
}
