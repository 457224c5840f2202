//! Outputs that get their names when they are complete, with the command line's messages for their errors.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use crate::place::held;
use crate::place::remote;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::planted_by;
use crate::tell::shown::shown;
use deadpan_disk::{
    Draft, DraftFolder, Error, Folder, Landing, Left, Replace, SetError, Spot, Step, Unkept, Way, land_set,
};

pub use deadpan_disk::{Attributes, parent as folder_of};

/// A file that is still being written.
pub struct Partial {
    target: PathBuf,
    draft: Draft,
}

impl Partial {
    /// Makes a file that gets the name `target` when it is complete. Until the mode of the file is set, only its owner
    /// can read the file. Refuses a folder that another user may have planted.
    pub fn create(target: &Path) -> Result<Self, Failure> {
        refuse_object(target)?;
        let way = held::way(folder_of(target)).map_err(Error::of_folder);
        let folder = way.and_then(Way::unplanted).map_err(|error| failure(target, error))?;
        Self::create_in(&folder, target)
    }

    /// Makes a file in an open folder. The file gets the name `target` when it is complete.
    pub fn create_in(folder: &Folder, target: &Path) -> Result<Self, Failure> {
        let name = target.file_name().ok_or(Error::NoName);
        Self::with_draft(target, name.and_then(|name| Draft::create_in(folder, name)))
    }

    /// Makes a file that gets the name in `spot` when it is complete. `target` is its path in messages.
    pub fn create_at(spot: &Spot, target: &Path) -> Result<Self, Failure> {
        Self::with_draft(target, Draft::create_in(&spot.folder, &spot.name))
    }

    fn with_draft(target: &Path, draft: Result<Draft, Error>) -> Result<Self, Failure> {
        Ok(Self { target: target.into(), draft: draft.map_err(|error| failure(target, error))? })
    }

    pub fn file(&self) -> &File {
        self.draft.file()
    }

    pub fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Makes another file in the same folder. The temporary name of the new file is similar to the temporary name of
    /// this file.
    pub fn another(&self) -> Result<Self, Failure> {
        Self::with_draft(&self.target, self.draft.another())
    }

    /// Gives an incomplete file the name `NAME.incomplete`, and returns that path.
    pub fn keep_incomplete(self, attributes: Attributes) -> Result<PathBuf, Failure> {
        let kept = self.draft.keep_incomplete(attributes).map_err(|error| failure(&self.target, error));
        Ok(self.target.with_file_name(kept?))
    }

    /// Writes the contents of the file from the system's cache to the disk.
    pub fn sync(&self) -> Result<(), Failure> {
        self.draft.sync().map_err(|error| failure(&self.target, error))
    }

    pub fn land(self, attributes: Attributes, replace: Replace, sync: bool) -> Result<(), Failure> {
        self.draft.land(attributes, Landing { replace, sync }).map_err(|error| failure(&self.target, error))
    }

    /// Gives the file its name. Returns false if another file has the name.
    pub fn land_if_free(self, attributes: Attributes, sync: bool) -> Result<bool, Failure> {
        match self.draft.land(attributes, Landing { replace: Replace::Nothing, sync }) {
            Err(Error::Exists) => Ok(false),
            landed => landed.map(|()| true).map_err(|error| failure(&self.target, error)),
        }
    }

    /// Gives each file the name that its path ends with.
    pub fn land_dressed(self, replace: Replace, sync: bool) -> Result<(), Failure> {
        self.draft.land_dressed(Landing { replace, sync }).map_err(|error| failure(&self.target, error))
    }
}

/// Gives each file the name from its path. If one of the files cannot get its name, no file gets its name. All paths
/// must be in the folder that contains the files.
pub fn land_all(
    files: Vec<(Partial, PathBuf)>,
    attributes: Attributes,
    replace: bool,
    sync: bool,
) -> Result<(), Failure> {
    let folder = files.first().map_or(PathBuf::new(), |(_, path)| path.with_file_name(""));
    let name = |path: PathBuf| path.file_name().map(OsString::from).unwrap_or_default();
    let drafts = files.into_iter().map(|(partial, path)| (partial.draft, name(path))).collect();
    let landing = Landing { replace: Replace::any_if(replace), sync };
    land_set(drafts, attributes, landing).map_err(|SetError { name, error, left }| {
        let mut failure = failure(&folder.join(name), error);
        failure.notes.extend(left.into_iter().map(|Left { name, old }| {
            let target = shown(folder.join(name));
            match old {
                None => format!("{target} could not be removed"),
                Some(old) => format!("{target} could not be restored; it is {}", shown(old)),
            }
        }));
        failure
    })
}

/// A folder that is not complete yet.
pub struct PartialFolder {
    pub target: PathBuf,
    draft: DraftFolder,
}

impl PartialFolder {
    /// The new folder gets the name `target` when it is complete.
    pub fn create_in(folder: &Folder, target: &Path) -> Result<Self, Failure> {
        let name = target.file_name().ok_or(Error::NoName);
        Self::with_draft(target, name.and_then(|name| DraftFolder::create_in(folder, name)))
    }

    fn with_draft(target: &Path, draft: Result<DraftFolder, Error>) -> Result<Self, Failure> {
        let draft = draft.map_err(|error| match error {
            Error::NoName => Failure::usage(format!("{} is not a name for a folder", shown(target)), "name it with -o"),
            error => failure(target, error),
        });
        Ok(Self { target: target.into(), draft: draft? })
    }

    pub fn folder(&self) -> &Folder {
        self.draft.folder()
    }

    /// Gives the folder its name. With `sync`, its contents are on the disk before this function returns.
    pub fn land(self, sync: bool) -> Result<(), Failure> {
        self.draft.land(sync).map_err(|error| failure(&self.target, error))
    }

    /// Renames the folder to `NAME.incomplete` and returns that path.
    pub fn keep_incomplete(self) -> Result<PathBuf, Failure> {
        let kept = self.draft.keep_incomplete().map_err(|error| match error {
            Error::System(_, error) => Failure::path("rename", &self.target, &error),
            error => failure(&self.target, error),
        });
        Ok(self.target.with_file_name(kept?))
    }
}

/// Returns the failure for an error that occurred when an output was made or got its name.
pub fn failure(target: &Path, error: Error) -> Failure {
    match error {
        Error::NoName => {
            Failure::usage(format!("{} is not a name for a file", shown(target)), "name the output with -o")
        }
        Error::NoFolder => no_folder(target),
        Error::Exists => exists(target),
        Error::IsFolder => is_a_folder(target),
        Error::NotAFile => is_no_file(target),
        Error::Changed => Failure::new(
            Exit::System,
            format!("another program made {} meanwhile", shown(target)),
            "see who else makes files there, and try again",
        ),
        Error::Planted(planted) => Failure::usage(planted_by(&planted), "choose a folder of your own"),
        Error::Unkept(unkept) => lossy(target, &unkept),
        Error::System(step, error) => {
            let verb = match step {
                Step::Dress => "set time and mode of",
                Step::Write => "write",
                Step::WriteFolder => "write the folder of",
                _ => "create",
            };
            Failure::path(verb, target, &error)
        }
        error => Failure::new(Exit::System, format!("cannot create {}: {error}", shown(target)), "try again"),
    }
}

/// Returns the failure for a new file that cannot keep an attribute of the old file.
fn lossy(target: &Path, unkept: &Unkept) -> Failure {
    let hint = match unkept {
        Unkept::Owner(_) => {
            "run the command as the owner of the file; --force makes it yours, and leaves out rights of others"
        }
        Unkept::Group(_) => {
            "run the command as a member of the group; --force gives the file your group, and leaves out its rights"
        }
        _ => "--force leaves that out, and the rights that it grants",
    };
    Failure::usage(format!("{} needs a new file, which would lose {unkept}", shown(target)), hint)
}

fn refuse_object(target: &Path) -> Result<(), Failure> {
    if remote::is_address(target) {
        Err(Failure::path("create", target, &std::io::ErrorKind::Unsupported.into()))
    } else {
        Ok(())
    }
}

pub fn no_folder(target: &Path) -> Failure {
    if remote::is_address(target) {
        return Failure::path("create", target, &std::io::ErrorKind::NotFound.into());
    }
    if folder_of(target) == Path::new(".") {
        let message = format!("cannot create {}: the current folder was removed", shown(target));
        return Failure::usage(message, "change to another folder");
    }
    Failure::usage(
        format!("cannot create {}: there is no folder {}", shown(target), shown(folder_of(target))),
        "make the folder first, with mkdir",
    )
}

pub fn exists(target: &Path) -> Failure {
    Failure::usage(
        format!("{} exists already", shown(target)),
        "replace it with --force, or choose another name with -o",
    )
}

pub fn is_a_folder(target: &Path) -> Failure {
    Failure::usage(format!("{} is a folder", shown(target)), "choose another name with -o")
}

/// Returns the error for an output whose name belongs to something else than a file, such as a pipe.
pub fn is_no_file(target: &Path) -> Failure {
    Failure::usage(format!("{} is not a file", shown(target)), "choose another name with -o")
}
