//! `deadpan keys export`: prints a public key that the user can give to other people.

use std::path::{Path, PathBuf};

use crate::key::home::{self, Home, Own};
use crate::key::passphrase::Passphrases;
use crate::key::plugin;
use crate::key::protected;
use crate::tell::failure::Failure;
use crate::tell::shown::{bytes, shown};
use crate::tell::streams::print;
use deadpan_seal::PublicKey;
use deadpan_seal::key::{self, Found};
use deadpan_seal::sign::VerifyingKey;

/// Which public key the command prints, and in which form.
#[derive(Clone, Copy)]
pub struct ExportForm {
    /// Whether to print the key that signs, instead of the key that seals.
    pub sign: bool,
    pub age: bool,
    /// Whether to print a line of SSH.
    pub ssh: bool,
}

pub fn run(home: &Home, name: Option<&str>, form: ExportForm, passphrases: &Passphrases) -> Result<(), Failure> {
    let path = find(home, name, form.sign)?;
    if let Some(recipient) = plugin::of_contact(&path).filter(|_| !form.sign) {
        return print(&format!("{}\n", recipient.text().unwrap_or_default()));
    }
    if form.sign || is_only_signing(&path) {
        if form.age {
            let hint = "leave out --age; print a line of SSH with --ssh";
            return Err(Failure::usage("age has no keys that sign", hint));
        }
        let key = verifying(&path, passphrases)?;
        return print(&if form.ssh { key.to_line() + "\n" } else { key::verifying_pem(&key) });
    }
    if form.ssh {
        return Err(Failure::usage("keys that seal have no form in SSH", "add --sign for your key that signs"));
    }
    let (key, age) = (public(&path, passphrases)?, form.age);
    if !age {
        return print(&key::public_pem(&key));
    }
    let recipient = key::age_recipient(&key).ok_or_else(|| {
        Failure::usage(
            format!("age does not know {} keys", key.kem().name()),
            "it knows X25519 (keygen --mode ecc) and X-Wing (--mode hybrid)",
        )
    })?;
    print(&format!("{recipient}\n"))
}

/// Returns the path of the key's file.
fn find(home: &Home, name: Option<&str>, sign: bool) -> Result<PathBuf, Failure> {
    let Some(name) = name else {
        let (what, make) = if sign { (" for signing", " --sign") } else { ("", "") };
        let nothing = || {
            let message = format!("you have no key{what} in {}", shown(&home.folder));
            Failure::usage(message, format!("make one with: deadpan keygen{make}"))
        };
        let own = if sign { home.default_signing_key()? } else { home.default_key()? };
        return Ok(own.ok_or_else(nothing)?.path);
    };
    let named = home::check_name(name).ok().map(|()| [home.own_path(name), home.contact_path(name)]);
    let paths = named.into_iter().flatten().chain([PathBuf::from(name)]);
    paths.into_iter().find(|path| home::may_exist(path)).ok_or_else(|| {
        let message =
            format!("no key {}: no such name in {}, and no such file", bytes(name.as_bytes()), shown(&home.folder));
        Failure::usage(message, super::hint(name, home.names()))
    })
}

fn is_only_signing(path: &Path) -> bool {
    Own { name: String::new(), path: path.to_owned() }.signs()
        || matches!(home::read(path).as_deref(), Ok([Found::Verifying(_)]))
}

/// Returns the public part of the signing key in a file. Reading the public part may need the passphrase of the key.
fn verifying(path: &Path, passphrases: &Passphrases) -> Result<VerifyingKey, Failure> {
    let found = home::read(path)?;
    if found.len() > 1 {
        let mut keys =
            found.iter().filter_map(|found| if let Found::Verifying(key) = found { Some(key) } else { None });
        let none =
            || Failure::usage(format!("{} has no key that signs", shown(path)), "export the other one without --sign");
        return keys.next().cloned().ok_or_else(none);
    }
    if let Some(key) = home::verifying_of(path)? {
        return Ok(key);
    }
    match home::KeyFile::find(path)?.only()? {
        Found::Protected(locked) => match protected::unlock_any(path, &locked, passphrases)? {
            Found::Signing(key) => Ok(key.public().clone()),
            _ => Err(Failure::usage(
                format!("{} is a key that seals, and does not sign", shown(path)),
                "export it without --sign",
            )),
        },
        _ => Err(Failure::usage(format!("{} changed while it was read", shown(path)), "try again")),
    }
}

/// Returns the public part of a key: from the file beside the key, or else from the key itself. Reading the key itself
/// may need its passphrase.
fn public(path: &Path, passphrases: &Passphrases) -> Result<PublicKey, Failure> {
    if let Some(public) = home::public_of(path)? {
        return Ok(public);
    }
    match home::KeyFile::find(path)?.only()? {
        Found::Protected(locked) => Ok(protected::unlock(path, &locked, passphrases)?.public().clone()),
        Found::Private(key) => Ok(key.public().clone()),
        Found::Public(key) => Ok(key),
        Found::Ssh(_) => Err(Failure::usage(
            format!("{} is a key of SSH, which is its own text", shown(path)),
            "give away the line in that file",
        )),
        Found::OpenSsh(file) => Err(Failure::key(&shown(path), &file.refusal())),
        Found::PluginRecipient(_) | Found::PluginIdentity(_) => Err(Failure::usage(
            format!("{} is of a plugin, which knows its public key", shown(path)),
            "ask the program of the plugin for the recipient",
        )),
        Found::Signing(key) => Err(home::signs(&shown(path), key.public())),
        Found::Verifying(key) => Err(home::signs(&shown(path), &key)),
    }
}
