//! A public key, to give away.

use super::protect;
use crate::failure::Failure;
use crate::home::{self, Home};
use crate::passphrase::Passphrases;
use crate::report::print;
use crate::shown::{bytes, shown};
use deadpan_seal::PublicKey;
use deadpan_seal::key::{self, Found};
use std::path::{Path, PathBuf};

pub fn run(home: &Home, name: Option<&str>, age: bool, passphrases: &Passphrases) -> Result<(), Failure> {
    let key = find(home, name, passphrases)?;
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

fn find(home: &Home, name: Option<&str>, passphrases: &Passphrases) -> Result<PublicKey, Failure> {
    let Some(name) = name else {
        let nothing = || Failure::usage(format!("you have no key in {}", shown(&home.folder)), "make one with: deadpan keygen");
        return Ok(home.default_key(None)?.ok_or_else(nothing)?.1);
    };
    let named = home::check_name(name).ok().map(|()| [home.own_path(name), home.contact_path(name)]);
    let paths = named.into_iter().flatten().chain([PathBuf::from(name)]);
    let path = paths.into_iter().find(|path| path.exists()).ok_or_else(|| {
        let message = format!("no key {}: no such name in {}, and no such file", bytes(name.as_bytes()), shown(&home.folder));
        Failure::usage(message, "list the names with: deadpan keys")
    })?;
    public(&path, passphrases)
}

/// From the file beside it, or else from the key itself, which may take its passphrase.
fn public(path: &Path, passphrases: &Passphrases) -> Result<PublicKey, Failure> {
    if let Some(public) = home::public_of(path)? {
        return Ok(public);
    }
    match protect::only(path)? {
        Found::Protected(locked) => Ok(protect::unlock(&shown(path), &locked, passphrases)?.public().clone()),
        Found::Private(key) => Ok(key.public().clone()),
        Found::Public(key) => Ok(key),
    }
}
