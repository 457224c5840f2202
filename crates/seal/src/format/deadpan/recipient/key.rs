//! The file key, sealed to a public key by HPKE.

use crate::format::deadpan::file_key::{FileKey, KEY};
use crate::format::deadpan::layout::{Entry, Preamble};
use crate::primitive::hpke;
use crate::{Error, Kem, PrivateKey, PublicKey};

/// The purpose of the sealed file key. [`info`] adds the preamble.
const PURPOSE: &[u8] = b"deadpan v1 recipient";

/// Returns the `info` of HPKE, which contains the preamble. The preamble is not in the additional data, because some
/// HPKE libraries (for example PyPI's `cryptography`) take no additional data.
fn info(preamble: Preamble) -> Vec<u8> {
    [PURPOSE, preamble.bytes()].concat()
}

/// Returns the length of the body: the encapsulated secret and the sealed file key.
pub(crate) const fn body(kem: Kem) -> usize {
    kem.enc_len() + KEY + hpke::TAG
}

/// Returns the entry of a public key. For the same file key and public key, the entry is always the same. The random
/// bytes of HPKE are derived from the file key. These random bytes never seal a message other than this file key.
pub(crate) fn wrap(key: &PublicKey, file: &FileKey) -> Result<Entry, Error> {
    let random = file.encapsulation(key)?;
    let (mut body, sealed) = hpke::seal_from(&hpke::OURS, key, &random, &info(file.preamble()), b"", file.bytes())?;
    body.extend_from_slice(&sealed);
    Ok(Entry { kind: key.kem().id(), body })
}

/// Returns the file key if the entry was sealed to this key. May leak: whether the entry was sealed to this key.
pub(crate) fn unwrap(key: &PrivateKey, preamble: Preamble, entry: &Entry) -> Result<Option<FileKey>, Error> {
    let (enc, sealed) = entry.body.split_at(key.kem().enc_len());
    Ok(hpke::open(key, enc, &info(preamble), b"", sealed)?.and_then(|secret| FileKey::from_secret(secret, preamble)))
}
