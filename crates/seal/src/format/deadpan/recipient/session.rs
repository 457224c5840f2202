//! The file key, sealed under a passphrase that was hashed once for many items. The hash is combined with an item
//! number.
//!
//! A passphrase entry for one file derives the wrapping key from the passphrase and the salt alone. In a session, a
//! wrapping key without an item number would seal many file keys with one IV. Any two entries with the same key and the
//! same IV would reveal the difference of their file keys.

use aws_lc_rs::aead::LessSafeKey;

use super::SESSION;
use super::passphrase::{COMMITMENT, COST, Stretch, TAG, cost, open, seal, split, try_forms};
use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::layout::{Entry, Preamble};
use crate::format::deadpan::session::{SALT, Session};
use crate::key::passphrase::form::Form;
use crate::primitive::entropy::Entropy;
use crate::primitive::imp::hkdf::{self, HkdfHash};
use crate::{Error, Secret};
use deadpan_ct::Wiped;

const INFO: &[u8] = b"deadpan v1 session";
/// The length of an item number.
const ITEM: usize = 32;
pub(crate) const BODY: usize = COST + SALT + ITEM + COMMITMENT + KEY + TAG;

/// Derives the wrapping key and the commitment of an item.
fn derive(preamble: Preamble, stretched: &[u8], item: &[u8; ITEM]) -> Result<(LessSafeKey, Secret), Error> {
    let mut extracted = Wiped::new([0; KEY]);
    hkdf::extract(preamble.bytes(), stretched, &mut extracted)?;
    let mut output = Secret::zeroed(KEY + COMMITMENT);
    hkdf::expand(HkdfHash::Sha256, &*extracted, &[INFO, item].concat(), &mut output)?;
    split(&output)
}

pub(crate) fn wrap(session: &Session, file: &FileKey, entropy: Entropy) -> Result<Entry, Error> {
    let (cost, salt) = (session.cost(), session.salt());
    let mut item = [0; ITEM];
    entropy.fill("item", 0, &mut item)?;
    let (key, commitment) = derive(file.preamble(), &session.stretch(Form::Composed, cost, salt, KEY)?, &item)?;
    Ok(Entry { kind: SESSION, body: seal(&key, cost, &[salt, &item, &commitment], file)? })
}

/// Returns the file key if the passphrase is right. May leak: which Unicode form of the passphrase is right, if any
/// form is right.
pub(crate) fn unwrap(passphrase: &impl Stretch, preamble: Preamble, entry: &Entry) -> Result<Option<FileKey>, Error> {
    let (head, rest) = entry.body.split_at(COST);
    let cost = cost(head)?;
    let (salt, rest) = rest.split_first_chunk().expect("the header was checked");
    let (item, rest) = rest.split_first_chunk().expect("the header was checked");
    let (promised, sealed) = rest.split_at(COMMITMENT);
    try_forms(passphrase, salt, |form| {
        let (key, commitment) = derive(preamble, &passphrase.stretched(form, cost, salt, KEY)?, item)?;
        open(&key, preamble, &commitment, promised, sealed)
    })
}
