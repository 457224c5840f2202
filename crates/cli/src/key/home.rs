//! The key folder. The key folder contains the user's own keys (`NAME.key`, with the public part `NAME.pub`) and a
//! folder `contacts` with the public keys of other people (`NAME.pub`). The key folder also contains a file `default`
//! with the name of the default key.

mod default;
pub mod make;
mod pair;
mod permissions;
mod signing;

use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::place::held;
use crate::place::partial::{Attributes, Partial, failure, folder_of};
use crate::place::sealed::begins_sealed;
use crate::tell::failure::Failure;
use crate::tell::shown::planted_by;
use crate::tell::shown::{count, shown};
use deadpan_disk::{About, Error, Folder, Handle, Input, OpenMode, Planted, Replace, is_root, keep};
use deadpan_seal::key::{self, Found};
use deadpan_seal::{PublicKey, Secret};
pub use pair::{beside, check_pair, public_of, public_path, refuse_existing, write_pair, write_public};
pub use signing::{DEFAULT_NAME, Public, check_pair as check_signing_pair, seals, signs, verifying_of};

/// What protects a private key without a passphrase from other users.
pub const GUARD: &str = if cfg!(windows) { "access control list" } else { "mode (0600)" };

/// The beginning of age's private keys.
const AGE: &[u8] = b"AGE-SECRET-KEY-";

/// The rules for the name of a key.
pub const VALID_NAME: &str = "letters, digits and -_.@+, not beginning with a dot, a dash or age1, 64 bytes at most";

/// The key folder. The folder may not exist yet.
pub struct Home {
    pub folder: PathBuf,
}

/// One of the user's own keys.
pub struct Own {
    pub name: String,
    /// The file of the private key.
    pub path: PathBuf,
}

/// The public key of another person.
pub struct Contact {
    pub name: String,
    pub path: PathBuf,
}

impl Home {
    /// Returns the folder in `DEADPAN_HOME`, or else `deadpan` in the user's folder for settings: `%APPDATA%` on
    /// Windows, `XDG_CONFIG_HOME` or `~/.config` elsewhere.
    pub fn find() -> Result<Self, Failure> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = variable("DEADPAN_HOME")
            .or_else(|| variable("APPDATA").filter(|_| cfg!(windows)).map(|path| path.join("deadpan")))
            .or_else(|| variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).map(|path| path.join("deadpan")))
            .or_else(|| {
                std::env::home_dir()
                    .filter(|home| !home.as_os_str().is_empty())
                    .map(|home| home.join(".config/deadpan"))
            })
            .ok_or_else(|| Failure::usage("there is no place for keys", "set DEADPAN_HOME to a folder, or HOME"))?;
        Ok(Self { folder })
    }

    pub fn own_path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.key"))
    }

    pub fn contact_path(&self, name: &str) -> PathBuf {
        self.folder.join("contacts").join(format!("{name}.pub"))
    }

    /// Returns the user's own keys that open files, sorted by name. Warns if other users can read or change the key
    /// folder.
    pub fn own(&self) -> Result<Vec<Own>, Failure> {
        let mut all = self.own_of_both_uses()?;
        all.retain(|own| !own.signs());
        Ok(all)
    }

    /// Returns all of the user's own keys, sorted by name: the keys that open files and the keys that sign.
    pub fn own_of_both_uses(&self) -> Result<Vec<Own>, Failure> {
        permissions::check_folder(&self.folder);
        Ok(names(&self.folder, ".key")?.into_iter().map(|name| Own { path: self.own_path(&name), name }).collect())
    }

    pub fn contacts(&self) -> Result<Vec<Contact>, Failure> {
        let names = names(&self.folder.join("contacts"), ".pub")?;
        Ok(names.into_iter().map(|name| Contact { path: self.contact_path(&name), name }).collect())
    }

    /// Returns an error with `hint` if `name` is a contact: only the user's own keys have a private part.
    pub fn refuse_contact(&self, name: &str, hint: &str) -> Result<(), Failure> {
        if check_name(name).is_ok() && self.contact_path(name).exists() {
            Err(Failure::usage(format!("{name} is a contact, and not one of your own keys"), hint))
        } else {
            Ok(())
        }
    }

    /// Returns the names of public keys in the key folder whose private keys are missing, sorted.
    pub fn without_private(&self) -> Result<Vec<String>, Failure> {
        let mut all = names(&self.folder, ".pub")?;
        all.retain(|name| About::of_name(&self.own_path(name)).is_err_and(|error| error.kind() == ErrorKind::NotFound));
        Ok(all)
    }

    /// Returns the names of the user's own keys, or no names if the folder cannot be read.
    pub fn own_names(&self) -> Vec<String> {
        names(&self.folder, ".key").unwrap_or_default()
    }

    /// Returns the names of the contacts, or no names if the folder cannot be read.
    pub fn contact_names(&self) -> Vec<String> {
        names(&self.folder.join("contacts"), ".pub").unwrap_or_default()
    }

    /// Returns the names of all keys: first the user's own keys, then the contacts.
    pub fn names(&self) -> Vec<String> {
        [self.own_names(), self.contact_names()].concat()
    }

    /// Returns the name of the user's key in the file `path`. Returns `None` if a key of the user cannot have this
    /// path. The file need not exist.
    pub fn name_of<'a>(&self, path: &'a Path) -> Option<&'a str> {
        let name = path.file_name()?.to_str()?.strip_suffix(".key")?;
        Some(name).filter(|name| self.holds(path) && check_name(name).is_ok())
    }

    /// Whether the path `path` is in the key folder. The file need not exist.
    pub fn holds(&self, path: &Path) -> bool {
        let folder = folder_of(path);
        folder == self.folder
            || folder.canonicalize().is_ok_and(|it| self.folder.canonicalize().is_ok_and(|own| own == it))
    }

    /// If `path` is in the key folder, makes the folder of `path`, with access only for its owner.
    pub fn make_folder_of(&self, path: &Path) -> Result<(), Failure> {
        let folder = folder_of(path);
        if !folder.starts_with(&self.folder) {
            return Ok(());
        }
        held::own_or_make(folder, 0o700).map(drop).map_err(|error| match error {
            Error::Planted(found) => planted_key(&found),
            Error::System(_, error) => Failure::path("create", folder, &error),
            error => failure(folder, error),
        })
    }
}

impl Own {
    /// Returns the key's public part, or `None` if reading the public part needs the passphrase.
    pub fn public(&self) -> Result<Option<PublicKey>, Failure> {
        pair::public_of(&self.path)
    }
}

/// Whether a file of this name exists. Also returns true for a file in a folder that the user may not enter, so that a
/// later read reports the missing permission.
pub fn may_exist(path: &Path) -> bool {
    About::of_path(path).map_or_else(|error| error.kind() == ErrorKind::PermissionDenied, |_| true)
}

/// Whether a text has the form of a fingerprint. A text in the form of a fingerprint is never a name: it always stands
/// for the key with this fingerprint.
pub fn is_fingerprint(text: &str) -> bool {
    text.split('-').map(str::len).eq([4, 4, 4, 4, 4, 4, 2])
        && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_alphanumeric())
}

/// Checks a name for a key. A name must be valid for a file on every system, and must not look like an option, a path,
/// an age recipient or a fingerprint.
pub fn check_name(name: &str) -> Result<(), Failure> {
    if is_fingerprint(name) {
        let hint = "a fingerprint stands for the key that has it; choose the name of a person or a purpose";
        return Err(Failure::usage(format!("{name} looks like a fingerprint, and is no name for a key"), hint));
    }
    let is_allowed = |character: char| character.is_alphanumeric() || "-_.@+".contains(character);
    if name.is_empty()
        || name.len() > 64
        || name.starts_with(['.', '-'])
        || name.starts_with("age1")
        || !name.chars().all(is_allowed)
    {
        return Err(Failure::usage(
            format!("{} is not a valid name for a key", crate::tell::shown::bytes(name.as_bytes())),
            VALID_NAME,
        ));
    }
    Ok(())
}

/// Reads all keys in a file. Warns if other users can read a private key.
pub fn read(path: &Path) -> Result<Vec<Found>, Failure> {
    let (text, about) = text(path)?;
    keys_in(path, &text, &about)
}

/// Warns if other users can read a file that holds a secret.
pub fn check_private(path: &Path, about: &About) {
    permissions::check_key(path, about);
}

pub fn is_public(found: &Found) -> bool {
    matches!(found, Found::Public(_) | Found::Verifying(_) | Found::Ssh(_) | Found::PluginRecipient(_))
}

/// Returns all keys in the text of the file `path`. Warns if other users can read a private key.
pub fn keys_in(path: &Path, text: &[u8], about: &About) -> Result<Vec<Found>, Failure> {
    let found = key::read(text).map_err(|error| Failure::key(&shown(path), &error))?;
    if !found.iter().all(is_public) {
        permissions::check_key(path, about);
    } else if Home::find().is_ok_and(|home| path.starts_with(&home.folder)) {
        // A public key outside the key folder usually belongs to the person who sent it.
        permissions::check_owner(path, about);
    }
    Ok(found)
}

pub fn planted_key(found: &Planted) -> Failure {
    Failure::usage(planted_by(found), "choose a folder of your own for keys, with DEADPAN_HOME or -o")
}

/// Reads the text of a key file.
pub fn text(path: &Path) -> Result<(Secret, About), Failure> {
    let input = open(path)?;
    Ok((text_of(path, &input)?, input.about))
}

/// Reads the text of a file in a key folder, also in the key folder of another machine.
pub fn kept_text(path: &Path) -> Result<Secret, Failure> {
    text_of(path, &open_as(path, true)?)
}

fn open(path: &Path) -> Result<Input, Failure> {
    open_as(path, Home::find().is_ok_and(|home| path.starts_with(&home.folder)))
}

/// Opens a key file. `is_kept` is true for a file in a key folder. Keys may come from a pipe, but a pipe in a key
/// folder has no writer.
fn open_as(path: &Path, is_kept: bool) -> Result<Input, Failure> {
    let mode = if is_kept { OpenMode::default() } else { OpenMode::WAITING };
    let input = held::open(path, mode).map_err(|error| Failure::path("read", path, &error))?;
    if is_kept && !input.about.is_file() {
        Err(Failure::usage(format!("{} is not a file", shown(path)), "remove it; a key is in a file"))
    } else {
        Ok(input)
    }
}

fn text_of(path: &Path, input: &Input) -> Result<Secret, Failure> {
    deadpan_files::key_text(input, path).map_err(|error| match error {
        deadpan_files::Error::Read { error, .. } => Failure::path("read", path, &error),
        error => {
            Failure::usage(error.to_string(), "a key file has at most one mebibyte; check that it is the right file")
        }
    })
}

/// Writes a key file, and waits until it is on the disk.
pub fn write(path: &Path, text: &[u8], mode: u32, replace: bool) -> Result<(), Failure> {
    finish(Partial::create(path)?, path, text, mode, replace)
}

/// Writes a key file into an open folder, and waits until it is on the disk.
fn write_in(folder: &Folder, path: &Path, text: &[u8], mode: u32, replace: bool) -> Result<(), Failure> {
    finish(Partial::create_in(folder, path)?, path, text, mode, replace)
}

fn finish(partial: Partial, path: &Path, text: &[u8], mode: u32, replace: bool) -> Result<(), Failure> {
    let failed = |error| Failure::path("write", path, &error);
    partial.file().write_all(text).map_err(failed)?;
    // If root writes to the key folder of another user, that user becomes the owner of the file.
    let folder = partial.draft().folder().about().map_err(failed)?;
    if is_root() && folder.owner != 0 && Home::find().is_ok_and(|home| path.starts_with(&home.folder)) {
        partial.file().set_owner(Some(folder.owner), folder.group).map_err(failed)?;
    }
    partial.land(Attributes { mode, modified: None }, Replace::any_if(replace), true)
}

/// A key file that stays open while the user is asked for a passphrase, so that later no other file is replaced.
pub struct KeyFile {
    path: PathBuf,
    input: Input,
    text: Secret,
}

impl KeyFile {
    /// Opens the file. Refuses a link of another user, since this link could lead to another key.
    pub fn find(path: &Path) -> Result<Self, Failure> {
        let input = open(path)?;
        match &input.found.link {
            Some(link) => Err(Failure::usage(planted_by(link), "name the key itself, without the link")),
            None => Ok(Self { path: path.to_owned(), text: text_of(path, &input)?, input }),
        }
    }

    /// Reads the key. Fails if the file has several keys, since writing back one key would lose the other keys.
    pub fn only(&self) -> Result<Found, Failure> {
        let Self { path, input, text } = self;
        let mut found = keys_in(path, text, &input.about)?;
        match (found.pop(), found.is_empty()) {
            (Some(key), true) => Ok(key),
            _ => Err(Failure::usage(
                format!("{} holds several keys", shown(path)),
                "put each into a file of its own first",
            )),
        }
    }

    /// Whether the file is an identity file of age. When the program replaces an identity file of age, the new file
    /// contains PEM.
    pub fn is_of_age(&self) -> bool {
        self.text.windows(AGE.len()).any(|part| part.eq_ignore_ascii_case(AGE))
    }

    /// Whether the file is sealed itself: an age file with identities, which opens with its passphrase.
    pub fn is_sealed(&self) -> bool {
        begins_sealed(&self.text)
    }

    /// Returns a note if the file has other hard links, since those links keep the old key.
    pub fn other_names(&self) -> Option<String> {
        let others = self.input.about.links.checked_sub(1).filter(|others| *others > 0)?;
        let names = count(others, "other hard link", "other hard links");
        Some(format!("the key has {names}, and there it is as before"))
    }

    /// Replaces the file, and waits until the new file is on the disk. If the path is a link, replaces the file that
    /// the link leads to.
    pub fn replace(self, text: &[u8]) -> Result<(), Failure> {
        let Self { path, input, text: _ } = self;
        let real = input.found.real.ok_or_else(|| failure(&path, Error::Changed))?;
        let failed = |error| Failure::path("write", &path, &error);
        let partial = Partial::create_at(&real, &path)?;
        partial.file().write_all(text).map_err(failed)?;
        keep(partial.file(), &input.file, false).map_err(|error| failure(&path, error))?;
        // Only the owner can access the new file, and its time is the current time, whatever mode and time the old file
        // had.
        partial.file().set_private().and_then(|()| partial.file().set_modified(SystemTime::now())).map_err(failed)?;
        partial.land_dressed(Replace::Only(input.about.id), true)
    }
}

/// Whether the path exists and is neither a file nor a link to a file. A path that is not a file is not read, because
/// reading a FIFO waits for a writer.
fn is_no_file(path: &Path) -> bool {
    About::of_path(path).is_ok_and(|about| !about.is_file())
}

/// Returns the names of the files with this extension, sorted and without the extension.
fn names(folder: &Path, ending: &str) -> Result<Vec<String>, Failure> {
    let failed = |error| Failure::path("read", folder, &error);
    let entries = match held::way(folder).and_then(|way| way.folder().entries()) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let (file, _) = entry.map_err(failed)?;
        let name = file.to_str().and_then(|name| name.strip_suffix(ending));
        if let Some(name) = name.filter(|name| check_name(name).is_ok() && !is_no_file(&folder.join(&file))) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
