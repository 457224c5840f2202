//! An input that is found once: the file, and the folders in which it was named and in which it lies.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use crate::about::{About, FileKind};
use crate::folder::{Folder, name_of, parent, trimmed};

/// The number of symbolic links that systems follow in one path.
const LINKS: usize = 40;

/// How an input is opened.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenMode {
    /// Whether the caller writes to the file too.
    pub write: bool,
    /// Whether opening a pipe waits for its writer.
    pub wait: bool,
}

impl OpenMode {
    /// For reading, and with patience for the writer of a pipe.
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
/// What belongs beside the input goes through the folders that were held when it was opened. So nobody can change,
/// between reading and writing, which folder that is.
#[derive(Debug)]
pub struct Input {
    /// The file.
    pub file: File,
    /// What the system knows of it.
    pub about: About,
    /// Where it was found.
    pub found: Found,
}

/// Where an input was found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Where the input was named. `None` if its path does not end with a name, like `..`.
    pub named: Option<Spot>,
    /// Where the file lies: other than `named` only if that is a link. `None` where links have no path, like those in
    /// `/dev/fd`, and if the name was replaced while it was opened.
    pub real: Option<Spot>,
    /// The owner of a link on the way from the name to the file, if that is neither the caller nor root.
    pub stranger: Option<u32>,
}

impl Found {
    /// Returns the folder in which the input was named, if `path` names an output beside it by the same path.
    #[must_use]
    pub fn folder_beside(&self, path: &Path) -> Option<&Folder> {
        self.named.as_ref().map(|named| &named.folder).filter(|folder| folder.path() == parent(path))
    }
}

impl Input {
    /// Opens the file that `path` names, and follows links.
    ///
    /// # Errors
    /// Those of the system.
    pub fn open(path: &Path, opening: OpenMode) -> io::Result<Self> {
        let trimmed = trimmed(path);
        let Some(name) = name_of(&trimmed) else {
            let folder = Folder::open(path)?;
            let about = folder.about()?;
            return Ok(Self { file: folder.to_file()?, about, found: Found::default() });
        };
        let named = Spot { folder: Folder::open_for_names(parent(&trimmed))?, name: name.to_owned() };
        let input = Self::at(named, opening)?;
        match name_of(path).is_some() || input.about.is_folder() {
            true => Ok(input),
            false => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// Opens the file at a spot, and follows links.
    ///
    /// # Errors
    /// Those of the system.
    pub fn at(named: Spot, opening: OpenMode) -> io::Result<Self> {
        let access = if opening.write { OFlags::RDWR } else { OFlags::RDONLY };
        let file = named.folder.open_followed(&named.name, access, opening.wait)?;
        let about = About::of_file(&file)?;
        // Only a pipe is asked again when it has data. A device waits by itself.
        if !matches!(about.kind, FileKind::File | FileKind::Folder | FileKind::Fifo) {
            fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
        }
        let found = find(named, &about);
        Ok(Self { file, about, found })
    }

    /// Opens the file at a spot, which must not be a link, without waiting for the writer of a pipe.
    ///
    /// # Errors
    /// Those of [`Folder::file`].
    pub fn exactly_at(spot: Spot, write: bool) -> io::Result<Self> {
        let opened = if write { spot.folder.file_to_change(&spot.name) } else { spot.folder.file(&spot.name) };
        let (file, about) = opened?;
        Ok(Self { file, about, found: Found { real: Some(spot.clone()), named: Some(spot), stranger: None } })
    }
}

/// Finds where the open file lies, by following the links at its name one after the other.
fn find(named: Spot, about: &About) -> Found {
    let mut stranger = None;
    let real = real(named.clone(), about, &mut stranger);
    Found { named: Some(named), real, stranger }
}

fn real(mut spot: Spot, about: &About, stranger: &mut Option<u32>) -> Option<Spot> {
    for _ in 0..LINKS {
        let found = spot.folder.look(&spot.name).ok()??;
        if !found.is_link() {
            return (found.id == about.id).then_some(spot);
        }
        if !found.is_trusted() {
            stranger.get_or_insert(found.owner);
        }
        let target = PathBuf::from(spot.folder.read_link(&spot.name).ok()?);
        let folder = spot.folder.follow(parent(&target)).ok()?;
        // A link to a folder may end with a slash, or with dots.
        let name = target.file_name().filter(|_| !ends_with_dots(&target))?.to_owned();
        spot = Spot { folder, name };
    }
    None
}

fn ends_with_dots(path: &Path) -> bool {
    let last = path.as_os_str().as_bytes().rsplit(|byte| *byte == b'/').find(|part| !part.is_empty());
    last.is_none_or(|last| matches!(last, b"." | b".."))
}
