//! The files in a folder and all folders in it, in order of their names. Links are not followed.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::journal;
use crate::armor;
use crate::failure::Failure;
use crate::partial::is_draft;

/// The first bytes of a sealed file.
const SIGNATURE: &[u8] = b"\x89DPN";
/// The first bytes of a file that age sealed.
const AGE: &[u8] = b"age-encryption.org/";
const AGE_ARMOR: &[u8] = b"-----BEGIN AGE ENCRYPTED FILE-----";

/// An entry that is not a folder.
pub enum Entry {
    Sealed(PathBuf),
    /// Another file, or something that is no file.
    Other,
    Failed(PathBuf, Failure),
}

/// An iterator over the entries of a tree.
pub struct Tree {
    /// The paths that are still to be looked at, the next one last.
    rest: Vec<PathBuf>,
}

impl Tree {
    pub fn of(folder: &Path) -> Self {
        // The folder itself may be named by a link.
        let mut tree = Self { rest: Vec::new() };
        if tree.enter(folder).is_err() {
            tree.rest.push(folder.to_owned());
        }
        tree
    }

    fn enter(&mut self, folder: &Path) -> std::io::Result<()> {
        let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
        entries.sort_unstable_by(|one, other| other.cmp(one));
        self.rest.extend(entries);
        Ok(())
    }
}

impl Iterator for Tree {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        loop {
            let path = self.rest.pop()?;
            let failed = |path: PathBuf, error: &std::io::Error| {
                let failure = Failure::path("read", &path, error);
                Some(Entry::Failed(path, failure))
            };
            match fs::symlink_metadata(&path) {
                Ok(about) if about.is_dir() => {
                    if let Err(error) = self.enter(&path) {
                        return failed(path, &error);
                    }
                }
                // Drafts and records of killed runs belong to other files.
                Ok(about) if about.is_file() && (is_draft(&path) || journal::is_record(&path)) => {}
                Ok(about) if about.is_file() => match is_sealed(&path) {
                    Ok(true) => return Some(Entry::Sealed(path)),
                    Ok(false) => return Some(Entry::Other),
                    Err(error) => return failed(path, &error),
                },
                Ok(_) => return Some(Entry::Other),
                Err(error) => return failed(path, &error),
            }
        }
    }
}

/// Whether the file begins like a sealed one, in armor or not.
fn is_sealed(path: &Path) -> std::io::Result<bool> {
    let mut start = Vec::new();
    File::open(path)?.take(armor::BEGINNING as u64).read_to_end(&mut start)?;
    let is_age_armor = || start.trim_ascii_start().starts_with(AGE_ARMOR);
    Ok(start.starts_with(SIGNATURE) || start.starts_with(AGE) || armor::find(&start).is_some() || is_age_armor())
}
