//! An input whose path is looked up only once. An input consists of the open file, the folder to which its path leads,
//! and the folder that really contains the file.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use crate::about::{About, FileKind};
use crate::folder::{Folder, name_of, parent, trimmed};
use crate::system;
use crate::way::{Planted, Way};

/// Options for opening an input.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenMode {
    /// Whether the file is opened for writing too.
    pub write: bool,
    /// Whether opening a pipe waits for the pipe's writer.
    pub wait: bool,
}

impl OpenMode {
    /// Opens for reading, and waits for the writer of a pipe.
    pub const WAITING: Self = Self { write: false, wait: true };
}

/// A name in an open folder.
#[derive(Clone, Debug)]
pub struct Spot {
    /// The folder.
    pub folder: Folder,
    /// The name.
    pub name: OsString,
}

impl Spot {
    /// Returns the path, for messages.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder.path_of(&self.name)
    }
}

/// An open input.
///
/// If the folder of an output is also the folder of the input, the output is made through the folder handle that was
/// opened together with the input. So nobody can put another folder in the place of this folder between reading and
/// writing.
#[derive(Debug)]
pub struct Input {
    /// The file.
    pub file: File,
    /// The properties of the file.
    pub about: About,
    /// Where the file was found.
    pub found: Found,
}

/// Where an input was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The folder and the name as the path of the input gives them. `None` if the path does not end with a name, for
    /// example `..`.
    pub named: Option<Spot>,
    /// The real folder and name of the file, after links are followed. This place differs from `named` only if the name
    /// in the path belongs to a link. `None` if the text of the link is not a path (as in `/dev/fd`), or if another
    /// file got the name while this file was opened.
    pub real: Option<Spot>,
    /// Whether the name belongs to a link.
    pub is_link: bool,
    /// The first link on the path to the file that belongs to another user.
    pub link: Option<Planted>,
}

impl Found {
    /// If `path` is the path of the input's folder, written in the same form as in the input's path, returns this open
    /// folder.
    #[must_use]
    pub fn folder_beside(&self, path: &Path) -> Option<&Folder> {
        self.named.as_ref().map(|named| &named.folder).filter(|folder| folder.path() == parent(path))
    }
}

impl Input {
    /// Opens the file at `path`, and follows links.
    ///
    /// # Errors
    /// The system's errors.
    pub fn open(path: &Path, mode: OpenMode) -> io::Result<Self> {
        Self::open_by(path, mode, Way::to)
    }

    /// Opens a file as [`open`](Self::open) does. The function `way` opens the folder of the file. If the path ends
    /// without a name (as `..` does), `way` opens the folder at the path.
    ///
    /// # Errors
    /// The system's errors.
    pub fn open_by(path: &Path, mode: OpenMode, way: impl FnOnce(&Path) -> io::Result<Way>) -> io::Result<Self> {
        let trimmed = trimmed(path);
        let Some(name) = name_of(&trimmed) else {
            let way = way(path)?;
            let (file, about) = (way.folder().to_file()?, way.folder().about()?);
            return Ok(Self { file, about, found: Found { link: way.link().cloned(), ..Found::default() } });
        };
        let input = Self::at(way(parent(&trimmed))?, name, mode)?;
        if name_of(path).is_some() || input.about.is_folder() {
            Ok(input)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    /// Opens the file with this name in the last folder of `way`, and follows links.
    fn at(mut way: Way, name: &OsStr, mode: OpenMode) -> io::Result<Self> {
        let named = Spot { folder: way.folder().clone(), name: name.to_owned() };
        let file = named.folder.open_followed(name, mode.write, mode.wait)?;
        let about = About::of_file(&file)?;
        // The caller checks whether a pipe has data before it reads from the pipe. For a device, reading must itself
        // wait for data, so the flag `NONBLOCK` is removed.
        if !matches!(about.kind, FileKind::File | FileKind::Folder | FileKind::Fifo) {
            system::wait_for_data(&file)?;
        }
        let is_link = named.folder.look(name)?.is_none_or(|found| found.is_link());
        let real = way.end(name).ok().flatten().filter(|real| real.folder.has(&real.name, &file));
        Ok(Self { file, about, found: Found { named: Some(named), real, is_link, link: way.link().cloned() } })
    }

    /// Opens the file with this folder and name, follows no link, and does not wait for the writer of a pipe.
    ///
    /// # Errors
    /// The errors of [`Folder::file`].
    pub fn exactly_at(spot: Spot, write: bool) -> io::Result<Self> {
        let opened = if write { spot.folder.file_to_change(&spot.name) } else { spot.folder.file(&spot.name) };
        let (file, about) = opened?;
        Ok(Self { file, about, found: Found { real: Some(spot.clone()), named: Some(spot), ..Found::default() } })
    }
}
