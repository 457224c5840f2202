//! Outputs that are not complete yet: they get their names when they are.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::fault::shown;
use crate::{Code, Fault};
use deadpan_disk::{
    self as disk, Attributes, Draft, Error, FileId, Folder, Found, Landing, Left, Replace, SetError, Step, land_set,
    umask,
};
use deadpan_pack::OutputPlace;

/// A file that is not complete yet.
pub(crate) struct DraftFile {
    target: PathBuf,
    draft: Draft,
    replace: bool,
}

impl DraftFile {
    /// Makes a file that gets the name `target` later. Until then only its owner can read it. Beside the input, it is
    /// made in the folder in which the input was found.
    pub(crate) fn new(target: &Path, replace: bool, input: Option<&Found>) -> Result<Self, Fault> {
        let failed = |error| fault(target, error);
        let (folder, name) = Folder::of(target).map_err(failed)?;
        let folder = input.and_then(|input| input.folder_beside(target)).cloned().unwrap_or(folder);
        let there = folder.look(&name).map_err(|error| Fault::write(target, &error))?;
        refuse_existing(target, there, replace)?;
        let draft = Draft::create_in(&folder, &name).map_err(failed)?;
        Ok(Self { target: target.to_owned(), draft, replace })
    }

    /// Makes another file in the same folder, for this name.
    #[cfg_attr(not(feature = "picture"), expect(dead_code, reason = "only pictures are several files"))]
    pub(crate) fn another(&self, target: &Path) -> Result<Self, Fault> {
        refuse_existing(target, disk::About::of_name(target).ok(), self.replace)?;
        let draft = self.draft.another().map_err(|error| fault(&self.target, error))?;
        Ok(Self { target: target.to_owned(), draft, replace: self.replace })
    }

    pub(crate) fn file(&self) -> &File {
        self.draft.file()
    }

    /// Returns the file itself, which a folder that is packed may hold.
    pub(crate) fn id(&self) -> Option<FileId> {
        disk::About::of_file(self.file()).ok().map(|about| about.id)
    }

    /// Returns the place that the file gets, for a packer: a folder that is packed may hold it.
    pub(crate) fn place(&self) -> Option<OutputPlace> {
        let folder = self.draft.folder().about().ok()?.id;
        Some(OutputPlace::Name { folder, name: self.draft.name().as_encoded_bytes().to_vec() })
    }

    /// Gives the file its name, with the mode and the time, or those of a new file.
    pub(crate) fn land(self, mode: Option<u32>, modified: Option<SystemTime>) -> Result<(), Fault> {
        let attributes = Attributes { mode: mode.unwrap_or(0o666) & 0o777 & !umask(), modified };
        let landing = Landing { replace: Replace::any_if(self.replace), sync: false };
        self.draft.land(attributes, landing).map_err(|error| fault(&self.target, error))
    }

    /// Gives all files their names, or none. The names are those of the paths, which are in the folder of the files.
    #[cfg_attr(not(feature = "picture"), expect(dead_code, reason = "only pictures are several files"))]
    pub(crate) fn land_all(files: Vec<Self>, paths: &[PathBuf]) -> Result<(), Fault> {
        let replace = files.iter().any(|file| file.replace);
        let names = paths.iter().map(|path| path.file_name().unwrap_or_default().to_owned());
        let drafts = files.into_iter().map(|file| file.draft).zip(names).collect();
        let landing = Landing { replace: Replace::any_if(replace), sync: false };
        land_set(drafts, Attributes::usual(), landing).map_err(|SetError { name, error, left }| {
            let path =
                paths.iter().find(|path| path.file_name() == Some(&name)).map_or(Path::new(&name), PathBuf::as_path);
            let mut fault = fault(path, error);
            for Left { name, old } in left {
                let now = old.map_or("could not be removed".into(), |old| format!("is {} now", shown(Path::new(&old))));
                fault.text = format!("{}; {} {now}", fault.text, shown(Path::new(&name)));
            }
            fault
        })
    }
}

/// Refuses what has the name of an output, unless it is a file that may be replaced.
fn refuse_existing(target: &Path, there: Option<disk::About>, replace: bool) -> Result<(), Fault> {
    match there {
        None => Ok(()),
        Some(about) if replace && (about.is_file() || about.is_link()) => Ok(()),
        Some(_) => Err(Fault::exists(target, if replace { ", and is no file" } else { "" })),
    }
}

/// A folder that is not complete yet.
pub(crate) struct DraftFolder {
    target: PathBuf,
    draft: disk::DraftFolder,
}

impl DraftFolder {
    /// Makes a folder that gets the name `target` later. Beside the input, it is made in the folder in which the input
    /// was found.
    pub(crate) fn new(target: &Path, input: &Found) -> Result<Self, Fault> {
        let failed = |error| fault(target, error);
        let (folder, name) = Folder::of(target).map_err(failed)?;
        let folder = input.folder_beside(target).cloned().unwrap_or(folder);
        if folder.look(&name).map_err(|error| Fault::write(target, &error))?.is_some() {
            return Err(Fault::exists(target, ""));
        }
        let draft = disk::DraftFolder::create_in(&folder, &name).map_err(failed)?;
        Ok(Self { target: target.to_owned(), draft })
    }

    pub(crate) fn folder(&self) -> &Folder {
        self.draft.folder()
    }

    /// Gives the folder its name.
    pub(crate) fn land(self) -> Result<(), Fault> {
        self.draft.land(false).map_err(|error| fault(&self.target, error))
    }
}

/// Returns the error of making an output, or of giving it its name.
fn fault(target: &Path, error: Error) -> Fault {
    match error {
        Error::NoName => Fault::argument(format!("{} is not a name for an output", shown(target))),
        Error::NoFolder => Fault::write(target, &rustix::io::Errno::NOENT.into()),
        Error::Exists => Fault::exists(target, ""),
        Error::IsFolder | Error::NotAFile => Fault::exists(target, ", and is no file"),
        Error::System(Step::Create, error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Fault::exists(target, "")
        }
        Error::System(_, error) => Fault::write(target, &error),
        error => Fault::new(Code::Write, error.to_string()).about(target),
    }
}
