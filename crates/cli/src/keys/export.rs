//! A public key, to give away.

use crate::failure::Failure;
use crate::home::{self, Home};
use crate::report::print;
use crate::shown::{bytes, shown};
use deadpan_seal::PublicKey;
use deadpan_seal::key;
use std::path::{Path, PathBuf};

pub fn run(home: &Home, name: Option<&str>, age: bool) -> Result<(), Failure> {
    let key = find(home, name)?;
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

fn find(home: &Home, name: Option<&str>) -> Result<PublicKey, Failure> {
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
    public(&path)
}

fn public(path: &Path) -> Result<PublicKey, Failure> {
    home::public_of(path)?.ok_or_else(|| {
        let hint = "take its passphrase off for a moment: deadpan keys unprotect";
        Failure::usage(format!("the public part of {} does not lie beside it, and only its passphrase could tell", shown(path)), hint)
    })
}
