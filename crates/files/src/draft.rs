//! Incomplete outputs, which get their names when they are complete.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::{Error, Options};
use deadpan_disk::{
    self as disk, Attributes, Draft, FileId, Folder, Found, Landing, Replace, SetError, land_set, umask,
};
use deadpan_pack::OutputPlace;

/// A file that gets its name when it is complete. Use a draft to write data for which this crate has no function of its
/// own. If the draft is dropped or the process ends before the file is complete, no file is made, and an existing file
/// with this name does not change.
///
/// ```
/// use deadpan_files::DraftFile;
/// use deadpan_seal::{Kem, PrivateKey, Sealing, Work};
///
/// # let place = tempfile::tempdir()?;
/// # let sealed = place.path().join("log.dpn");
/// let sealing = Sealing::to(PrivateKey::generate(Kem::XWing)?.public())?;
/// let draft = DraftFile::new(&sealed, false)?;
/// sealing.seal_stream(&b"first line\n"[..], draft.file(), &Work::default())?;
/// assert!(!sealed.exists());
/// draft.land(false)?;
/// assert!(sealed.exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DraftFile {
    target: PathBuf,
    draft: Draft,
    replace: bool,
}

impl DraftFile {
    /// Makes a file that gets the name `target` later. If `replace` is set, the new file may then replace another file.
    /// Before the file gets its name, only its owner can read it.
    ///
    /// # Errors
    /// If the name is taken and may not be replaced, or if the file cannot be made.
    pub fn new(target: impl AsRef<Path>, replace: bool) -> Result<Self, Error> {
        Self::create(target.as_ref(), replace, None)
    }

    /// Makes a file as [`DraftFile::new`] does. If the output is in the same folder as the input, makes the file
    /// through the folder handle that was opened with the input.
    pub(crate) fn beside(input: &Found, target: &Path, options: Options<'_>) -> Result<Self, Error> {
        Self::create(target, options.replace, Some(input))
    }

    fn create(target: &Path, replace: bool, input: Option<&Found>) -> Result<Self, Error> {
        let failed = |error| Error::output(target, error);
        let (folder, name) = Folder::holding(target).map_err(failed)?;
        let folder = input.and_then(|input| input.folder_beside(target)).cloned().unwrap_or(folder);
        let there = folder.look(&name).map_err(|error| Error::write(target, error))?;
        refuse_existing(target, there, replace)?;
        let draft = Draft::create_in(&folder, &name).map_err(failed)?;
        Ok(Self { target: target.to_owned(), draft, replace })
    }

    /// Makes another file in the same folder, for this name.
    ///
    /// # Errors
    /// The errors of [`DraftFile::new`].
    pub fn another(&self, target: impl AsRef<Path>) -> Result<Self, Error> {
        let target = target.as_ref();
        refuse_existing(target, disk::About::of_name(target).ok(), self.replace)?;
        let draft = self.draft.another().map_err(|error| Error::output(&self.target, error))?;
        Ok(Self { target: target.to_owned(), draft, replace: self.replace })
    }

    /// Returns the file, for reading and writing.
    #[must_use]
    pub fn file(&self) -> &File {
        self.draft.file()
    }

    /// Returns the id of the file. If the file is in the folder that is being packed, the packer must skip the file
    /// with this id.
    pub(crate) fn id(&self) -> Option<FileId> {
        disk::About::of_file(self.file()).ok().map(|about| about.id)
    }

    /// Returns the folder of the output and the output's final name. If the output is in the folder that is being
    /// packed, the packer must skip the output.
    pub(crate) fn place(&self) -> Option<OutputPlace> {
        let folder = self.draft.folder().about().ok()?.id;
        Some(OutputPlace::Name { folder, name: self.draft.name().as_encoded_bytes().to_vec() })
    }

    /// Gives the file its name. If `sync` is set, the file and its name are on the disk when this function returns.
    ///
    /// # Errors
    /// If the name is taken by now and may not be replaced, or if the system refuses.
    pub fn land(self, sync: bool) -> Result<(), Error> {
        self.land_with(None, None, sync)
    }

    /// Gives the file its name, with this mode and time, or with the usual mode and time of a new file. The umask also
    /// applies to the mode.
    ///
    /// # Errors
    /// The errors of [`DraftFile::land`].
    pub fn land_with(self, mode: Option<u32>, modified: Option<SystemTime>, sync: bool) -> Result<(), Error> {
        let attributes = Attributes { mode: mode.unwrap_or(0o666) & 0o777 & !umask(), modified };
        let landing = Landing { replace: Replace::any_if(self.replace), sync };
        self.draft.land(attributes, landing).map_err(|error| Error::output(&self.target, error))
    }

    /// Gives names to all files, or, after a failure, to none of the files. All other files must be made by
    /// [`DraftFile::another`] of the first file.
    ///
    /// # Errors
    /// The errors of [`DraftFile::land`]. [`Error::Left`] if some files were already replaced and could not be
    /// restored.
    pub fn land_all(files: Vec<Self>) -> Result<(), Error> {
        let replace = files.iter().any(|file| file.replace);
        let targets: Vec<_> = files.iter().map(|file| file.target.clone()).collect();
        let name = |file: Self| {
            let name = file.target.file_name().unwrap_or_default().to_owned();
            (file.draft, name)
        };
        let drafts = files.into_iter().map(name).collect();
        let landing = Landing { replace: Replace::any_if(replace), sync: false };
        land_set(drafts, Attributes::usual(), landing).map_err(|SetError { name, error, left }| {
            let path = targets.iter().find(|path| path.file_name() == Some(&name));
            let error = Error::output(path.map_or(Path::new(&name), PathBuf::as_path), error);
            if left.is_empty() { error } else { Error::Left { error: Box::new(error), left } }
        })
    }
}

/// Returns an error if the name of the output is taken, unless the existing file may be replaced.
fn refuse_existing(target: &Path, there: Option<disk::About>, replace: bool) -> Result<(), Error> {
    match there {
        None => Ok(()),
        Some(about) if replace && (about.is_file() || about.is_link()) => Ok(()),
        Some(_) => Err(Error::Exists { path: target.to_owned(), is_other: replace }),
    }
}

/// A folder that is not complete yet.
pub(crate) struct DraftFolder {
    target: PathBuf,
    draft: disk::DraftFolder,
}

impl DraftFolder {
    /// Makes a folder that gets the name `target` later. If the output is in the same folder as the input, makes the
    /// new folder through the folder handle that was opened with the input.
    pub(crate) fn beside(input: &Found, target: &Path) -> Result<Self, Error> {
        let failed = |error| Error::output(target, error);
        let (folder, name) = Folder::holding(target).map_err(failed)?;
        let folder = input.folder_beside(target).cloned().unwrap_or(folder);
        if folder.look(&name).map_err(|error| Error::write(target, error))?.is_some() {
            return Err(Error::Exists { path: target.to_owned(), is_other: false });
        }
        let draft = disk::DraftFolder::create_in(&folder, &name).map_err(failed)?;
        Ok(Self { target: target.to_owned(), draft })
    }

    pub(crate) fn folder(&self) -> &Folder {
        self.draft.folder()
    }

    /// Gives the folder its name.
    pub(crate) fn land(self, sync: bool) -> Result<(), Error> {
        self.draft.land(sync).map_err(|error| Error::output(&self.target, error))
    }
}
