//! `deadpan keys protect` and `unprotect`: puts a passphrase on a private key, changes it, or takes it off.

use std::path::Path;

use crate::console::say;
use crate::failure::{Exit, Failure};
use crate::home::{self, Public};
use crate::passphrase::Passphrases;
use crate::shown::shown;
use deadpan_seal::PrivateKey;
use deadpan_seal::key::{self, Found, KeyError, ProtectedKey};

/// Puts a new passphrase on a key. If the key has one already, the user is asked for it on the terminal.
pub fn protect(path: &Path, passphrases: &Passphrases) -> Result<(), Failure> {
    let name = shown(path);
    let place = home::KeyFile::of(path)?;
    let (key, was) = match place.only()? {
        found @ (Found::Private(_) | Found::Signing(_)) => {
            check_pair(path, &found);
            (found, false)
        }
        Found::Protected(_) if passphrases.given()?.is_some() => {
            let hint = "on a terminal you are asked for both passphrases; \
                        in a script, take the old one off with: deadpan keys unprotect";
            return Err(Failure::usage(format!("{name} is protected already"), hint));
        }
        Found::Protected(locked) => (unlock_any(path, &locked, passphrases)?, true),
        Found::Public(_) | Found::Verifying(_) | Found::Ssh(_) | Found::PluginRecipient(_) => {
            return Err(not_private(&name));
        }
        Found::PluginIdentity(_) => return Err(of_plugin(&name)),
        Found::OpenSsh(file) => return Err(Failure::key(&name, &file.refusal())),
    };
    let hint = "take the passphrase off a key with: deadpan keys unprotect";
    let passphrase = passphrases.new_one(&format!("the key {name}"), hint)?;
    let text = match &key {
        Found::Signing(key) => key::protected_signing_pem(key, &passphrase),
        Found::Private(key) => key::protected_pem(key, &passphrase),
        _ => return Err(not_private(&name)),
    };
    let text = text.map_err(|error| Failure::of(&name, error))?;
    let (others, is_of_age) = (place.other_names(), place.is_of_age());
    place.replace(text.as_bytes())?;
    if is_of_age {
        say(
            "note: age cannot read this key any more, also without the passphrase: keep a copy of the identity for age",
        );
    }
    others.iter().for_each(|others| say(&format!("note: {others}")));
    Public::of(&key).iter().for_each(|public| home::write_public(path, public));
    say(&format!("{name} {}", if was { "has a new passphrase" } else { "is protected now" }));
    Ok(())
}

/// Takes the passphrase off a key.
pub fn unprotect(path: &Path, passphrases: &Passphrases) -> Result<(), Failure> {
    let name = shown(path);
    let place = home::KeyFile::of(path)?;
    let key = match place.only()? {
        Found::Private(_) | Found::Signing(_) => {
            return Err(Failure::usage(
                format!("{name} is not protected"),
                "the key has no passphrase that could be taken off",
            ));
        }
        Found::Protected(locked) => unlock_any(path, &locked, passphrases)?,
        Found::Public(_) | Found::Verifying(_) | Found::Ssh(_) | Found::PluginRecipient(_) => {
            return Err(not_private(&name));
        }
        Found::PluginIdentity(_) => return Err(of_plugin(&name)),
        Found::OpenSsh(file) => return Err(Failure::key(&name, &file.refusal())),
    };
    let text = match &key {
        Found::Signing(key) => key::signing_pem(key),
        Found::Private(key) => key::private_pem(key),
        _ => return Err(not_private(&name)),
    };
    let others = place.other_names();
    place.replace(&text)?;
    others.iter().for_each(|others| say(&format!("note: {others}")));
    say(&format!("{name} is not protected any more; only its mode (0600) keeps others away"));
    Ok(())
}

/// Decrypts a protected key that seals. Warns if the public part beside it belongs to another key.
pub fn unlock(path: &Path, locked: &ProtectedKey, passphrases: &Passphrases) -> Result<PrivateKey, Failure> {
    match unlock_any(path, locked, passphrases)? {
        Found::Private(key) => Ok(key),
        Found::Signing(key) => Err(home::signs(&shown(path), key.public())),
        _ => Err(not_private(&shown(path))),
    }
}

/// Decrypts a protected key of either use. Warns if the public part beside it belongs to another key.
pub fn unlock_any(path: &Path, locked: &ProtectedKey, passphrases: &Passphrases) -> Result<Found, Failure> {
    let name = &shown(path);
    let key = passphrases.unlock(name, |passphrase| match locked.unlock_any(passphrase) {
        Ok(key) => Ok(Some(key)),
        Err(KeyError::WrongPassphrase) => Ok(None),
        Err(error) => Err(Failure::key(name, &error)),
    })?;
    let key = key.ok_or_else(|| {
        Failure::new(Exit::Key, format!("{name} stays as it is"), "without its passphrase, the key cannot be changed")
    })?;
    check_pair(path, &key);
    Ok(key)
}

fn of_plugin(name: &str) -> Failure {
    let hint = "the plugin, or its hardware, protects the key; see the documentation of the plugin";
    Failure::usage(format!("{name} is an identity of a plugin"), hint)
}

/// Warns if the public part beside a private key belongs to another key.
fn check_pair(path: &Path, key: &Found) {
    match key {
        Found::Private(key) => home::check_pair(path, key.public()),
        Found::Signing(key) => home::check_signing_pair(path, key.public()),
        _ => {}
    }
}

fn not_private(name: &str) -> Failure {
    Failure::usage(format!("{name} is a public key"), "passphrases protect private keys; public ones are for everybody")
}
