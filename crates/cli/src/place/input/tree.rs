//! The files in a folder and all its subfolders, in order of their names. No link is followed, and each name is looked
//! up in the open folder that contains the name.

use std::io;
use std::path::{Path, PathBuf};

use crate::place::held;
use crate::place::held::refuse_link;
use crate::place::journal::is_record;
use crate::place::sealed::looks_sealed;
use crate::tell::failure::Failure;
use deadpan_disk::{Folder, Input, Node, OpenMode, Spot, Walk, WalkStep, names};

/// An entry that is not a folder.
pub enum FileTreeEntry {
    Sealed(Spot),
    /// A file that is not sealed, or an entry such as a device.
    Other(Spot),
    Failed(PathBuf, Failure),
}

pub struct FileTree(Walk);

impl FileTree {
    /// Opens the folder. The path of the folder may be a link. A link that belongs to another user is followed only if
    /// `force` is true.
    pub fn open(path: &Path, force: bool) -> Result<Self, Failure> {
        let failed = |error| Failure::path("read", path, &error);
        let Input { file, found, .. } = held::open(path, OpenMode::default()).map_err(failed)?;
        refuse_link(&found, force)?;
        Folder::from_file(file, path).and_then(Walk::new).map(Self).map_err(failed)
    }
}

impl Iterator for FileTree {
    type Item = FileTreeEntry;

    fn next(&mut self) -> Option<FileTreeEntry> {
        while self.0.advance() {
            let spot = self.0.spot()?;
            let failed = |error: &io::Error| {
                let path = spot.path();
                let failure = Failure::path("read", &path, error);
                Some(FileTreeEntry::Failed(path, failure))
            };
            match self.0.open() {
                Ok(WalkStep::Node(Node::Folder(Ok(())), _) | WalkStep::Gone) => {}
                Ok(WalkStep::Node(Node::Folder(Err(error)), _) | WalkStep::Unreadable(error)) => return failed(&error),
                // Unfinished outputs and records of killed runs are not files of the user, so they are skipped.
                Ok(WalkStep::Node(Node::File(_), _)) if names::is_of_any(&spot.name) || is_record(&spot.name) => {}
                Ok(WalkStep::Node(Node::File(file), _)) => match looks_sealed(&file) {
                    Ok(true) => return Some(FileTreeEntry::Sealed(spot)),
                    Ok(false) => return Some(FileTreeEntry::Other(spot)),
                    Err(error) => return failed(&error),
                },
                Ok(WalkStep::Node(..)) => return Some(FileTreeEntry::Other(spot)),
                Err(error) => return failed(&error),
            }
        }
        None
    }
}
