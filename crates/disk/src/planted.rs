//! Folders that another user may have planted.
//!
//! In a sticky folder that others can write, such as `/tmp`, another user can make a folder under the name of an
//! output, or a link that leads the output to any folder. In other folders, a folder of another user can be the shared
//! folder of a project.

use std::ffi::OsStr;
use std::path::Path;

use crate::error::Error;
use crate::folder::{Folder, name_of, parent, trimmed};

/// The user who may have planted what a path leads to, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planter {
    /// The owner of a link at the end of the path.
    OfLink(u32),
    /// The owner of the folder at the end of the path. All users may write to the folder around it.
    OfFolder(u32),
}

/// Returns the user who may have planted a link or a folder under this name.
#[must_use]
pub fn planter(path: &Path) -> Option<Planter> {
    match Folder::open_unplanted(path) {
        Err(Error::Planted(planter)) => Some(planter),
        _ => None,
    }
}

impl Folder {
    /// Opens the folder that `path` names, unless another user may have planted it. What is checked is the folder that
    /// was opened.
    ///
    /// # Errors
    /// [`Error::Planted`] if another user may have planted it, [`Error::NoFolder`] if it does not exist; otherwise what
    /// the system refused.
    pub fn open_unplanted(path: &Path) -> Result<Self, Error> {
        let trimmed = trimmed(path);
        let Some(name) = name_of(&trimmed) else { return Self::open_for_names(path).map_err(Error::of_folder) };
        Self::open_for_names(parent(&trimmed)).map_err(Error::of_folder)?.enter_unplanted(name)
    }

    /// Opens a folder in this one, and follows a link, unless another user may have planted it.
    ///
    /// # Errors
    /// Those of [`open_unplanted`](Self::open_unplanted).
    pub fn enter_unplanted(&self, name: &OsStr) -> Result<Self, Error> {
        let found = self.look(name).map_err(Error::of_folder)?.ok_or(Error::NoFolder)?;
        if found.is_link() && !found.is_trusted() {
            return Err(Error::Planted(Planter::OfLink(found.owner)));
        }
        let folder = match found.is_link() {
            true => self.enter_followed(name).map_err(Error::of_folder)?,
            false => self.enter_for_names(name).map_err(Error::of_folder)?,
        };
        let about = folder.about().map_err(Error::create)?;
        let around = folder.follow(Path::new("..")).ok().and_then(|above| above.about().ok());
        match !about.is_trusted() && around.is_none_or(|above| above.is_open_to_others()) {
            true => Err(Error::Planted(Planter::OfFolder(about.owner))),
            false => Ok(folder),
        }
    }
}
