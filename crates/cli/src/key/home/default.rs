//! The default key: one of the user's own keys, to which a file is sealed when no recipient is given.
//!
//! The file `default` of the key folder contains the name of the default key. A new key therefore never changes the key
//! to which files are sealed. A key folder that an older version made, or that was made by hand, does not have a file
//! `default`. The file `default` is written when the default key is needed for the first time.

use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::{Home, Own, check_name, permissions, write};
use crate::key::mode::mode_name;
use crate::place::held;
use crate::tell::console::say;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_disk::{About, OpenMode};
use deadpan_seal::Mode;

/// The maximum number of bytes to read from the file `default`.
const LONGEST: u64 = 1 << 20;

/// Advice if the recorded default key cannot be used.
const CHOOSE: &str = "choose one with: deadpan keys default NAME";

impl Home {
    /// Returns the default key: the recorded key, or, if no key is recorded, the key that [`Home::settle_default`]
    /// chooses.
    pub fn default_key(&self) -> Result<Option<Own>, Failure> {
        Ok(self.default()?.map(|(own, _)| own))
    }

    /// Returns the default key, and whether it is recorded.
    fn default(&self) -> Result<Option<(Own, bool)>, Failure> {
        permissions::check_folder(&self.folder);
        // If the key folder cannot be read, the failure is about the folder.
        let recorded = self.recorded().or_else(|failure| self.own().and(Err(failure)))?;
        // Usually the recorded key exists, and then no other key need be read.
        if let Some(name) = &recorded {
            let own = Own { name: name.clone(), path: self.own_path(name) };
            if About::of_path(&own.path).is_ok_and(|about| about.is_file()) && !own.signs() {
                return Ok(Some((own, true)));
            }
        }
        let mut keys = self.own()?;
        match recorded.filter(|_| !keys.is_empty()) {
            None => Ok(candidate(&mut keys).map(|own| (own, false))),
            Some(name) => Err(Failure::usage(format!("your default key {name} does not exist any more"), CHOOSE)),
        }
    }

    /// Returns the default key, and records it if no key is recorded yet. Returns `None` if there is no key.
    pub fn settle_default(&self) -> Result<Option<Own>, Failure> {
        let own = match self.default()? {
            None => return Ok(None),
            Some((own, true)) => return Ok(Some(own)),
            Some((own, false)) => own,
        };
        // An error is ignored: nobody can add a key to a key folder that cannot be written to, so the default key stays
        // the same. Another run of the program may record a key at the same time.
        let recorded = write(&self.record_path(), line(&own.name).as_bytes(), 0o600, false);
        if recorded.is_ok() && self.own()?.len() > 1 {
            say(&format!("note: {} is your default key from now on", own.name));
            say("hint: choose another one with: deadpan keys default NAME");
        }
        Ok(Some(own))
    }

    /// Returns the user's own key for `mode`: the key `default` if it has this mode, or else the only one of the user's
    /// keys with this mode.
    pub fn key_of_mode(&self, default: Own, mode: Mode) -> Result<Option<Own>, Failure> {
        if mode_of(&default) == Some(mode) {
            return Ok(Some(default));
        }
        let mut keys: Vec<_> = self.own()?.into_iter().filter(|own| mode_of(own) == Some(mode)).collect();
        if keys.len() > 1 {
            let names: Vec<_> = keys.iter().map(|own| own.name.as_str()).collect();
            let message = format!("several of your keys are {}: {}", mode_name(mode), names.join(", "));
            return Err(Failure::usage(
                message,
                "name one with -r, or make it your default with: deadpan keys default NAME",
            ));
        }
        // A new key would get this name. If the mode of the key with this name is unknown, only the passphrase can show
        // the mode.
        let unknown = || Some(mode_name(mode)).filter(|name| self.own_path(name).exists());
        let named = || unknown().map(|name| Own { path: self.own_path(name), name: name.to_owned() });
        Ok(keys.pop().or_else(named))
    }

    /// Records the default key.
    pub fn record(&self, name: &str) -> Result<(), Failure> {
        write(&self.record_path(), line(name).as_bytes(), 0o600, true)
    }

    fn record_path(&self) -> PathBuf {
        self.folder.join("default")
    }

    /// Returns the name in the file `default`, or `None` if the file does not exist.
    pub fn recorded(&self) -> Result<Option<String>, Failure> {
        let path = self.record_path();
        match read_all(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(Failure::path("read", &path, &error)),
            Ok(text) => match str::from_utf8(&text).map(str::trim_end) {
                Ok(name) if check_name(name).is_ok() => Ok(Some(name.to_owned())),
                _ => Err(Failure::usage(format!("{} does not hold the name of a key", shown(&path)), CHOOSE)),
            },
        }
    }
}

/// Reads at most the first [`LONGEST`] bytes of the record, since a name is shorter.
fn read_all(path: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    held::open(path, OpenMode::default())?.file.take(LONGEST).read_to_end(&mut text)?;
    Ok(text)
}

fn line(name: &str) -> String {
    format!("{name}\n")
}

/// Removes and returns the strongest key, which becomes the default key if no key is recorded. Among equally strong
/// keys, chooses the key with the shortest name. Older versions used this rule to choose the key to which they sealed
/// files.
fn candidate(keys: &mut Vec<Own>) -> Option<Own> {
    let strength = |own: &Own| {
        let order = [Some(Mode::Hybrid), Some(Mode::Pqc), Some(Mode::Ecc), None];
        order.iter().position(|mode| *mode == mode_of(own))
    };
    let chosen = (0..keys.len()).min_by_key(|index| {
        let own = &keys[*index];
        (strength(own), own.name.len(), own.name.clone())
    })?;
    Some(keys.swap_remove(chosen))
}

/// Returns the mode of a key, or `None` if only the passphrase can show the mode.
fn mode_of(own: &Own) -> Option<Mode> {
    own.public().ok().flatten().map(|public| public.kem().mode())
}
