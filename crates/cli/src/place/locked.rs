//! A file whose header is changed. The file is locked against other runs that change the header.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::place::{held, recover};
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
use deadpan_disk::{About, Handle, Input, Locked, OpenMode, Spot};

/// A file that is locked against other runs that change its recipients.
pub struct LockedFile {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// The folder of the file, and the file's name in that folder. Each replacement of the file uses this folder and
    /// this name.
    pub real: Spot,
    /// The file, for reading and writing.
    pub file: File,
    pub about: About,
}

impl LockedFile {
    /// Opens a file, and locks the file if `writes` is true. Opens the file at `spot`, or the file at `path` if `spot`
    /// is `None`. If `path` is a link, the link is followed, so that the file itself changes.
    pub fn find(path: &Path, spot: Option<Spot>, writes: bool, force: bool) -> Result<Self, Failure> {
        let opened = match spot {
            Some(spot) => Input::exactly_at(spot, writes),
            None => held::open(path, OpenMode { write: writes, wait: false }),
        };
        let Input { file, about, found } = opened.map_err(|error| match error.kind() {
            io::ErrorKind::IsADirectory => not_a_file(path, true),
            io::ErrorKind::NotFound => Failure::path("read", path, &error),
            _ => Failure::path(if writes { "write" } else { "read" }, path, &error),
        })?;
        if !about.is_file() {
            return Err(not_a_file(path, about.is_folder()));
        }
        held::refuse_link(&found, force)?;
        let real = found.real.ok_or_else(|| replaced(path))?;
        let target = Self { path: path.to_owned(), real, file, about };
        if writes {
            target.lock()?;
        }
        Ok(target)
    }

    fn lock(&self) -> Result<(), Failure> {
        match self.file.lock_now() {
            Ok(Locked::ByOthers) => return Err(recover::busy(&self.path)),
            Ok(Locked::Yes) => {}
            Err(error) => return Err(self.failed("lock", &error)),
        }
        // Another run may have replaced this file by another file before this run got the lock.
        if self.real.folder.has(&self.real.name, &self.file) { Ok(()) } else { Err(replaced(&self.path)) }
    }

    /// Fails if another program has written to the file since it was opened: the header may no longer belong to the
    /// data.
    pub fn refuse_changed(&self) -> Result<(), Failure> {
        let now = About::of_file(&self.file).map_err(|error| self.failed("read", &error))?;
        if (now.length, now.modified) == (self.about.length, self.about.modified) {
            return Ok(());
        }
        let message = format!("another program has written to {} meanwhile", self.shown());
        Err(Failure::new(Exit::System, message, "nothing was changed; try again when nobody writes to it"))
    }

    pub fn shown(&self) -> String {
        shown(&self.path)
    }

    pub fn failed(&self, verb: &str, error: &io::Error) -> Failure {
        Failure::path(verb, &self.path, error)
    }
}

pub fn replaced(path: &Path) -> Failure {
    Failure::new(Exit::System, format!("{} was replaced while it was opened", shown(path)), "try again")
}

fn not_a_file(path: &Path, is_folder: bool) -> Failure {
    let name = shown(path);
    if is_folder {
        let hint = "name sealed files, or change all sealed files in the folder with --recursive";
        return Failure::usage(format!("{name} is a folder"), hint);
    }
    Failure::usage(format!("{name} is not a regular file"), "rewrap changes files in place; name a sealed file")
}
