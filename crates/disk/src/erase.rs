//! Overwrites the files in a folder with zeros, and removes the folder: for folders that hold secrets.
//!
//! On file systems that write each change to a new place, and on flash memory, the old bytes may stay on the disk.
//! Therefore secrets belong into a folder in memory ([`Folder::is_in_memory`]).

use std::ffi::OsStr;
use std::fs::File;

use crate::about::About;
use crate::clear::clear;
use crate::folder::Folder;
use crate::portable::FileExt;
use crate::sync::sync_data;

/// The number of zeros that one write stores.
const STEP: usize = 1 << 16;
/// The maximum number of folders that are open at once. The files in further folders are removed, but not overwritten.
const OPEN: usize = 64;

/// Removes a folder as [`clear`] does, but overwrites its files before. Returns whether the folder is gone.
pub(crate) fn erase(parent: &Folder, name: &OsStr) -> bool {
    let mut folders: Vec<_> = parent.enter_unmounted(name).into_iter().collect();
    while let Some(folder) = folders.pop() {
        for (name, _) in folder.entries().into_iter().flatten().flatten() {
            // Neither `enter_unmounted` nor `overwrite_named` follows a link.
            match folder.enter_unmounted(&name) {
                Ok(inner) if folders.len() < OPEN => folders.push(inner),
                Ok(_) => {}
                Err(_) => overwrite_named(&folder, &name),
            }
        }
    }
    clear(parent, name)
}

/// Overwrites a file, unless the file has another name, which may lie outside the folder. Failures are ignored, because
/// the file is removed in any case.
fn overwrite_named(folder: &Folder, name: &OsStr) {
    let Ok((file, about)) = folder.file_to_change(name) else { return };
    if about.is_file() && about.links < 2 {
        overwrite_open(&file, &about);
    }
}

/// Overwrites an open file with zeros, even if the file has no name any more. Ignores failures.
pub fn overwrite(file: &File) {
    if let Ok(about) = About::of_file(file) {
        overwrite_open(file, &about);
    }
}

fn overwrite_open(file: &File, about: &About) {
    let zeros = [0; STEP];
    let mut position = 0;
    while position < about.length {
        let length = usize::try_from(about.length - position).unwrap_or(STEP).min(STEP);
        if file.write_all_at(&zeros[..length], position).is_err() {
            return;
        }
        position += length as u64;
    }
    let _ = sync_data(file);
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::io::Read;

    use super::*;

    /// The test keeps the files open, so that it reads what the removed files contain.
    #[test]
    fn all_files_are_overwritten_and_no_other_file() {
        let place = tempfile::tempdir().expect("a folder");
        let path = |name: &str| place.path().join(name);
        fs::create_dir_all(path("drafts/inner/deep")).expect("made");
        let secret = b"secret".repeat(20_000);
        let written = ["drafts/notes.txt", "drafts/.notes.txt.swp", "drafts/inner/deep/notes.txt~"];
        let mut open: Vec<_> = written
            .iter()
            .map(|name| {
                fs::write(path(name), &secret).expect("written");
                fs::File::open(path(name)).expect("it is there")
            })
            .collect();
        for name in ["outside", "linked"] {
            fs::write(path(name), &secret).expect("written");
        }
        std::os::unix::fs::symlink("../outside", path("drafts/link")).expect("linked");
        std::os::unix::fs::symlink("..", path("drafts/inner/around")).expect("linked");
        fs::hard_link(path("linked"), path("drafts/hard")).expect("linked");
        assert!(erase(&Folder::open(place.path()).expect("it is there"), OsStr::new("drafts")));
        assert!(!path("drafts").exists());
        for file in &mut open {
            let mut now = Vec::new();
            file.read_to_end(&mut now).expect("read");
            assert!(now == vec![0; secret.len()]);
        }
        for name in ["outside", "linked"] {
            assert!(fs::read(path(name)).expect("it is there") == secret, "{name}");
        }
    }
}
