//! Removes a folder and its contents through open handles, even if the modes of the folders forbid access. If another
//! file system is mounted in the folder, does not remove that file system.

use std::ffi::{OsStr, OsString};

use crate::about::FileKind;
use crate::folder::Folder;
use crate::names;
use crate::system::{Entries, Entry, Errno};

/// The maximum number of folders that are open at once. A folder that is nested deeper is first moved to the top
/// folder.
const OPEN: usize = 32;

/// Removes a folder. Returns whether it is gone.
#[must_use]
pub fn clear(parent: &Folder, name: &OsStr) -> bool {
    // Removing an empty folder needs no further open file. The limit on open files (`ulimit -n`) may already be
    // reached.
    match parent.remove_folder(name) {
        Ok(()) | Err(Errno::NOENT) => return true,
        Err(_) => {}
    }
    let Ok(top) = enter(parent, name) else { return false };
    loop {
        let progress = empty(&top);
        match parent.remove_folder(name) {
            Ok(()) | Err(Errno::NOENT) => return true,
            // After this attempt, there may still be folders that were moved into the top folder, or names that another
            // thread added: the next attempt removes them.
            Err(_) if progress => {}
            Err(_) => return false,
        }
    }
}

/// Opens a folder, and gives its owner all permissions for the folder.
fn enter(parent: &Folder, name: &OsStr) -> std::io::Result<Folder> {
    let folder = match parent.enter_unmounted(name) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
            parent.unlock(name)?;
            parent.enter_unmounted(name)?
        }
        entered => entered?,
    };
    folder.open_to_owner();
    Ok(folder)
}

/// A folder that is being emptied.
struct ClearLevel {
    folder: Folder,
    entries: Entries,
    name: OsString,
}

/// Removes everything in a folder, as far as the system allows. Returns whether anything was removed or moved.
fn empty(top: &Folder) -> bool {
    top.open_to_owner();
    let Ok(entries) = top.read() else { return false };
    let mut progress = false;
    let mut levels = vec![ClearLevel { folder: top.clone(), entries, name: OsString::new() }];
    while let Some(level) = levels.last_mut() {
        let Some(entry) = level.entries.next() else {
            let done = levels.pop();
            // Names that are added to the folder meanwhile are found by the next pass, which begins at the top folder.
            if let (Some(done), Some(above)) = (done, levels.last()) {
                progress |= above.folder.remove_folder(&done.name).is_ok() && above.folder.lacks(&done.name);
            }
            continue;
        };
        let Ok(entry) = entry else { continue };
        if entry.is_dots() {
            continue;
        }
        let (name, kind) = (entry.name(), entry.kind());
        // Most systems report whether a name belongs to a folder. If the report is missing or wrong, one more system
        // call is needed.
        if kind != Some(FileKind::Folder) {
            match level.folder.removed(name) {
                Err(Errno::ISDIR | Errno::PERM) => {}
                removed => {
                    progress |= removed.is_ok() && level.folder.lacks(name);
                    continue;
                }
            }
        }
        if level.folder.remove_folder(name).is_ok() {
            progress |= level.folder.lacks(name);
            continue;
        }
        let name = name.to_owned();
        if levels.len() >= OPEN {
            let to = names::name(OsStr::new("deep"));
            progress |= levels.last().is_some_and(|level| top.take_from(&level.folder, &name, &to).is_ok());
            continue;
        }
        let Some(level) = levels.last() else { break };
        let inner = enter(&level.folder, &name).and_then(|folder| Ok((folder.read()?, folder)));
        if let Ok((entries, folder)) = inner {
            levels.push(ClearLevel { folder, entries, name });
        }
    }
    progress
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Root may remove the files whatever their modes are. As root, the test therefore checks only the removal.
    #[test]
    fn folders_that_may_not_be_written_or_read() {
        let place = tempfile::tempdir().expect("a folder");
        let path = place.path().join("folder");
        fs::create_dir_all(path.join("a/b/c")).expect("made");
        fs::write(path.join("a/b/c/file"), "x").expect("written");
        fs::write(place.path().join("kept"), "x").expect("written");
        std::os::unix::fs::symlink("..", path.join("a/b/link")).expect("linked");
        for (inner, mode) in [("a/b/c", 0o555), ("a/b", 0o111), ("a", 0o000)] {
            fs::set_permissions(path.join(inner), fs::Permissions::from_mode(mode)).expect("set");
        }
        let around = Folder::open(place.path()).expect("it is there");
        assert!(clear(&around, OsStr::new("folder")));
        assert!(fs::symlink_metadata(&path).is_err());
        assert!(place.path().join("kept").exists());
    }

    /// Removes more nested folders than may be open at once.
    #[test]
    fn deep_folders() {
        let place = tempfile::tempdir().expect("a folder");
        let around = Folder::open(place.path()).expect("it is there");
        let mut folder = around.clone();
        for _ in 0..300 {
            folder.make(OsStr::new("d"), 0o700).expect("made");
            folder = folder.enter(OsStr::new("d")).expect("entered");
        }
        folder.create(OsStr::new("file")).expect("made");
        assert!(clear(&around, OsStr::new("d")));
        assert_eq!(around.look(OsStr::new("d")).expect("looked"), None);
    }
}
