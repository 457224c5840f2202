//! `deadpan keys export`: prints a public key, to give to others.

use std::path::{Path, PathBuf};

use super::protect;
use crate::failure::Failure;
use crate::home::{self, Home};
use crate::passphrase::Passphrases;
use crate::shown::{bytes, shown};
use crate::streams::print;
use deadpan_seal::PublicKey;
use deadpan_seal::key::{self, Found};

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
        let nothing =
            || Failure::usage(format!("you have no key in {}", shown(&home.folder)), "make one with: deadpan keygen");
        return public(&home.default_key()?.ok_or_else(nothing)?.path, passphrases);
    };
    let named = home::check_name(name).ok().map(|()| [home.own_path(name), home.contact_path(name)]);
    let paths = named.into_iter().flatten().chain([PathBuf::from(name)]);
    let path = paths.into_iter().find(|path| home::may_exist(path)).ok_or_else(|| {
        let message =
            format!("no key {}: no such name in {}, and no such file", bytes(name.as_bytes()), shown(&home.folder));
        Failure::usage(message, super::hint(name, home.names()))
    })?;
    public(&path, passphrases)
}

/// Returns the public part from the file beside the key, or else from the key itself, which may take its passphrase.
fn public(path: &Path, passphrases: &Passphrases) -> Result<PublicKey, Failure> {
    if let Some(public) = home::public_of(path)? {
        return Ok(public);
    }
    match protect::only(path)? {
        Found::Protected(locked) => Ok(protect::unlock(path, &locked, passphrases)?.public().clone()),
        Found::Private(key) => Ok(key.public().clone()),
        Found::Public(key) => Ok(key),
    }
}
