//! The pictures that a run makes. All pictures get their names at the same time, when all pictures are complete.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::command::picture::cover;
use crate::command::picture::shape::ending;
use crate::place::claims::Claims;
use crate::place::input::Source;
use crate::place::output::Place;
use crate::place::partial::{Attributes, Partial, exists, folder_of, is_a_folder, is_no_file, land_all};
use crate::tell::failure::Failure;
use crate::tell::shown::{count as counted, shown};
use deadpan_disk::portable::OsStrExt;
use deadpan_disk::{FileKind, Folder, sweep};
use deadpan_picture::Format;
use deadpan_picture::carrier::{Carrier, MOST_PICTURES};

/// The minimum number of digits in the number of a picture.
const DIGITS: usize = 3;
/// The maximum number of name ranges (`a-001.png` to `a-004.png`) in a message.
const RUNS: usize = 5;

/// Returns the name of a single picture for the path `path`. `given` means that the user chose the path, so the path
/// may already have the extension of a picture.
pub fn name_of(path: &Path, format: Format, given: bool) -> PathBuf {
    if given && path.extension().is_some_and(|found| found.eq_ignore_ascii_case(ending(format))) {
        return path.to_owned();
    }
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending(format));
    name.into()
}

/// The names of the pictures of a set: `NAME.png` for one picture, `NAME-001.png` and so on for several.
#[derive(Clone, Debug)]
pub struct DraftNames {
    /// The path without the number and the extension.
    base: PathBuf,
    ending: OsString,
    /// The folder of the pictures.
    folder: Folder,
}

impl DraftNames {
    /// Makes the names from a path that may already have the extension of this picture format. The spelling of this
    /// extension does not change.
    pub fn given(path: &Path, format: Format, folder: Folder) -> Self {
        match path.extension().filter(|found| found.eq_ignore_ascii_case(ending(format))) {
            Some(found) => Self { base: path.with_extension(""), ending: found.into(), folder },
            None => Self::of_input(path, format, folder),
        }
    }

    /// Makes the names from the name of the input. The extension of the input remains a part of the names.
    pub fn of_input(path: &Path, format: Format, folder: Folder) -> Self {
        Self { base: path.to_owned(), ending: ending(format).into(), folder }
    }

    pub fn path_of(&self, index: u32, count: u32) -> PathBuf {
        let mut name = OsString::from(self.base.file_name().unwrap_or_default());
        if count > 1 {
            let digits = count.to_string().len().max(DIGITS);
            name.push(format!("-{:0digits$}", index + 1));
        }
        name.push(".");
        name.push(&self.ending);
        self.base.with_file_name(name)
    }

    /// Returns the name that messages use for the whole set.
    pub fn set(&self) -> PathBuf {
        self.path_of(0, 1)
    }

    /// Makes a file in the folder of the pictures. The file gets its name later.
    pub fn draft(&self) -> Result<Partial, Failure> {
        Partial::create_in(&self.folder, &self.set())
    }

    pub fn shown(&self) -> String {
        shown(self.set())
    }

    pub fn unwritten(&self, error: &io::Error) -> Failure {
        Failure::io("write", &self.shown(), error)
    }

    /// Refuses existing names if `force` is false. Refuses names of inputs. Also fails if other pictures in the folder
    /// have names like the pictures of the set, because users could confuse these pictures with the set. `count` is the
    /// number of pictures, or `None` if this number is not yet known.
    pub fn check(&self, count: Option<u32>, force: bool, claims: &Claims) -> Result<(), Failure> {
        let known = count.unwrap_or(1);
        for index in [0, known.saturating_sub(1)] {
            let path = self.path_of(index, known);
            let found = self.folder.look(path.file_name().unwrap_or_default());
            found.map_err(|error| Failure::path("create", &path, &error))?;
        }
        let mine: HashSet<_> = (0..known).map(|index| self.path_of(index, known)).collect();
        let (mut others, mut replaced) = (Vec::new(), None);
        for found in self.existing(&mine)? {
            let Existing { path, kind, .. } = &found;
            let is_input = claims.is_input(path);
            // As long as the number of pictures is unknown, it is also unknown whether a picture gets the name of this
            // input.
            if !mine.contains(path) || is_input && count.is_none() {
                let is_other = matches!(kind, FileKind::File | FileKind::Link) && !is_input;
                others.extend(is_other.then_some(found));
            } else if *kind == FileKind::Folder {
                return Err(is_a_folder(path));
            } else if !matches!(kind, FileKind::File | FileKind::Link) {
                return Err(is_no_file(path));
            } else {
                claims.check(&Place::Given(path.clone()), &Source::Stdin)?;
                replaced.get_or_insert_with(|| path.clone());
                // In a set of several pictures, each name has a number, so no picture replaces a file without a number
                // in its name.
                others.extend(count.is_none().then_some(found));
            }
        }
        let first = replaced.or_else(|| others.first().map(|first| first.path.clone()));
        // Files that `--force` does not replace are refused first, so that the advice to use `--force` is correct.
        match count {
            Some(_) if !others.is_empty() => return Err(mixing(&others)),
            Some(_) => {}
            None => self.check_any(others)?,
        }
        match (first.filter(|_| !force), count) {
            (None, _) => Ok(()),
            (Some(first), Some(_)) => Err(exists(&first)),
            (Some(first), None) => Err(Failure::usage(
                format!("{} exists already", shown(&first)),
                "replace it with --force if the new set has as many pictures, or choose another name with -o",
            )),
        }
    }

    /// Refuses the existing files if, for every possible number of new pictures, users could confuse some of these
    /// files with the new pictures. All names of a set have the same extension, and their numbers have the same number
    /// of digits.
    fn check_any(&self, others: Vec<Existing>) -> Result<(), Failure> {
        let (same, strange): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|other| other.path.extension() == Some(&self.ending));
        if !strange.is_empty() {
            return Err(mixing(&strange));
        }
        let mut kinds = same.chunk_by(|one, next| one.digits == next.digits).filter_map(<[_]>::first);
        let (Some(one), Some(other)) = (kinds.next(), kinds.next()) else { return Ok(()) };
        let (one, other) = (shown(&one.path), shown(&other.path));
        Err(Failure::usage(
            format!("{one} and {other} exist already; the new pictures would replace only one, and mix with the other"),
            "remove what is not needed any more, or choose another name with -o",
        ))
    }

    /// Returns the files whose names are in `mine` or look like the names of pictures of a set, in order.
    ///
    /// Names of photographs can have numbers of four or five digits, too: `holiday-2024.png`. Only sets of at least a
    /// thousand pictures have numbers of four or five digits, and such a set begins with `holiday-0001.png`. If
    /// `holiday-0001.png` is missing, a file whose number has four or five digits is returned only if its pixels are
    /// data. Files with any other name that a set can have are always returned, because photographs can hide data.
    fn existing(&self, mine: &HashSet<PathBuf>) -> Result<Vec<Existing>, Failure> {
        let set = self.set();
        let listed = self.folder.entries().and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        let listed = match listed {
            // If the user may not list the folder, the function checks only the names of the new pictures.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                mine.iter().filter_map(|path| Some((path.file_name()?.to_owned(), None))).collect()
            }
            listed => listed.map_err(|error| Failure::path("read", folder_of(&set), &error))?,
        };
        let mut found = Vec::new();
        for (name, kind) in listed {
            let Some((digits, number)) = self.number(name.as_bytes()) else { continue };
            let path = self.base.with_file_name(&name);
            let kind = match kind {
                Some(kind) => Some(kind),
                None => {
                    self.folder.look(&name).map_err(|error| Failure::path("read", &path, &error))?.map(|it| it.kind)
                }
            };
            found.extend(kind.map(|kind| Existing { path, kind, digits, number }));
        }
        let begun: HashSet<_> = found.iter().filter(|file| file.number == 1).map(|file| file.digits).collect();
        found.retain(|file| {
            let is_usual = file.digits <= DIGITS || begun.contains(&file.digits);
            is_usual || mine.contains(&file.path) || is_carrier(&file.path)
        });
        found.sort_by(|one, other| (one.digits, one.number, &one.path).cmp(&(other.digits, other.number, &other.path)));
        Ok(found)
    }

    /// If a picture of a set with this base can have the name `name`, returns the number of digits in the number of the
    /// picture, and then this number. The set may have any size. For the name of a single picture, which has no number,
    /// both results are
    /// 0. The comparison ignores the case of the extension.
    fn number(&self, name: &[u8]) -> Option<(usize, u32)> {
        let base = self.base.file_name().unwrap_or_default().as_bytes();
        let rest = name.strip_prefix(base)?;
        let dot = rest.iter().rposition(|byte| *byte == b'.')?;
        let (number, ending) = (&rest[..dot], &rest[dot + 1..]);
        if !ending.eq_ignore_ascii_case(self.ending.as_bytes()) {
            return None;
        }
        if number.is_empty() {
            return Some((0, 0));
        }
        let digits = number.strip_prefix(b"-").filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        let number = str::from_utf8(digits).ok()?.parse().ok()?;
        ((DIGITS..=MOST_PICTURES.to_string().len()).contains(&digits.len()) && (1..=MOST_PICTURES).contains(&number))
            .then_some((digits.len(), number))
    }
}

/// An existing file with a name that a picture of the set could have.
struct Existing {
    path: PathBuf,
    kind: FileKind,
    /// The number of digits of the number in the name, or 0 if the name has no number.
    digits: usize,
    number: u32,
}

/// Returns the failure for existing files that users could confuse with the new pictures. The files may belong to an
/// older and larger set, but may also be photographs, so the program does not remove the files.
fn mixing(others: &[Existing]) -> Failure {
    let follows = |one: &Existing, next: &Existing| one.digits == next.digits && one.number + 1 == next.number;
    let mut runs: Vec<_> = others.chunk_by(follows).collect();
    let more: usize = runs.drain(RUNS.min(runs.len())..).map(<[_]>::len).sum();
    let mut names: Vec<_> = runs
        .iter()
        .filter_map(|run| match run {
            [] => None,
            [one] => Some(shown(&one.path)),
            [first, .., last] => Some(format!("{} to {}", shown(&first.path), shown(&last.path))),
        })
        .collect();
    if more > 0 {
        names.push(counted(more as u64, "more picture", "more pictures"));
    }
    let (verb, hint) = match others.len() {
        1 => ("exists", "if it is left from an older set, remove it, or choose another name with -o"),
        _ => ("exist", "if they are left from an older set, remove them, or choose another name with -o"),
    };
    Failure::usage(format!("{} {verb} already, and would mix with the new pictures", names.join(", ")), hint)
}

/// Whether the file is a picture whose pixels are data.
fn is_carrier(path: &Path) -> bool {
    cover::open(path).is_ok_and(|file| !matches!(Carrier::recognize(&file), Ok(None)))
}

/// The pictures of a set before they get their names.
pub struct Drafts {
    names: DraftNames,
    partials: Mutex<BTreeMap<u32, Partial>>,
    /// The failure to create a temporary file, if this failure caused an error of the library.
    failure: Mutex<Option<Failure>>,
}

impl Drafts {
    pub fn new(names: DraftNames) -> Self {
        Self { names, partials: Mutex::default(), failure: Mutex::default() }
    }

    pub fn names(&self) -> &DraftNames {
        &self.names
    }

    /// Opens the file of a picture. The first call with an index creates the file for this index.
    pub fn open(&self, index: u32) -> io::Result<File> {
        let mut partials = self.partials.lock();
        if let Some(partial) = partials.get(&index) {
            return partial.file().try_clone();
        }
        let made = match partials.values().next() {
            Some(other) => other.another(),
            None => self.names.draft(),
        };
        let partial = made.map_err(|failure| {
            let error = io::Error::other(failure.message.clone());
            *self.failure.lock() = Some(failure);
            error
        })?;
        let file = partial.file().try_clone()?;
        partials.insert(index, partial);
        Ok(file)
    }

    /// If a temporary file could not be created, returns that failure, because it may have caused `failure`. Otherwise
    /// returns `failure`.
    pub fn blame(&self, failure: Failure) -> Failure {
        self.failure.lock().take().unwrap_or(failure)
    }

    /// Gives all pictures their names. After a failure, no picture gets its name.
    pub fn land(
        self,
        attributes: Attributes,
        force: bool,
        sync: bool,
        claims: &Claims,
    ) -> Result<Vec<PathBuf>, Failure> {
        let partials = self.partials.into_inner();
        let count = u32::try_from(partials.len()).unwrap_or(u32::MAX);
        self.names.check(Some(count), force, claims)?;
        let paths: Vec<_> = partials.keys().map(|index| self.names.path_of(*index, count)).collect();
        let files = partials.into_values().zip(paths.iter().cloned()).collect();
        land_all(files, attributes, force, sync)?;
        // The temporary files of a killed run may be the only copies of older pictures, so these files are removed only
        // after the new pictures have their names.
        sweep(&self.names.folder, self.names.set().file_name().unwrap_or_default());
        Ok(paths)
    }
}
