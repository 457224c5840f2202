//! The pictures that a run makes. They get their names together, when all of them are complete.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::claims::Claims;
use crate::failure::Failure;
use crate::input::Source;
use crate::output::Place;
use crate::partial::{Attributes, Landing, Partial, exists};
use crate::picture::shape::ending;
use crate::signals;
use deadpan_picture::Format;

/// The names of the pictures of a set: `NAME.png` for one picture, `NAME-001.png` and so on for several.
#[derive(Clone, Debug)]
pub struct Names {
    /// The path without number and ending.
    base: PathBuf,
    format: Format,
}

impl Names {
    pub fn new(base: PathBuf, format: Format) -> Self {
        Self { base, format }
    }

    /// Returns the name of a picture, one of `count`.
    pub fn of(&self, index: u32, count: u32) -> PathBuf {
        let mut name = OsString::from(self.base.file_name().unwrap_or_default());
        if count > 1 {
            let digits = count.to_string().len().max(3);
            name.push(format!("-{:0digits$}", index + 1));
        }
        name.push(format!(".{}", ending(self.format)));
        self.base.with_file_name(name)
    }

    /// Refuses names that exist, unless they are to be replaced, and names of inputs.
    pub fn check(&self, count: u32, force: bool, claims: &Claims) -> Result<(), Failure> {
        for index in 0..count {
            let path = self.of(index, count);
            if !force && fs::symlink_metadata(&path).is_ok() {
                return Err(exists(&path));
            }
            if fs::symlink_metadata(&path).is_ok_and(|about| about.is_dir()) {
                return Err(Failure::usage(
                    format!("{} is a folder", crate::shown::shown(&path)),
                    "choose another name with -o",
                ));
            }
            claims.check(&Place::Given(path), &Source::Stdin)?;
        }
        Ok(())
    }
}

/// Pictures without names.
pub struct Drafts {
    names: Names,
    partials: Mutex<BTreeMap<u32, Partial>>,
    /// The failure behind an error that the library passed on.
    failure: Mutex<Option<Failure>>,
}

impl Drafts {
    pub fn new(names: Names) -> Self {
        Self { names, partials: Mutex::default(), failure: Mutex::default() }
    }

    /// Opens the file of a picture, and makes it at first.
    pub fn open(&self, index: u32) -> io::Result<File> {
        let mut partials = self.partials.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(partial) = partials.get(&index) {
            return partial.file().try_clone();
        }
        // The number of pictures can be unknown yet. The names are chosen again in the end.
        let partial = Partial::create(&self.names.of(index, u32::MAX)).map_err(|failure| {
            let error = io::Error::other(failure.message.clone());
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(failure);
            error
        })?;
        let file = partial.file().try_clone()?;
        partials.insert(index, partial);
        Ok(file)
    }

    /// Returns the failure of making a draft, or else `failure`, which it may have caused.
    pub fn blame(&self, failure: Failure) -> Failure {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or(failure)
    }

    /// Gives all pictures their names. If one fails, or a signal comes, none of the new names stays.
    pub fn land(self, force: bool, sync: bool, claims: &Claims) -> Result<Vec<PathBuf>, Failure> {
        let partials = self.partials.into_inner().unwrap_or_else(PoisonError::into_inner);
        let count = u32::try_from(partials.len()).unwrap_or(u32::MAX);
        self.names.check(count, force, claims)?;
        let made = Arc::new(Mutex::new(Vec::new()));
        let landed = Arc::clone(&made);
        let guard = signals::guard(move || remove(&landed));
        let mut paths = Vec::new();
        for (index, mut partial) in partials {
            let path = self.names.of(index, count);
            let is_new = fs::symlink_metadata(&path).is_err();
            partial.rename(&path);
            partial.land(Attributes::usual(), Landing { replace: force, sync })?;
            if is_new {
                made.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
            }
            paths.push(path);
        }
        let _ = guard.settle(|| Ok::<(), Failure>(()));
        Ok(paths)
    }
}

fn remove(paths: &Mutex<Vec<PathBuf>>) {
    let mut paths = paths.lock().unwrap_or_else(PoisonError::into_inner);
    for path in paths.drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// Returns the path without an ending of this format.
pub fn without_ending(path: &Path, format: Format) -> PathBuf {
    match path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending(format))) {
        true => path.with_extension(""),
        false => path.to_owned(),
    }
}
