//! Unpacks a part of an archive that is read in order: the selected entries and the folders that contain them.

use crate::error::{Error, Refusal};
use crate::path::is_under;
use crate::select::Filter;
use crate::shown::shown;
use crate::tar::Member;

/// The limit for the memory in which [`Only`] keeps extended attributes of skipped folders. A limit is needed, because
/// a thousand folders can be nested, each with a megabyte of attributes.
const MOST_ATTRIBUTES: usize = 16 << 20;

/// The memory for an attribute in addition to its bytes. This memory is counted too, because there can be millions of
/// short attributes.
const ATTRIBUTE: usize = size_of::<(Vec<u8>, Vec<u8>)>();

/// The filter with the selection, and the skipped folders that may still be needed.
#[derive(Debug)]
pub(super) struct Only {
    filter: Filter,
    /// Folders that are not made yet, with their numbers; each folder is inside the previous folder. A folder is made
    /// when an entry in the folder is selected. In a pack, only folders that contain the current entry can still be
    /// needed, so there are at most as many as a path has components.
    passed: Vec<(u64, Member)>,
}

impl Only {
    pub(super) fn new(filter: Filter) -> Self {
        Self { filter, passed: Vec::new() }
    }

    pub(super) fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    /// Keeps a skipped folder in memory, because an entry in the folder may be selected later.
    pub(super) fn pass(&mut self, number: u64, folder: Member) -> Result<(), Error> {
        let path = &folder.entry.path;
        while self
            .passed
            .last()
            .is_some_and(|(_, above)| !is_under(path, &above.entry.path) || above.entry.path == *path)
        {
            self.passed.pop();
        }
        self.passed.push((number, folder));
        let attributes = self.passed.iter().flat_map(|(_, folder)| &folder.attributes);
        if attributes.map(|(name, value)| name.len() + value.len() + ATTRIBUTE).sum::<usize>() <= MOST_ATTRIBUTES {
            return Ok(());
        }
        let path = self.passed.last().map_or_else(String::new, |(_, folder)| shown(&folder.entry.path));
        Err(Refusal::Attributes { path, limit: MOST_ATTRIBUTES }.into())
    }

    /// Removes and returns the folders above `path` that were skipped, the outermost folder first.
    pub(super) fn above(&mut self, path: &[u8]) -> Vec<(u64, Member)> {
        let count = self.passed.iter().take_while(|(_, folder)| is_under(path, &folder.entry.path)).count();
        self.passed.drain(..count).collect()
    }
}
