//! The pictures that a run makes. They get their names together, when all of them are complete.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File, FileType};
use std::io::{self, ErrorKind};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::claims::Claims;
use crate::failure::Failure;
use crate::input::Source;
use crate::output::Place;
use crate::partial::set::{self, is_a_folder, is_no_file};
use crate::partial::{Attributes, Landing, Partial, exists, folder_of, no_folder};
use crate::picture::shape::ending;
use crate::shown::{count as counted, shown};
use deadpan_picture::Format;

/// The least number of digits in the number of a picture.
const DIGITS: usize = 3;

/// The names of the pictures of a set: `NAME.png` for one picture, `NAME-001.png` and so on for several.
#[derive(Clone, Debug)]
pub struct Names {
    /// The path without number and ending.
    base: PathBuf,
    ending: OsString,
}

impl Names {
    /// Makes the names from a path, which may end as pictures of this format do. The ending stays as it is.
    pub fn given(path: &Path, format: Format) -> Self {
        match path.extension().filter(|found| found.eq_ignore_ascii_case(ending(format))) {
            Some(found) => Self { base: path.with_extension(""), ending: found.into() },
            None => Self::of_input(path, format),
        }
    }

    /// Makes the names from the name of the input, whose ending belongs to the input.
    pub fn of_input(path: &Path, format: Format) -> Self {
        Self { base: path.to_owned(), ending: ending(format).into() }
    }

    /// Returns the name of a picture, one of `count`.
    pub fn of(&self, index: u32, count: u32) -> PathBuf {
        let mut name = OsString::from(self.base.file_name().unwrap_or_default());
        if count > 1 {
            let digits = count.to_string().len().max(DIGITS);
            name.push(format!("-{:0digits$}", index + 1));
        }
        name.push(".");
        name.push(&self.ending);
        self.base.with_file_name(name)
    }

    /// Returns the name that stands for the set in messages.
    pub fn set(&self) -> PathBuf {
        self.of(0, 1)
    }

    /// Refuses names that exist, unless they are to be replaced, and names of inputs. Other pictures with names like
    /// those of the set are refused, too: they would mix with the set. `count` is `None` as long as it is unknown.
    pub fn check(&self, count: Option<u32>, force: bool, claims: &Claims) -> Result<(), Failure> {
        let known = count.unwrap_or(1);
        for index in [0, known.saturating_sub(1)] {
            let path = self.of(index, known);
            match fs::symlink_metadata(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    return Err(Failure::path("create", &path, &error));
                }
                _ => {}
            }
        }
        let mine: HashSet<_> = (0..known).map(|index| self.of(index, known)).collect();
        let mut others = Vec::new();
        for (path, kind) in self.existing()? {
            let is_input = claims.is_input(&path);
            // As long as the number of pictures is unknown, an input may have none of their names.
            if !mine.contains(&path) || is_input && count.is_none() {
                let is_other = (kind.is_file() || kind.is_symlink()) && !is_input;
                others.extend(is_other.then_some(path));
            } else if !force {
                return Err(exists(&path));
            } else if kind.is_dir() {
                return Err(is_a_folder(&path));
            } else if !kind.is_file() && !kind.is_symlink() {
                return Err(is_no_file(&path));
            } else {
                claims.check(&Place::Given(path), &Source::Stdin)?;
            }
        }
        match others.first() {
            // They may be among those that are replaced.
            Some(other) if count.is_none() => {
                if force {
                    Ok(())
                } else {
                    Err(exists(other))
                }
            }
            Some(other) => Err(Failure::usage(
                match others.len() - 1 {
                    0 => format!("{} exists already, and would mix with the new pictures", shown(other)),
                    more => format!(
                        "{} and {} exist already, and would mix with the new pictures",
                        shown(other),
                        counted(more as u64, "more picture", "more pictures")
                    ),
                },
                "remove what is not needed any more, or choose another name with -o",
            )),
            None => Ok(()),
        }
    }

    /// Returns the files that have names like those of the pictures, in order.
    fn existing(&self) -> Result<Vec<(PathBuf, FileType)>, Failure> {
        let set = self.set();
        let folder = folder_of(&set);
        let entries = fs::read_dir(folder).map_err(|error| match error.kind() {
            ErrorKind::NotFound => no_folder(&set),
            _ => Failure::path("create", &set, &error),
        })?;
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|error| Failure::path("read", folder, &error))?;
            if self.are_like(entry.file_name().as_bytes()) {
                let kind = entry.file_type().map_err(|error| Failure::path("read", &entry.path(), &error))?;
                found.push((self.base.with_file_name(entry.file_name()), kind));
            }
        }
        found.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(found)
    }

    /// Whether a picture of a set with this base, of any size, can have this name. The case of the ending is ignored.
    fn are_like(&self, name: &[u8]) -> bool {
        let base = self.base.file_name().unwrap_or_default().as_bytes();
        let Some(rest) = name.strip_prefix(base) else { return false };
        let number = match rest.iter().rposition(|byte| *byte == b'.') {
            Some(dot) if rest[dot + 1..].eq_ignore_ascii_case(self.ending.as_bytes()) => &rest[..dot],
            _ => return false,
        };
        let is_number = |number: &[u8]| number.len() >= DIGITS && number.iter().all(u8::is_ascii_digit);
        number.is_empty() || number.strip_prefix(b"-").is_some_and(is_number)
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
        let made = match partials.values().next() {
            Some(other) => other.another(),
            None => Partial::create(&self.names.set()),
        };
        let partial = made.map_err(|failure| {
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

    /// Gives all pictures their names, or none.
    pub fn land(self, force: bool, sync: bool, claims: &Claims) -> Result<Vec<PathBuf>, Failure> {
        let partials = self.partials.into_inner().unwrap_or_else(PoisonError::into_inner);
        let count = u32::try_from(partials.len()).unwrap_or(u32::MAX);
        self.names.check(Some(count), force, claims)?;
        let paths: Vec<_> = partials.keys().map(|index| self.names.of(*index, count)).collect();
        let files = partials.into_values().zip(paths.iter().cloned()).collect();
        set::land(files, Attributes::usual(), Landing { replace: force, sync })?;
        Ok(paths)
    }
}
