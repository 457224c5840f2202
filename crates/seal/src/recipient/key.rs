//! The file key, sealed to a public key by HPKE.

use crate::file_key::{FileKey, KEY};
use crate::header::{Entry, PREAMBLE};
use crate::{Error, Kem, PrivateKey, PublicKey, hpke};

const INFO: &[u8] = b"deadpan v1 recipient";

/// Bytes in the body: the encapsulated secret, the sealed file key.
pub(crate) const fn body(kem: Kem) -> usize {
    kem.enc_len() + KEY + hpke::TAG
}

pub(crate) fn wrap(key: &PublicKey, file: &FileKey) -> Result<Entry, Error> {
    let (mut body, sealed) = hpke::seal(key, INFO, &PREAMBLE, file.bytes())?;
    body.extend_from_slice(&sealed);
    Ok(Entry { kind: key.kem().id(), body })
}

/// The file key, if the entry was made for this key. May leak: whether it was.
pub(crate) fn unwrap(key: &PrivateKey, entry: &Entry) -> Result<Option<FileKey>, Error> {
    let (enc, sealed) = entry.body.split_at(key.kem().enc_len());
    Ok(hpke::open(key, enc, INFO, &PREAMBLE, sealed)?.and_then(FileKey::from_secret))
}
