//! The way from the target to the folder that is being filled.

use super::folder::Folder;
use super::ledger::Trouble;
use crate::path::name;
use std::sync::Arc;

/// So many of the folders on the way are open.
const OPEN: usize = 64;

/// Folders, each in the one before.
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
        if let Some(far) = self.folders.len().checked_sub(OPEN) {
            self.folders[far].close();
        }
    }

    /// How many folders of `path` are on the way, and how many bytes of it these are.
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

    /// Goes back until all on the way is part of `path`. Says how many bytes of it these are.
    pub(super) fn back_to(&mut self, path: &[u8]) -> usize {
        let (count, length) = self.common(path);
        while self.folders.len() > count {
            if let Some(folder) = self.folders.pop() {
                folder.leave();
            }
        }
        length
    }

    /// A folder that is there, without leaving the way.
    pub(super) fn reach(&self, path: &[u8], ours: bool) -> Result<Arc<Folder>, Trouble> {
        let (count, length) = self.common(path);
        let mut folder = Arc::clone(count.checked_sub(1).map_or(&self.target, |last| &self.folders[last]));
        for component in path[length..].split(|byte| *byte == b'/').filter(|component| !component.is_empty()) {
            folder = Folder::enter(&folder, component, ours)?;
        }
        Ok(folder)
    }

    /// Removes a file or a link.
    pub(super) fn remove(&self, path: &[u8], ours: bool) -> Result<(), Trouble> {
        let folder = self.reach(super::parent(path), ours)?;
        rustix::fs::unlinkat(&*folder.handle()?, name(path), rustix::fs::AtFlags::empty()).map_err(Trouble::system("remove"))
    }

    /// Lets go of all folders: they get their times.
    pub(super) fn end(&mut self) {
        while self.folders.pop().is_some() {}
        self.target.fill();
    }
}
