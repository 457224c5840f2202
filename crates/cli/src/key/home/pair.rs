//! The two files of a key: the private part `NAME.key`, and beside it the public part `NAME.pub`.

use std::path::{Path, PathBuf};

use super::{Public, permissions, planted_key, read, signs, write, write_in};
use crate::place::held;
use crate::place::partial::{failure, folder_of};
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_disk::{self as disk, About, Way};
use deadpan_seal::PublicKey;
use deadpan_seal::key::{self, Found};

/// Returns the path of the public part of a private key: `NAME.pub` beside `NAME.key`.
pub fn public_path(private: &Path) -> PathBuf {
    if private.extension().is_some_and(|extension| extension == "key") {
        return private.with_extension("pub");
    }
    let mut name = private.as_os_str().to_owned();
    name.push(".pub");
    name.into()
}

/// Returns the public part of a private key file, or `None` if reading the public part needs the passphrase.
///
/// If the private key has no passphrase, the public part is computed from the private key. A protected key can contain
/// the fingerprint of its public part. If the file beside the private key contains another key, a warning is printed
/// and the file is ignored.
pub fn public_of(private: &Path) -> Result<Option<PublicKey>, Failure> {
    // The file with the public part can be used even if the file of the private key cannot be read.
    let found = read(private);
    match found.as_deref() {
        Ok([Found::Signing(key)]) => return Err(signs(&shown(private), key.public())),
        Ok([Found::Verifying(key)]) => return Err(signs(&shown(private), key)),
        _ => {}
    }
    let said = match found.as_deref() {
        Ok([Found::Protected(key)]) => key.fingerprint().map(str::to_owned),
        _ => None,
    };
    let inside = found.map(|found| {
        found.into_iter().find_map(|found| match found {
            Found::Private(key) => Some(key.public().clone()),
            Found::Public(key) => Some(key),
            Found::Protected(_)
            | Found::OpenSsh(_)
            | Found::Signing(_)
            | Found::Verifying(_)
            | Found::Ssh(_)
            | Found::PluginRecipient(_)
            | Found::PluginIdentity(_) => None,
        })
    });
    match (inside, beside_sealing(private)?) {
        (Ok(Some(public)), beside) => {
            if beside.is_some_and(|beside| beside != public) {
                warn_of_pair(private);
            }
            Ok(Some(public))
        }
        (_, Some(public)) if said.is_some_and(|said| said != key::fingerprint(&public)) => {
            warn_of_pair(private);
            Ok(None)
        }
        (_, Some(public)) => Ok(Some(public)),
        (inside, None) => inside,
    }
}

/// Warns if the public part beside a private key belongs to another key.
pub fn check_pair(private: &Path, public: &PublicKey) {
    if !beside_sealing(private).is_ok_and(|beside| beside.is_none_or(|beside| beside == *public)) {
        warn_of_pair(private);
    }
}

pub(super) fn warn_of_pair(private: &Path) {
    permissions::warn(
        &format!("{} does not belong to {}, and is not used", shown(public_path(private)), shown(private)),
        "find out who changed it; then remove it, and make it again with: deadpan keys export",
    );
}

/// Returns the key in the file beside a private key, or `None` if that file does not exist or is empty. A shell makes
/// an empty file before `deadpan keys export NAME > NAME.pub` runs.
pub fn beside(private: &Path) -> Result<Option<Public>, Failure> {
    let path = public_path(private);
    if About::of_path(&path).map_or(true, |about| about.is_file() && about.length == 0) {
        return Ok(None);
    }
    let mut found = read(&path)?;
    match (found.pop(), found.is_empty()) {
        (Some(Found::Public(public)), true) => Ok(Some(Public::Sealing(public))),
        (Some(Found::Verifying(public)), true) => Ok(Some(Public::Signing(public))),
        (Some(Found::Ssh(public)), true) => Ok(Some(Public::of_ssh(&public))),
        _ => Err(Failure::usage(
            format!("{} is not a public key", shown(&path)),
            "remove it, and make it again from the private key: deadpan keys export",
        )),
    }
}

/// Returns the sealing key in the file beside a private key. Fails if the file has a signing key.
fn beside_sealing(private: &Path) -> Result<Option<PublicKey>, Failure> {
    match beside(private)? {
        Some(Public::Sealing(key)) => Ok(Some(key)),
        Some(Public::Signing(key)) => Err(signs(&shown(public_path(private)), &key)),
        Some(Public::Ssh(_)) | None => Ok(None),
    }
}

/// Returns an error if one of the two files of a key exists already.
pub fn refuse_existing(private: &Path) -> Result<(), Failure> {
    let public = public_path(private);
    let Some(taken) = [private, &public].into_iter().find(|path| About::of_name(path).is_ok()) else {
        return Ok(());
    };
    let hint = if private.extension().is_some_and(|ending| ending == "key") {
        format!("give the new one another name, such as: -o {}", shown(private.with_file_name("NAME.key")))
    } else {
        "choose another file with -o".into()
    };
    Err(Failure::usage(format!("{} exists already", shown(taken)), format!("keys are never replaced; {hint}")))
}

/// If the file beside a private key does not exist, writes the public part to that file, because a protected key does
/// not show its public part.
pub fn write_public(private: &Path, public: &Public) {
    let path = public_path(private);
    if write(&path, public.text().as_bytes(), 0o644, false).is_ok() {
        say(&format!("note: wrote the public part of {} to {}", shown(private), shown(&path)));
    }
}

/// Writes a private key, and its public part beside it. No existing file is replaced.
pub fn write_pair(path: &Path, public: &Public, text: &[u8]) -> Result<(), Failure> {
    // The private and the public part go into the same folder, even if another program exchanges this folder between
    // the two writes.
    let way = held::way(folder_of(path)).map_err(disk::Error::of_folder);
    let folder = way.and_then(Way::unplanted).map_err(|error| match error {
        disk::Error::Planted(found) => planted_key(&found),
        error => failure(path, error),
    })?;
    write_in(&folder, path, text, 0o600, false)?;
    write_in(&folder, &public_path(path), public.text().as_bytes(), 0o644, false).inspect_err(|_| {
        // If writing the public part fails, the private part is removed, so that the next attempt can make the key.
        let _ = path.file_name().map(|name| folder.remove(name));
    })
}
