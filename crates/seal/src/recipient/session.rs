//! The file key, sealed under a passphrase that was hashed once for many items: what the hash gives is joined to a number of the item's own.
//!
//! A wrapping key that came from passphrase and salt alone, as in the other entry of a passphrase, would seal many file keys under one key and
//! one IV, and whoever has two of them would have their difference.

use super::SESSION;
use super::passphrase::{COMMITMENT, COST, Stretch, TAG, cost, open, seal, split};
use crate::entropy::Entropy;
use crate::file_key::{FileKey, KEY};
use crate::header::{Entry, PREAMBLE};
use crate::imp::hkdf::{self, Hash};
use crate::session::{SALT, Session};
use crate::{Error, Secret};
use aws_lc_rs::aead::LessSafeKey;
use deadpan_ct::Wiped;

const INFO: &[u8] = b"deadpan v1 session";
/// Bytes of the number that an item has.
const ITEM: usize = 32;
/// Bytes in the body: the cost, salt, the item's number, commitment, the sealed file key.
pub(crate) const BODY: usize = COST + SALT + ITEM + COMMITMENT + KEY + TAG;

/// The wrapping key and the commitment of an item.
fn derive(stretched: &[u8], item: &[u8; ITEM]) -> Result<(LessSafeKey, Secret), Error> {
    let mut extracted = Wiped::new([0; KEY]);
    hkdf::extract(&PREAMBLE, stretched, &mut extracted)?;
    let mut output = Secret::zeroed(KEY + COMMITMENT);
    hkdf::expand(Hash::Sha256, &*extracted, &[INFO, item].concat(), &mut output)?;
    split(&output)
}

pub(crate) fn wrap(session: &Session, file: &FileKey, entropy: Entropy) -> Result<Entry, Error> {
    let (cost, salt) = (session.cost(), session.salt());
    let mut item = [0; ITEM];
    entropy.fill("item", 0, &mut item)?;
    let (key, commitment) = derive(&session.stretch(cost, salt, KEY)?, &item)?;
    Ok(Entry { kind: SESSION, body: seal(&key, cost, &[salt, &item, &commitment], file)? })
}

/// The file key, if the passphrase is right. May leak: whether it was.
pub(crate) fn unwrap(passphrase: &impl Stretch, entry: &Entry) -> Result<Option<FileKey>, Error> {
    let (head, rest) = entry.body.split_at(COST);
    let cost = cost(head)?;
    let (salt, rest) = rest.split_first_chunk().expect("the header was checked");
    let (item, rest) = rest.split_first_chunk().expect("the header was checked");
    let (promised, sealed) = rest.split_at(COMMITMENT);
    let (key, commitment) = derive(&passphrase.stretched(cost, salt, KEY)?, item)?;
    open(&key, &commitment, promised, sealed)
}
