//! A part of an archive that is read through: what was selected, and the folders that lead to it.

use crate::path::is_under;
use crate::select::Filter;
use crate::tar::Member;
use crate::{Error, shown};

/// Extended attributes of folders that were passed over are kept up to so many bytes: each folder may have a megabyte, and be in a thousand others.
const MOST_ATTRIBUTES: usize = 16 << 20;

/// So much room takes an attribute besides its bytes, at least: there may be very short ones, in millions.
const ATTRIBUTE: usize = size_of::<(Vec<u8>, Vec<u8>)>();

/// What is to be unpacked.
#[derive(Debug)]
pub(super) struct Only {
    filter: Filter,
    /// Folders that were passed over, each in the one before, with their numbers: they are made when something in them is. In a pack these are
    /// all that can still be needed, and so there are never more of them than paths are deep.
    passed: Vec<(u64, Member)>,
}

impl Only {
    pub(super) fn new(filter: Filter) -> Self {
        Self { filter, passed: Vec::new() }
    }

    pub(super) fn filter(&mut self) -> &mut Filter {
        &mut self.filter
    }

    /// A folder was passed over.
    pub(super) fn pass(&mut self, number: u64, folder: Member) -> Result<(), Error> {
        let path = &folder.entry.path;
        while self.passed.last().is_some_and(|(_, above)| !is_under(path, &above.entry.path) || above.entry.path == *path) {
            self.passed.pop();
        }
        self.passed.push((number, folder));
        let attributes = self.passed.iter().flat_map(|(_, folder)| &folder.attributes);
        if attributes.map(|(name, value)| name.len() + value.len() + ATTRIBUTE).sum::<usize>() <= MOST_ATTRIBUTES {
            return Ok(());
        }
        let path = self.passed.last().map_or_else(String::new, |(_, folder)| shown(&folder.entry.path));
        let what = format!("the folders down to {path} have extended attributes that take up more than {MOST_ATTRIBUTES} bytes");
        Err(Error::Refused { what, hint: "leave out --xattrs, or unpack all of it" })
    }

    /// The folders above `path` that were passed over, the outermost first; they count as made from now on.
    pub(super) fn above(&mut self, path: &[u8]) -> Vec<(u64, Member)> {
        let count = self.passed.iter().take_while(|(_, folder)| is_under(path, &folder.entry.path)).count();
        self.passed.drain(..count).collect()
    }
}
