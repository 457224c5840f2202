//! `deadpan keys protect` and `unprotect`: adds a passphrase to a private key, changes the passphrase, or removes the
//! passphrase.

use std::path::Path;

use crate::key::home::{self, GUARD, Public};
use crate::key::passphrase::{PassphraseArgs, Passphrases};
use crate::key::protected::{check_pair, not_private, text, unlock_any};
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_seal::key::Found;

/// If the key already has a passphrase, takes it from `old`, or asks the user.
pub fn protect(path: &Path, passphrases: &Passphrases, old: Option<&PassphraseArgs>) -> Result<(), Failure> {
    let name = shown(path);
    let place = home::KeyFile::find(path)?;
    let (key, was) = match place.only()? {
        found @ (Found::Private(_) | Found::Signing(_)) => {
            if old.is_some() {
                let hint = "leave out the option for the old one";
                return Err(Failure::usage(format!("{name} has no passphrase yet"), hint));
            }
            check_pair(path, &found);
            (found, false)
        }
        Found::Protected(_) if old.is_none() && passphrases.given()?.is_some() => {
            let hint = "give the passphrase that it has with --old-passphrase-file or --old-passphrase-command, or \
                        type both on a terminal";
            return Err(Failure::usage(format!("{name} is protected already"), hint));
        }
        Found::Protected(locked) => {
            let old = old.map(Passphrases::new);
            (unlock_any(path, &locked, old.as_ref().unwrap_or(passphrases))?, true)
        }
        Found::Public(_) | Found::Verifying(_) | Found::Ssh(_) | Found::PluginRecipient(_) => {
            return Err(not_private(&name));
        }
        Found::PluginIdentity(_) => return Err(of_plugin(&name)),
        Found::OpenSsh(_) => return Err(of_ssh(&name)),
    };
    let hint = "take the passphrase off a key with: deadpan keys unprotect";
    let passphrase = passphrases.new_one(&format!("the key {name}"), hint)?;
    let text = text(&name, &key, Some(&passphrase))?;
    let (others, is_of_age) = (place.other_names(), place.is_of_age());
    place.replace(&text)?;
    if is_of_age {
        say(
            "note: age cannot read this key any more, also without the passphrase: keep a copy of the identity for age",
        );
    }
    others.iter().for_each(|others| say(&format!("note: {others}")));
    Public::from_key(&key).iter().for_each(|public| home::write_public(path, public));
    say(&format!("{name} {}", if was { "has a new passphrase" } else { "is protected now" }));
    Ok(())
}

/// Removes the passphrase from a key.
pub fn unprotect(path: &Path, passphrases: &Passphrases) -> Result<(), Failure> {
    let name = shown(path);
    let place = home::KeyFile::find(path)?;
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
        Found::OpenSsh(_) => return Err(of_ssh(&name)),
    };
    let text = text(&name, &key, None)?;
    let others = place.other_names();
    place.replace(&text)?;
    others.iter().for_each(|others| say(&format!("note: {others}")));
    say(&format!("{name} is not protected any more; only its {GUARD} keeps others away"));
    Ok(())
}

fn of_plugin(name: &str) -> Failure {
    let hint = "the plugin, or its hardware, protects the key; see the documentation of the plugin";
    Failure::usage(format!("{name} is an identity of a plugin"), hint)
}

fn of_ssh(name: &str) -> Failure {
    let hint = format!("change its passphrase with: ssh-keygen -p -f {name}");
    Failure::usage(format!("{name} is a key of SSH"), hint)
}
