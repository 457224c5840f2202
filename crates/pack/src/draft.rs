//! Names for files and folders that are not complete yet.
//!
//! A draft lies in the folder of its target and is called `.NAME.XXXXXXXXXXXXXXXX.deadpan-part`. When it is complete,
//! [`rename_new`] gives it its name. [`Unpacker`](crate::Unpacker) makes drafts for files in folders that existed
//! before. The command line makes them for its outputs, and removes drafts of killed runs.

mod clear;

pub use clear::clear;

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, linkat, renameat, unlinkat};
use rustix::io::Errno;

const SUFFIX: &str = ".deadpan-part";

/// The most bytes of a target's name in that of its draft: names have 255 bytes at most, and the dots, the random
/// number and the suffix need 31 of them.
const LONGEST_STEM: usize = 200;

/// Returns a name for a draft of `name`. The name is random, so no file has it yet.
#[must_use]
pub fn name(name: &[u8]) -> Vec<u8> {
    let random = RandomState::new().build_hasher().finish();
    [&prefix(name)[..], format!("{random:016x}{SUFFIX}").as_bytes()].concat()
}

/// Whether `found` is the name of a draft of `name`.
#[must_use]
pub fn is_of(found: &[u8], name: &[u8]) -> bool {
    found.strip_prefix(&prefix(name)[..]).and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes())).is_some_and(is_random)
}

/// Whether `found` is the name of a draft of any file.
#[must_use]
pub fn is_of_any(found: &[u8]) -> bool {
    let inner = found.strip_prefix(b".").and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    let Some((stem, random)) = inner.and_then(|inner| inner.split_at_checked(inner.len().saturating_sub(16))) else {
        return false;
    };
    stem.len() > 1 && stem.ends_with(b".") && is_random(random)
}

/// Whether this is the random number in the name of a draft.
fn is_random(number: &[u8]) -> bool {
    number.len() == 16 && number.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn prefix(name: &[u8]) -> Vec<u8> {
    [b".", &name[..name.len().min(LONGEST_STEM)], b"."].concat()
}

/// Renames a file or folder within `folder`, and never replaces a file.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] or [`io::ErrorKind::DirectoryNotEmpty`] if something has the name `to`; otherwise
/// the system's error.
pub fn rename_new(folder: impl AsFd, from: &[u8], to: &[u8]) -> io::Result<()> {
    rename(folder.as_fd(), from, to).map_err(Into::into)
}

fn rename(folder: std::os::fd::BorrowedFd<'_>, from: &[u8], to: &[u8]) -> Result<(), Errno> {
    #[cfg(target_os = "linux")]
    match rustix::fs::renameat_with(folder, from, folder, to, rustix::fs::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {}
        result => return result,
    }
    match linkat(folder, from, folder, to, AtFlags::empty()) {
        // Folders cannot be linked. Renaming one replaces nothing but an empty folder.
        Err(Errno::PERM | Errno::ISDIR) => renameat(folder, from, folder, to),
        result => result.and_then(|()| unlinkat(folder, from, AtFlags::empty())),
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::*;

    #[test]
    fn drafts_are_told_by_their_names() {
        let long = [b'x'; 255];
        for target in [&b"a"[..], b".hidden", b"\xff", &long] {
            let draft = name(target);
            assert!(draft.len() <= 255 && is_of(&draft, target) && is_of_any(&draft), "{}", draft.escape_ascii());
            assert_ne!(draft, name(target), "no two are the same");
            assert!(!is_of(&draft, b"b"));
        }
        for other in
            [&b"a"[..], b".a.txt", b".a.mine.deadpan-part", b".a..deadpan-part", b".a.0123456789abcdeF.deadpan-part"]
        {
            assert!(!is_of(other, b"a") && !is_of_any(other), "{}", other.escape_ascii());
        }
    }

    #[test]
    fn nothing_is_replaced() {
        let place = tempfile::tempdir().expect("a folder");
        let path = |name: &str| place.path().join(name);
        let folder = File::open(place.path()).expect("it is there");
        fs::write(path("new"), "new").expect("written");
        fs::write(path("old"), "old").expect("written");
        let error = rename_new(&folder, b"new", b"old").expect_err("it is there");
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        rename_new(&folder, b"new", b"other").expect("renamed");
        assert_eq!((fs::read(path("other")).ok(), path("new").exists()), (Some(b"new".to_vec()), false));
        fs::create_dir(path("folder")).expect("made");
        rename_new(&folder, b"folder", b"renamed").expect("renamed");
        assert!(rename_new(&folder, b"renamed", b"old").is_err() && path("renamed").is_dir());
    }
}
