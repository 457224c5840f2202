//! The inputs and the outputs of one run, recorded so that no result replaces another file of the run.
//!
//! Two inputs can have the same output, such as `a/x` and `b/x` with `-o out`. The output of one input can also be
//! another input, such as `y` and `y.dpn`. If the output of an input is also another input or another result of the
//! run, the run fails, even with `--force`. `cp` does the same.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::place::input::Source;
use crate::place::output::Place;
use crate::place::partial::folder_of;
use crate::place::remote;
use crate::tell::failure::Failure;
use crate::tell::shown::shown;
use deadpan_disk::{About, FileId};

/// Advice after a refusal.
const ALONE: &str = "use another output for it, in a command of its own";

/// The files of a run.
pub struct Claims {
    inputs: Vec<Claim>,
    made: RefCell<Vec<Claim>>,
}

/// A file or a folder that must not be replaced.
struct Claim {
    path: PathBuf,
    /// The path, with all links in its folders resolved. The last component may be a link.
    real: PathBuf,
    id: Id,
}

/// The file or object that a path leads to.
#[derive(PartialEq, Eq)]
enum Id {
    File(FileId),
    /// The address of an object in a store. The program does not check whether the store has this object.
    Object(PathBuf),
}

impl Claim {
    /// Returns `None` if the file does not exist.
    fn at(path: &Path) -> Option<Self> {
        let (path, is_object) = (path.to_owned(), remote::is_address(path));
        if is_object {
            return Some(Self { real: path.clone(), id: Id::Object(path.clone()), path });
        }
        Some(Self { real: real(&path)?, id: Id::File(About::of_path(&path).ok()?.id), path })
    }

    /// An object in a store lies in no folder, since a slash in its key has no special meaning.
    fn lies_in(&self, folder: &Path) -> bool {
        matches!(self.id, Id::File(_)) && self.real.starts_with(folder)
    }
}

impl Claims {
    /// Begins a run with these inputs.
    pub fn on(sources: &[Source]) -> Self {
        let inputs = sources.iter().filter_map(Source::path).filter_map(Claim::at).collect();
        Self { inputs, made: RefCell::default() }
    }

    /// Records that `place` is an output of this run.
    pub fn made(&self, place: &Place) {
        self.made.borrow_mut().extend(place.path().and_then(Claim::at));
    }

    /// Whether this file is an input.
    pub fn is_input(&self, path: &Path) -> bool {
        Claim::at(path).is_some_and(|file| self.inputs.iter().any(|input| input.id == file.id))
    }

    /// Refuses an output of `source` that would replace another input, or an output of this run.
    pub fn check(&self, place: &Place, source: &Source) -> Result<(), Failure> {
        // An output that does not exist yet replaces nothing.
        let Some(output) = place.path().and_then(Claim::at) else { return Ok(()) };
        let name = shown(&output.path);
        if self.made.borrow().iter().any(|made| made.id == output.id) {
            let message = format!("{name} is the result of another input of this command, and is not replaced");
            return Err(Failure::usage(message, ALONE));
        }
        if self.others(source).any(|input| input.id == output.id) {
            let message = format!("{name} is another input of this command, and is not replaced");
            return Err(Failure::usage(message, ALONE));
        }
        match self.made.borrow().iter().find(|made| output.lies_in(&made.real)) {
            Some(made) => {
                let message = format!("{name} lies in {}, which this command has made", shown(&made.path));
                Err(Failure::usage(message, ALONE))
            }
            None => Ok(()),
        }
    }

    /// Refuses a folder as the output of `source`, like [`check`](Self::check). With `replace`, the command may replace
    /// files in an existing folder. Even with `replace`, the folder is refused if another input or an output of this
    /// run is in the folder.
    pub fn check_folder(&self, place: &Place, source: &Source, replace: bool) -> Result<(), Failure> {
        self.check(place, source)?;
        let Some(folder) = place.path().filter(|_| replace).and_then(Claim::at) else { return Ok(()) };
        let Ok(real) = folder.path.canonicalize() else { return Ok(()) };
        let made = self.made.borrow();
        match self.others(source).chain(made.iter()).find(|claim| claim.lies_in(&real)) {
            Some(inside) => {
                let message =
                    format!("{} holds {}, which belongs to this command", shown(&folder.path), shown(&inside.path));
                Err(Failure::usage(message, ALONE))
            }
            None => Ok(()),
        }
    }

    fn others<'a>(&'a self, source: &'a Source) -> impl Iterator<Item = &'a Claim> {
        self.inputs.iter().filter(|input| source.path() != Some(&input.path))
    }
}

/// Returns the path, with all links in its folders resolved. Returns `None` if the folder of the path does not exist.
fn real(path: &Path) -> Option<PathBuf> {
    match path.file_name() {
        Some(name) => Some(folder_of(path).canonicalize().ok()?.join(name)),
        None => path.canonicalize().ok(),
    }
}
