//! Makes the files of a new key, for `keygen`, `keys restore` and the first file that is sealed.

use std::path::Path;

use super::{Home, Own, Public};
use crate::key::home;
use crate::key::protected::{not_private, text};
use crate::place::partial::{folder_of, no_folder};
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_disk::About;
use deadpan_seal::key::Found;
use deadpan_seal::{Kem, Passphrase, PrivateKey};

/// Makes a key that seals, and its files. No existing file is replaced.
pub fn make(home: &Home, path: &Path, kem: Kem, passphrase: Option<&Passphrase>) -> Result<PrivateKey, Failure> {
    refuse_taken(home, path)?;
    let key = PrivateKey::generate(kem).map_err(|error| Failure::seal(&shown(path), error))?;
    write_new(home, path, &Found::Private(key.clone()), passphrase)?;
    Ok(key)
}

/// Writes the files of a new private key. No existing file is replaced.
pub fn write_new(home: &Home, path: &Path, key: &Found, passphrase: Option<&Passphrase>) -> Result<Public, Failure> {
    let name = shown(path);
    let public = Public::from_key(key).ok_or_else(|| not_private(&name))?;
    write_text(home, path, Some(&public), &text(&name, key, passphrase)?)?;
    Ok(public)
}

/// Writes a new private key that is a text already, and its public part if that is known. No existing file is replaced.
pub fn write_text(home: &Home, path: &Path, public: Option<&Public>, text: &[u8]) -> Result<(), Failure> {
    home.make_folder_of(path)?;
    // If no default key is recorded yet, one of the existing keys is recorded first, so that the new key does not
    // become the default key.
    let own_name = home.name_of(path).filter(|_| public.is_some_and(|public| !public.signs()));
    let is_first = own_name.is_some() && matches!(home.settle_default(), Ok(None));
    match public {
        Some(public) => home::write_pair(path, public, text)?,
        None => home::write(path, text, 0o600, false)?,
    }
    if let Some(name) = own_name.filter(|_| is_first) {
        home.record(name)?;
    }
    Ok(())
}

/// Returns an error if a file of the key exists already, if the key's folder does not exist, or if a contact has the
/// key's name. Each name belongs to one key.
pub fn refuse_taken(home: &Home, path: &Path) -> Result<(), Failure> {
    home::refuse_existing(path)?;
    let folder = folder_of(path);
    if !folder.starts_with(&home.folder) && !folder.exists() {
        return Err(no_folder(path));
    }
    if home.holds(path) && home.name_of(path).is_none() {
        return Err(Failure::usage(
            format!("{} would not be one of your own keys: the name of such a file is NAME.key", shown(path)),
            format!("choose a NAME that is valid for a key ({}), or a file in another folder", home::VALID_NAME),
        ));
    }
    match home.name_of(path).filter(|name| home.contact_path(name).exists()) {
        Some(name) => Err(Failure::usage(
            format!("there is a contact {name}, and a key of your own would have the same name"),
            format!(
                "remove the contact with: deadpan keys remove {name} (and add it under another name), \
                 or choose another file with -o"
            ),
        )),
        None => Ok(()),
    }
}

/// Like [`refuse_taken`], for a command that takes the name of the new key as an argument. `command` is the command
/// with another name.
pub fn refuse_taken_name(home: &Home, path: &Path, command: &str) -> Result<(), Failure> {
    refuse_taken(home, path).map_err(|failure| {
        let (public, is_there) = (home::public_path(path), |path: &Path| About::of_name(path).is_ok());
        let first = match home.name_of(path) {
            Some(name) if is_there(path) || home.contact_path(name).exists() => {
                format!("rename the old one first: deadpan keys rename {name} OLD, or ")
            }
            _ if is_there(path) => String::new(),
            _ if is_there(&public) => format!("remove {} first, or ", shown(public)),
            _ => return failure,
        };
        let hint = format!("keys are never replaced; {first}choose another name: deadpan keys {command}");
        Failure { hint: Some(hint), ..failure }
    })
}

/// Tells the user if another key of their own has this public part.
pub fn tell_same(home: &Home, path: &Path, public: &Public) {
    let is_same = |own: &Own| own.path != path && home::beside(&own.path).is_ok_and(|it| it.as_ref() == Some(public));
    if let Some(own) = home.own_of_both_uses().unwrap_or_default().iter().find(|own| is_same(own)) {
        say(&format!("note: you have this key already, as {}", own.name));
    }
}
