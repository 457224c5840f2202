//! Outputs that are not complete yet: they have temporary names, and are removed unless they get their own.

use std::ffi::OsString;
use std::fs::{self, File, FileTimes, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{FlockOperation, flock};

use crate::Fault;
use crate::fault::shown;
use deadpan_pack::{OutputPlace, draft};

/// Returns the folder and the name of an output.
fn split(target: &Path) -> Result<(PathBuf, OsString), Fault> {
    // A path that ends in a slash names a folder.
    let is_name = !target.as_os_str().as_bytes().ends_with(b"/") && !target.as_os_str().as_bytes().ends_with(b"/.");
    let Some(name) = target.file_name().filter(|_| is_name) else {
        return Err(Fault::argument(format!("{} is not a name for an output", shown(target))));
    };
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((folder.to_owned(), name.to_owned()))
}

/// Returns the permission bits that new files do not get. There is no call that reads them without changing them for
/// all threads, so the system's file about the process tells.
pub(crate) fn umask() -> u32 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o077)
}

fn temporary(folder: &Path, name: &std::ffi::OsStr) -> PathBuf {
    folder.join(OsString::from_vec(draft::name(name.as_bytes())))
}

/// Moves a draft to its name. Fails if the name exists, unless it may be replaced.
fn settle(draft: &Path, target: &Path, folder: &Path, replace: bool) -> io::Result<()> {
    if replace {
        return fs::rename(draft, target);
    }
    let name = |path: &Path| path.file_name().unwrap_or_default().as_bytes().to_vec();
    draft::rename_new(File::open(folder)?, &name(draft), &name(target)).map_err(|error| match error.kind() {
        io::ErrorKind::DirectoryNotEmpty => io::ErrorKind::AlreadyExists.into(),
        _ => error,
    })
}

/// A file that is not complete yet.
pub(crate) struct DraftFile {
    target: PathBuf,
    folder: PathBuf,
    path: PathBuf,
    file: File,
    replace: bool,
    done: bool,
}

impl DraftFile {
    /// Makes a file that gets the name `target` later. Until then only its owner can read it.
    pub(crate) fn new(target: &Path, replace: bool) -> Result<Self, Fault> {
        let (folder, name) = split(target)?;
        if let Ok(about) = fs::symlink_metadata(target) {
            let is_file = about.is_file() || about.is_symlink();
            if !replace || !is_file {
                return Err(Fault::exists(target, if replace { ", and is no file" } else { "" }));
            }
        }
        let path = temporary(&folder, &name);
        let file = OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(&path);
        let file = file.map_err(|error| Fault::write(target, &error))?;
        // Other runs remove drafts that nobody has locked.
        let _ = flock(&file, FlockOperation::NonBlockingLockExclusive);
        Ok(Self { target: target.to_owned(), folder, path, file, replace, done: false })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the place that the file gets, for a packer: a folder that is packed may hold it.
    pub(crate) fn place(&self) -> Option<OutputPlace> {
        let folder = fs::metadata(&self.folder).ok()?;
        let name = self.target.file_name()?.as_bytes().to_vec();
        Some(OutputPlace::Name { folder: (folder.dev(), folder.ino()), name })
    }

    /// Gives the file its name, with the mode and the time, or those of a new file.
    pub(crate) fn land(mut self, mode: Option<u32>, modified: Option<SystemTime>) -> Result<(), Fault> {
        let landed = (|| {
            let mode = mode.unwrap_or(0o666) & 0o777 & !umask();
            self.file.set_permissions(Permissions::from_mode(mode))?;
            if let Some(modified) = modified {
                self.file.set_times(FileTimes::new().set_modified(modified))?;
            }
            if self.replace {
                // After a crash the name belongs to the old file or to the new one.
                self.file.sync_all()?;
            }
            settle(&self.path, &self.target, &self.folder, self.replace)
        })();
        landed.map_err(|error| Fault::write(&self.target, &error))?;
        self.done = true;
        Ok(())
    }
}

impl Drop for DraftFile {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A folder that is not complete yet.
pub(crate) struct DraftFolder {
    target: PathBuf,
    above: PathBuf,
    path: PathBuf,
    folder: File,
    done: bool,
}

impl DraftFolder {
    /// Makes a folder that gets the name `target` later.
    pub(crate) fn new(target: &Path) -> Result<Self, Fault> {
        let (above, name) = split(target)?;
        if fs::symlink_metadata(target).is_ok() {
            return Err(Fault::write(target, &io::ErrorKind::AlreadyExists.into()));
        }
        let path = temporary(&above, &name);
        let failed = |error: io::Error| Fault::write(target, &error);
        fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
        let folder = File::open(&path).map_err(|error| {
            let _ = fs::remove_dir(&path);
            failed(error)
        })?;
        let _ = flock(&folder, FlockOperation::NonBlockingLockExclusive);
        Ok(Self { target: target.to_owned(), above, path, folder, done: false })
    }

    pub(crate) fn folder(&self) -> &File {
        &self.folder
    }

    /// Gives the folder its name.
    pub(crate) fn land(mut self) -> Result<(), Fault> {
        settle(&self.path, &self.target, &self.above, false).map_err(|error| Fault::write(&self.target, &error))?;
        self.done = true;
        Ok(())
    }
}

impl Drop for DraftFolder {
    fn drop(&mut self) {
        if !self.done {
            let _ = draft::clear(&self.path);
        }
    }
}
