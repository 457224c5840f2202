//! `deadpan keys add`: adds a contact.

use std::path::{Path, PathBuf};

use crate::command::keys::are_swapped;
use crate::key::home::{self, Home, Public};
use crate::key::plugin;
use crate::key::recipient::{misspelt, ssh};
use crate::place::held;
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::streams::STDIN;
use deadpan_disk::About;
use deadpan_seal::key::openssh::SshPublic;
use deadpan_seal::key::{self, Found};
use deadpan_seal::plugin::Recipient;

pub fn add(home: &Home, name: &str, text: &str, force: bool) -> Result<(), Failure> {
    if home.own_path(name).exists() {
        return Err(Failure::usage(format!("{name} is one of your own keys"), "choose another name for the contact"));
    }
    // The key may come from a pipe, so the folder of the contact is opened before the key is read.
    held::hold([home.contact_path(name).as_path()]);
    let plugin = plugin::of_argument(text);
    if let Some(recipient) = &plugin {
        return add_plugin(home, name, recipient, force);
    }
    let (keys, ssh) = public(text).map_err(|failure| {
        if are_swapped(Path::new(name), Path::new(text)) {
            Failure { hint: Some(format!("the NAME comes first: deadpan keys add NAME {name}")), ..failure }
        } else {
            failure
        }
    })?;
    let old_text = home::text(&home.contact_path(name)).map_or_else(|_| Vec::new(), |(text, _)| text.to_vec());
    let before = key::read(&old_text).unwrap_or_default();
    // A contact may have a key that signs and a key that seals. If a contact gets a new key of one kind, the contact's
    // file keeps its key of the other kind.
    let is_other =
        |old: &Found| Public::from_key(old).is_some_and(|old| keys.iter().all(|key| key.signs() != old.signs()));
    let extends = !force && !before.is_empty() && before.iter().all(is_other);
    let path = contact(home, name, force || extends)?;
    // An SSH key is stored in SSH form, so that it can still be used to check signatures and to seal age files.
    let line = |key: &Public| ssh.iter().find(|ssh| *key == Public::of_ssh(ssh)).map(|ssh| format!("{}\n", ssh.line()));
    let text: String = keys.iter().map(|key| line(key).unwrap_or_else(|| key.text())).collect();
    let text = if extends { [old_text.trim_ascii_end(), b"\n", text.as_bytes()].concat() } else { text.into() };
    home::write(&path, &text, 0o600, force || extends)?;
    for key in &keys {
        let use_of = match key {
            Public::Sealing(_) => "for sealing",
            Public::Signing(_) if line(key).is_some() => "for checking signatures, and for sealing age files",
            Public::Signing(_) => "for checking signatures",
            Public::Ssh(_) => "for sealing age files",
        };
        say(&format!("added {name}: {} {}, {use_of}", key.algorithm(), key.fingerprint()));
    }
    let kept = before.iter().filter(|_| extends).filter_map(Public::from_key);
    let seals = keys.iter().any(|key| line(key).is_some()) || keys.iter().cloned().chain(kept).any(|key| !key.signs());
    if !seals {
        say(&format!("note: nothing can be sealed to {name} yet; for that, ask for a key of: deadpan keys export"));
    }
    for old in before.iter().filter(|old| !extends && is_other(old)).filter_map(Public::from_key) {
        let purpose = if old.signs() { "for signatures" } else { "for sealing" };
        let which = format!("{} {}", old.algorithm(), old.fingerprint());
        say(&format!("note: the old key {purpose} is gone ({which}); to keep both, name a file with both keys"));
    }
    say("hint: compare the fingerprint with its owner before you trust it");
    Ok(())
}

/// Adds a contact whose key only an age plugin can use.
fn add_plugin(home: &Home, name: &str, recipient: &Recipient, force: bool) -> Result<(), Failure> {
    let path = contact(home, name, force)?;
    let line = recipient.text().unwrap_or_default();
    home::write(&path, format!("{line}\n").as_bytes(), 0o600, force)?;
    say(&format!("added {name}: {line}"));
    say(&format!("hint: sealing to {name} takes the program age-plugin-{}", recipient.name()));
    Ok(())
}

/// Returns the path of a new contact's file, and makes the folder of that file.
fn contact(home: &Home, name: &str, force: bool) -> Result<PathBuf, Failure> {
    let path = home.contact_path(name);
    if !force && About::of_name(&path).is_ok() {
        return Err(Failure::usage(
            format!("there is a contact {name} already"),
            "replace its keys with --force, or choose another name; a file may hold keys of both kinds",
        ));
    }
    home.make_folder_of(&path)?;
    Ok(path)
}

/// Returns the public keys for an argument: a key that seals, a key that verifies signatures, or both keys. If some of
/// these keys are SSH keys, also returns them in SSH form.
fn public(text: &str) -> Result<(Vec<Public>, Vec<SshPublic>), Failure> {
    let name = crate::tell::shown::bytes(text.as_bytes());
    let is_key = text.starts_with("age1") || (ssh::is_line(text.as_bytes()) && text.contains(' '));
    let (found, ssh) = if is_key {
        let found = key::read(text.as_bytes()).map_err(|error| misspelt(text, &error))?;
        (found, ssh::take(&name, text.as_bytes())?)
    } else {
        let path = Path::new(if text == "-" { STDIN } else { text });
        let (contents, about) = home::text(path)?;
        (home::keys_in(path, &contents, &about)?, ssh::take(&name, &contents)?)
    };
    let ssh = ssh.map_or_else(Vec::new, |(keys, _)| keys);
    let mut keys = Vec::new();
    for found in found {
        match found {
            Found::Public(key) => keys.push(Public::Sealing(key)),
            Found::Verifying(key) => keys.push(Public::Signing(key)),
            Found::Ssh(key) => keys.push(Public::Ssh(key)),
            Found::PluginRecipient(_) => {
                let hint = "add it alone: deadpan keys add NAME age1…";
                return Err(Failure::usage(format!("{name} holds a recipient of a plugin and other keys"), hint));
            }
            Found::Private(_)
            | Found::Protected(_)
            | Found::Signing(_)
            | Found::OpenSsh(_)
            | Found::PluginIdentity(_) => {
                let hint = "a contact is a public key; tell the person who sent it that this key is no longer private";
                return Err(Failure::usage(format!("{name} is a private key"), hint));
            }
        }
    }
    keys.sort_by_key(Public::signs);
    match keys.iter().map(Public::signs).collect::<Vec<_>>()[..] {
        [_] | [false, true] => Ok((keys, ssh)),
        _ => Err(Failure::usage(
            format!("{name} holds several keys"),
            "a contact has one that seals and one that signs; name the file with -R to seal to all of them",
        )),
    }
}
