//! The open folders from the target down to the current folder.

use std::sync::Arc;

use super::folder::{Folder, os};
use super::trouble::Trouble;
use crate::error::Action;
use crate::path::{name, parent};

/// The maximum number of open folders on the path to the current folder. The actual limit is lower if the system allows
/// few open files.
const OPEN: usize = 64;

/// A list of folders. Each folder lies inside the previous folder.
#[derive(Debug)]
pub(super) struct Way {
    folders: Vec<Arc<Folder>>,
    target: Arc<Folder>,
}

impl Way {
    pub(super) fn new(target: Arc<Folder>) -> Self {
        Self { folders: Vec::new(), target }
    }

    pub(super) fn target(&self) -> &Folder {
        &self.target
    }

    pub(super) fn last(&self) -> Arc<Folder> {
        Arc::clone(self.folders.last().unwrap_or(&self.target))
    }

    pub(super) fn push(&mut self, folder: Arc<Folder>) {
        self.folders.push(folder);
        if let Some(far) = self.folders.len().checked_sub(self.target.most_on_a_way().min(OPEN)) {
            self.folders[far].close();
        }
    }

    /// Returns how many of the current folders also contain `path`, and the length of the path of the deepest of them.
    fn common(&self, path: &[u8]) -> (usize, usize) {
        let (mut count, mut length) = (0, 0);
        if path.is_empty() {
            return (0, 0);
        }
        for (component, folder) in path.split(|byte| *byte == b'/').zip(&self.folders) {
            if component != folder.name() {
                break;
            }
            length += component.len() + usize::from(count > 0);
            count += 1;
        }
        (count, length)
    }

    /// Leaves the current folders that do not contain `path`. Returns the length of the path of the last remaining
    /// folder.
    pub(super) fn back_to(&mut self, path: &[u8]) -> usize {
        let (count, length) = self.common(path);
        while self.folders.len() > count {
            if let Some(folder) = self.folders.pop() {
                folder.leave();
            }
        }
        length
    }

    /// Opens an existing folder; the current folder stays the same.
    pub(super) fn reach(&self, path: &[u8], ours: bool) -> Result<Arc<Folder>, Trouble> {
        let (count, length) = self.common(path);
        let mut folder = Arc::clone(count.checked_sub(1).map_or(&self.target, |last| &self.folders[last]));
        for component in path[length..].split(|byte| *byte == b'/').filter(|component| !component.is_empty()) {
            folder = Folder::enter(&folder, component, ours, ours)?;
        }
        Ok(folder)
    }

    /// Removes a file or a link.
    pub(super) fn remove(&self, path: &[u8], ours: bool) -> Result<(), Trouble> {
        let folder = self.reach(parent(path), ours)?;
        folder.handle()?.remove(os(name(path))).map_err(Trouble::system(Action::Remove))
    }

    /// Leaves all folders, so that they get their modes and times.
    pub(super) fn end(&mut self) {
        while self.folders.pop().is_some() {}
        self.target.fill();
    }
}
