//! Identities that are protected by a passphrase: protected keys, and age files that hold identities.

use std::io::Read;

use crate::tell::failure::Failure;
use deadpan_ct::Wiped;
use deadpan_seal::key::{self, Found, KeyError};
use deadpan_seal::{Error, Header, Identity, Passphrase, Secret, age};
/// The longest file with identities.
const LONGEST: usize = 1 << 20;

/// Whether the text of a key file is an age file, which may hold identities.
pub fn is_age_file(text: &[u8]) -> bool {
    text.starts_with(b"age-encryption.org/") || is_armor(text)
}

fn is_armor(text: &[u8]) -> bool {
    text.trim_ascii_start().starts_with(age::armor::BEGIN.as_bytes())
}

/// Returns the result of trying a passphrase on a key; `None` if the passphrase is wrong.
pub fn tried<T>(name: &str, result: Result<T, KeyError>) -> Result<Option<T>, Failure> {
    match result {
        Ok(key) => Ok(Some(key)),
        Err(KeyError::WrongPassphrase) => Ok(None),
        Err(error) => Err(Failure::key(name, &error)),
    }
}

/// Opens an age file with a passphrase, and returns the identities in it; `None` if the passphrase is wrong.
pub fn open(name: &str, text: &[u8], passphrase: &Passphrase) -> Result<Option<Vec<Identity>>, Failure> {
    let failed = |error| Failure::seal(name, error);
    let mut sealed = text.to_vec();
    if is_armor(text) {
        sealed.clear();
        let armor = age::armor::ArmorReader::new(text).take(2 * LONGEST as u64).read_to_end(&mut sealed);
        armor.map_err(|error| failed(Error::Read(error)))?;
    }
    let mut rest = &sealed[..];
    let header = Header::read(&mut rest).map_err(failed)?;
    if !header.stanzas().iter().any(deadpan_seal::Stanza::is_passphrase) {
        return Err(Failure::usage(
            format!("{name} is an age file, and has no passphrase"),
            "open it first, and name the file with the identities in it",
        ));
    }
    let opened = match header.open(&[Identity::Passphrase(passphrase.clone())]) {
        Err(Error::WrongPassphrase) => return Ok(None),
        other => other.map_err(failed)?,
    };
    let keys = Secret::copy_of(&Wiped::new(opened.open(rest).map_err(failed)?));
    let found = key::read(&keys).map_err(|error| Failure::key(name, &error))?;
    let identity = |found| match found {
        Found::Private(key) => Some(Identity::Key(key)),
        Found::OpenSsh(file) => file.key().cloned().map(Identity::Ssh),
        _ => None,
    };
    Ok(Some(found.into_iter().filter_map(identity).collect()))
}
