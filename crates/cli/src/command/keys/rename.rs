//! `deadpan keys rename`: gives a key of the user or a contact another name.

use std::io::{self, ErrorKind};
use std::path::Path;

use crate::key::home::{self, Home};
use crate::place::held;
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_disk::{Error, Folder, Way};

pub fn rename(home: &Home, old: &str, new: &str) -> Result<(), Failure> {
    for name in [home.own_path(new), home.contact_path(new)] {
        if name.exists() {
            let what = if name == home.own_path(new) { "a key of yours" } else { "a contact" };
            return Err(Failure::usage(format!("{new} is {what} already"), "choose another name"));
        }
    }
    if home.own_path(old).exists() {
        let is_default = home.default_key()?.is_some_and(|default| default.name == old);
        let folder = folder_of(&home.folder)?;
        move_new(&folder, &format!("{old}.key"), &format!("{new}.key"))?;
        match move_new(&folder, &format!("{old}.pub"), &format!("{new}.pub")) {
            Err(Renaming::Missing) => {}
            Err(error) => {
                // The two files belong together.
                let _ = move_new(&folder, &format!("{new}.key"), &format!("{old}.key"));
                return Err(error.into());
            }
            Ok(()) => {}
        }
        if is_default {
            home.record(new)?;
        }
    } else if home.contact_path(old).exists() {
        let folder = folder_of(home.contact_path(old).parent().unwrap_or(Path::new(".")))?;
        move_new(&folder, &format!("{old}.pub"), &format!("{new}.pub"))?;
    } else {
        let hint = super::hint(old, home.names());
        return Err(Failure::usage(format!("there is no key and no contact {old} in {}", shown(&home.folder)), hint));
    }
    say(&format!("{old} is {new} now"));
    Ok(())
}

enum Renaming {
    Missing,
    Failed(Failure),
}

impl From<Renaming> for Failure {
    fn from(error: Renaming) -> Self {
        match error {
            Renaming::Missing => Self::usage("the key was removed meanwhile", "list the keys with: deadpan keys"),
            Renaming::Failed(failure) => failure,
        }
    }
}

fn folder_of(path: &Path) -> Result<Folder, Failure> {
    let failed = |error: &io::Error| Failure::path("open", path, error);
    match held::way(path).map_err(Error::of_folder).and_then(Way::unplanted) {
        Ok(folder) => Ok(folder),
        Err(Error::Planted(planted)) => Err(home::planted_key(&planted)),
        Err(Error::System(_, error)) => Err(failed(&error)),
        Err(_) => Err(failed(&ErrorKind::NotFound.into())),
    }
}

/// Renames a file, and replaces none.
fn move_new(folder: &Folder, from: &str, to: &str) -> Result<(), Renaming> {
    folder.rename_new(from.as_ref(), to.as_ref()).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Renaming::Missing,
        _ => Renaming::Failed(Failure::path("rename", &folder.path_of(from.as_ref()), &error)),
    })
}
