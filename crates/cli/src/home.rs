//! The key folder: one's own keys (`NAME.key`, and `NAME.pub` beside it), and in `contacts` the public keys of others (`NAME.pub`).

use crate::failure::Failure;
use crate::partial::{Landing, Partial};
use crate::shown::shown;
use deadpan_seal::key::{self, Found};
use deadpan_seal::{Mode, PrivateKey, PublicKey, Secret};
use std::fs::{self, DirBuilder, File, Permissions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The longest file that is read in search of keys.
const LONGEST: usize = 1 << 20;

/// The key folder, whether it exists or not.
pub struct Home {
    pub folder: PathBuf,
}

/// One of the user's own keys.
pub struct Own {
    pub name: String,
    /// The private part.
    pub path: PathBuf,
}

/// Somebody else's key.
pub struct Contact {
    pub name: String,
    pub path: PathBuf,
}

impl Home {
    /// `DEADPAN_HOME`, or `deadpan` in the user's folder for settings.
    pub fn find() -> Result<Self, Failure> {
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let folder = variable("DEADPAN_HOME")
            .or_else(|| variable("XDG_CONFIG_HOME").filter(|path| path.is_absolute()).map(|path| path.join("deadpan")))
            .or_else(|| std::env::home_dir().filter(|home| !home.as_os_str().is_empty()).map(|home| home.join(".config/deadpan")))
            .ok_or_else(|| Failure::usage("there is no place for keys", "set DEADPAN_HOME to a folder, or HOME"))?;
        Ok(Self { folder })
    }

    /// The own key called `name`.
    pub fn own_path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.key"))
    }

    pub fn contact_path(&self, name: &str) -> PathBuf {
        self.folder.join("contacts").join(format!("{name}.pub"))
    }

    /// One's own keys, by name.
    pub fn own(&self) -> Result<Vec<Own>, Failure> {
        Ok(names(&self.folder, ".key")?.into_iter().map(|name| Own { path: self.own_path(&name), name }).collect())
    }

    pub fn contacts(&self) -> Result<Vec<Contact>, Failure> {
        let names = names(&self.folder.join("contacts"), ".pub")?;
        Ok(names.into_iter().map(|name| Contact { path: self.contact_path(&name), name }).collect())
    }

    /// Makes the folder of `path`, for its owner only.
    pub fn make_folder_of(&self, path: &Path) -> Result<(), Failure> {
        let folder = path.parent().unwrap_or(&self.folder);
        if !folder.starts_with(&self.folder) {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| Failure::path("create", folder, &error))
    }

    /// Which of one's own keys a file is sealed to when nobody else is named: of the wanted mode, or of the strongest there is.
    pub fn default_key(&self, mode: Option<Mode>) -> Result<Option<(Own, PublicKey)>, Failure> {
        let mut keys = Vec::new();
        for own in self.own()? {
            if let Some(public) = own.public()? {
                keys.push((own, public));
            }
        }
        let order = |mode: Mode| [Mode::Hybrid, Mode::Pqc, Mode::Ecc].iter().position(|other| *other == mode);
        keys.retain(|(_, public)| mode.is_none_or(|mode| public.kem().mode() == mode));
        Ok(keys.into_iter().min_by_key(|(own, public)| (order(public.kem().mode()), own.name.len(), own.name.clone())))
    }
}

impl Own {
    /// Its public part, from the file beside it, or from itself; `None` if only the passphrase could tell.
    pub fn public(&self) -> Result<Option<PublicKey>, Failure> {
        public_of(&self.path)
    }
}

/// The public part of a private key file, as far as it can be known without a passphrase.
pub fn public_of(private: &Path) -> Result<Option<PublicKey>, Failure> {
    let beside = public_path(private);
    if beside.exists() {
        let mut found = read(&beside)?;
        if let (1, Some(Found::Public(public))) = (found.len(), found.pop()) {
            return Ok(Some(public));
        }
        return Err(Failure::usage(
            format!("{} is not a public key", shown(&beside)),
            "remove it, and make it again from the private key: deadpan keys export",
        ));
    }
    Ok(read(private)?.into_iter().find_map(|found| match found {
        Found::Private(key) => Some(key.public().clone()),
        Found::Public(key) => Some(key),
        Found::Protected(_) => None,
    }))
}

/// Where the public part of a private key lies: `NAME.pub` beside `NAME.key`.
pub fn public_path(private: &Path) -> PathBuf {
    if private.extension().is_some_and(|extension| extension == "key") {
        return private.with_extension("pub");
    }
    let mut name = private.as_os_str().to_owned();
    name.push(".pub");
    name.into()
}

/// A name for a key: what is a file's name on every system, and cannot be mistaken for an option, a path or an age recipient.
pub fn check_name(name: &str) -> Result<(), Failure> {
    let is_allowed = |character: char| character.is_alphanumeric() || "-_.@+".contains(character);
    if name.is_empty() || name.len() > 64 || name.starts_with(['.', '-']) || name.starts_with("age1") || !name.chars().all(is_allowed) {
        let hint = "letters, digits and -_.@+, not beginning with a dot, a dash or age1, 64 bytes at most";
        return Err(Failure::usage(format!("{} is no name for a key", crate::shown::bytes(name.as_bytes())), hint));
    }
    Ok(())
}

/// All keys in a file.
pub fn read(path: &Path) -> Result<Vec<Found>, Failure> {
    let failed = |error| Failure::path("read", path, &error);
    let mut file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    let size = if metadata.is_file() { usize::try_from(metadata.len()).unwrap_or(usize::MAX) } else { LONGEST };
    if size > LONGEST {
        return Err(Failure::usage(format!("{} is too long for a key file", shown(path)), "a key file has a mebibyte at most"));
    }
    // It may hold a private key, so it does not lie around in memory afterwards.
    let mut text = Secret::zeroed(size);
    let mut length = 0;
    while length < size {
        match file.read(&mut text[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(failed(error)),
        }
    }
    key::read(&text[..length]).map_err(|error| Failure::key(&shown(path), &error))
}

/// An error if one of the two files of a key is there already.
pub fn refuse_existing(private: &Path) -> Result<(), Failure> {
    let public = public_path(private);
    match [private, &public].into_iter().find(|path| fs::symlink_metadata(path).is_ok()) {
        Some(taken) => {
            Err(Failure::usage(format!("{} exists already", shown(taken)), "keys are never replaced; choose another file with -o"))
        }
        None => Ok(()),
    }
}

/// Writes a private key and beside it its public part. Nothing is replaced.
pub fn write_pair(path: &Path, key: &PrivateKey, text: &[u8]) -> Result<(), Failure> {
    write(path, text, 0o600, false)?;
    write(&public_path(path), key::public_pem(key.public()).as_bytes(), 0o644, false).inspect_err(|_| {
        // Half a pair would stand in the way of the next try.
        let _ = fs::remove_file(path);
    })
}

/// Writes a key file, to the disk.
pub fn write(path: &Path, text: &[u8], mode: u32, replace: bool) -> Result<(), Failure> {
    let failed = |error| Failure::path("write", path, &error);
    let partial = Partial::create(path)?;
    partial.file().write_all(text).map_err(failed)?;
    partial.file().set_permissions(Permissions::from_mode(mode)).map_err(failed)?;
    partial.land(Landing { replace, sync: true })
}

/// The names of the files with this ending, in order.
fn names(folder: &Path, ending: &str) -> Result<Vec<String>, Failure> {
    let failed = |error| Failure::path("read", folder, &error);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(failed)?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.map_err(failed)?.file_name();
        if let Some(name) = name.to_str().and_then(|name| name.strip_suffix(ending)).filter(|name| check_name(name).is_ok()) {
            names.push(name.to_owned());
        }
    }
    names.sort();
    Ok(names)
}
