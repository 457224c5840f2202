//! `deadpan keys rename`: gives one of the user's own keys or a contact another name.

use std::io::{self, ErrorKind};

use crate::command::keys::{folder, hint};
use crate::key::home::Home;
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_disk::{Folder, parent as folder_of};

pub fn rename(home: &Home, old: &str, new: &str) -> Result<(), Failure> {
    for (path, what) in [(home.own_path(new), "a key of yours"), (home.contact_path(new), "a contact")] {
        if path.exists() {
            return Err(Failure::usage(format!("{new} is {what} already"), "choose another name"));
        }
    }
    let (own, contact) = (home.own_path(old), home.contact_path(old));
    let path = [&own, &contact].into_iter().find(|path| path.exists()).ok_or_else(|| {
        let message = format!("there is no key and no contact {old} in {}", shown(&home.folder));
        Failure::usage(message, hint(old, home.names()))
    })?;
    let is_default = path == &own && home.default_key()?.is_some_and(|default| default.name == old);
    let renamed = folder(folder_of(path))?.and_then(|folder| {
        if path == &own { rename_pair(&folder, old, new) } else { rename_file(&folder, old, new, "pub") }
    });
    renamed.map_err(|error| Failure::path("rename", path, &error))?;
    if is_default {
        home.record(new)?;
    }
    say(&format!("{old} is {new} now"));
    Ok(())
}

/// Renames the private key, and the public key beside it if there is one. Renames both files or none.
fn rename_pair(folder: &Folder, old: &str, new: &str) -> io::Result<()> {
    rename_file(folder, old, new, "key")?;
    match rename_file(folder, old, new, "pub") {
        Err(error) if error.kind() != ErrorKind::NotFound => rename_file(folder, new, old, "key").and(Err(error)),
        _ => Ok(()),
    }
}

/// Replaces no file.
fn rename_file(folder: &Folder, old: &str, new: &str, ending: &str) -> io::Result<()> {
    folder.rename_new(format!("{old}.{ending}").as_ref(), format!("{new}.{ending}").as_ref())
}
