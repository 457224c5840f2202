//! The file key, sealed to a public key by HPKE.

use crate::file_key::{FileKey, KEY};
use crate::layout::{Entry, PREAMBLE};
use crate::{Error, Kem, PrivateKey, PublicKey, hpke};

/// The purpose of the sealed file key. [`info`] adds the preamble.
const PURPOSE: &[u8] = b"deadpan v1 recipient";

/// Returns the `info` of HPKE. It contains the preamble, and the additional data are empty, because some HPKE libraries
/// (PyPI's `cryptography` is one) take no additional data.
fn info() -> Vec<u8> {
    [PURPOSE, &PREAMBLE].concat()
}

/// Returns the length of the body: the encapsulated secret and the sealed file key.
pub(crate) const fn body(kem: Kem) -> usize {
    kem.enc_len() + KEY + hpke::TAG
}

pub(crate) fn wrap(key: &PublicKey, file: &FileKey) -> Result<Entry, Error> {
    let (mut body, sealed) = hpke::seal(key, &info(), b"", file.bytes())?;
    body.extend_from_slice(&sealed);
    Ok(Entry { kind: key.kem().id(), body })
}

/// Returns the file key if the entry was sealed to this key. May leak: whether it was.
pub(crate) fn unwrap(key: &PrivateKey, entry: &Entry) -> Result<Option<FileKey>, Error> {
    let (enc, sealed) = entry.body.split_at(key.kem().enc_len());
    Ok(hpke::open(key, enc, &info(), b"", sealed)?.and_then(FileKey::from_secret))
}
