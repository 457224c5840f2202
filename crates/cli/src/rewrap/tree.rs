//! The files in a folder and all folders in it, in order of their names. No link is followed, and each name is looked
//! up in the open folder that holds it.

use std::io;
use std::path::{Path, PathBuf};

use super::file::refuse_link;
use super::journal;
use crate::failure::Failure;
use crate::held;
use crate::sealed::looks_sealed;
use deadpan_disk::{Folder, Input, Node, OpenMode, Spot, Walk, WalkStep, names};

/// An entry that is not a folder.
pub enum Entry {
    Sealed(Spot),
    /// Another file, or something that is no file.
    Other,
    Failed(PathBuf, Failure),
}

/// An iterator over the entries of a tree.
pub struct Tree(Walk);

impl Tree {
    /// Opens the folder. The folder itself may be named by a link; with `force`, also by a link of another user.
    pub fn of(path: &Path, force: bool) -> Result<Self, Failure> {
        let failed = |error| Failure::path("read", path, &error);
        let Input { file, found, .. } = held::open(path, OpenMode::default()).map_err(failed)?;
        refuse_link(&found, force)?;
        Folder::from_file(file, path).and_then(Walk::new).map(Self).map_err(failed)
    }
}

impl Iterator for Tree {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        while self.0.advance() {
            let spot = self.0.spot()?;
            let failed = |error: &io::Error| {
                let path = spot.path();
                let failure = Failure::path("read", &path, error);
                Some(Entry::Failed(path, failure))
            };
            match self.0.open() {
                Ok(WalkStep::Node(Node::Folder(Ok(())), _) | WalkStep::Gone) => {}
                Ok(WalkStep::Node(Node::Folder(Err(error)), _) | WalkStep::Unreadable(error)) => return failed(&error),
                // Drafts and records of killed runs belong to other files.
                Ok(WalkStep::Node(Node::File(_), _))
                    if names::is_of_any(&spot.name) || journal::is_record(&spot.name) => {}
                Ok(WalkStep::Node(Node::File(file), _)) => match looks_sealed(&file) {
                    Ok(true) => return Some(Entry::Sealed(spot)),
                    Ok(false) => return Some(Entry::Other),
                    Err(error) => return failed(&error),
                },
                Ok(WalkStep::Node(..)) => return Some(Entry::Other),
                Err(error) => return failed(&error),
            }
        }
        None
    }
}
