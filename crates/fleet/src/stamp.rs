//! Stamps: an attribute of a result in a folder shows from which version of its source the result was made.
//!
//! Times alone do not show this. If a folder is renamed, or a link leads to another folder, a source may have an older
//! file than before. If a clock was wrong, a result may have a time in the future.
//!
//! A stamp contains a keyed hash, so it shows nothing about the source to people without the key.

use std::fmt;
use std::fs::File;
use std::io;

use deadpan_disk::Handle;

/// The name of the attribute.
const NAME: &[u8] = b"user.deadpan.source";
/// The number of bytes of a stamp that name the key.
const ID: usize = 8;
/// The number of bytes of a stamp.
const LENGTH: usize = ID + 16;

/// The key of all stamps that a machine makes.
#[derive(Clone)]
pub struct StampKey {
    key: [u8; 32],
    /// The first bytes of each stamp.
    id: [u8; ID],
}

impl fmt::Debug for StampKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StampKey(..)")
    }
}

/// A stamp: the name of its key, and a hash of the version of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp([u8; LENGTH]);

/// What the attributes of a result show.
pub(crate) enum Stamped {
    /// A stamp of this key.
    Own(Stamp),
    /// No stamp, or a stamp of another key.
    No,
    /// The file system has no attributes, or the attributes cannot be read.
    Unknown,
}

impl StampKey {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        // A version of a source is never empty.
        let id = blake3::keyed_hash(&key, b"");
        Self { key, id: *id.as_bytes().first_chunk().unwrap_or(&[0; ID]) }
    }

    /// Returns the stamp for a version of a source.
    pub(crate) fn stamp(&self, version: &str) -> Stamp {
        let mut stamp = [0; LENGTH];
        stamp[..ID].copy_from_slice(&self.id);
        stamp[ID..].copy_from_slice(&blake3::keyed_hash(&self.key, version.as_bytes()).as_bytes()[..LENGTH - ID]);
        Stamp(stamp)
    }

    /// Reads the stamp of a result.
    pub(crate) fn read(&self, file: &File) -> Stamped {
        match file.attribute(NAME, LENGTH) {
            Ok(Some(value)) if value.starts_with(&self.id) => {
                value.try_into().map_or(Stamped::No, |stamp| Stamped::Own(Stamp(stamp)))
            }
            Ok(_) => Stamped::No,
            Err(error) if error.kind() == io::ErrorKind::Unsupported => Stamped::Unknown,
            // The value is too long for a stamp.
            Err(_) => Stamped::No,
        }
    }
}

impl Stamp {
    /// Puts the stamp on a result that has no name yet. Without a stamp, later runs compare times.
    pub fn put(&self, file: &File) {
        // Some file systems have no attributes, or no room for one.
        let _ = file.set_attribute(NAME, &self.0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn a_stamp_belongs_to_its_key_and_version() {
        let (one, other) = (StampKey::new([1; 32]), StampKey::new([2; 32]));
        assert_eq!(one.stamp("a"), one.stamp("a"));
        assert_ne!(one.stamp("a"), one.stamp("b"));
        assert_ne!(one.stamp("a"), other.stamp("a"));
        let file = tempfile::tempfile().expect("a file");
        assert!(!matches!(one.read(&file), Stamped::Own(_)));
        one.stamp("a").put(&file);
        if matches!(one.read(&file), Stamped::Unknown) {
            let _ = writeln!(io::stderr(), "skipped: the file system has no attributes");
            return;
        }
        assert!(matches!(one.read(&file), Stamped::Own(stamp) if stamp == one.stamp("a")));
        assert!(matches!(other.read(&file), Stamped::No));
        for value in [&b""[..], &one.stamp("a").0[..LENGTH - 1], &[&one.stamp("a").0[..], b"x"].concat()] {
            file.set_attribute(NAME, value).expect("an attribute");
            assert!(matches!(one.read(&file), Stamped::No), "{value:?}");
        }
    }
}
