//! Replaces files so that a reader sees either the old or the complete new contents.

use std::path::Path;
use std::{fs, io};

/// Refuses a path that contains a link or folder that another user may have planted. A link could lead to any file. A
/// FIFO would make the program wait. A folder inside a folder that all users may write to, such as `/tmp`, is refused
/// too.
pub(crate) fn refuse_planted(path: &Path) -> io::Result<()> {
    if leads_through_others(path) {
        let message = "a link or FIFO of another user is in its path, or a folder of another user in one that all \
                           may write to";
        Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
    } else {
        Ok(())
    }
}

pub(crate) fn make_folder(path: &Path) -> io::Result<()> {
    refuse_planted(path)?;
    fs::create_dir_all(path)
}

/// Checks that a file can be written. If the file does not exist, this function creates the file and removes it again.
#[cfg(feature = "harness")]
pub(crate) fn check(path: &Path) -> io::Result<()> {
    refuse_planted(path)?;
    let created = fs::symlink_metadata(path).is_err();
    fs::OpenOptions::new().append(true).create(true).open(path)?;
    if created {
        let _ = fs::remove_file(path);
    }
    Ok(())
}

/// Writes a temporary file and renames it to `path`. If the write of the temporary file fails, for example because the
/// disk is full, the old file remains. Pipes and devices are written directly.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    refuse_planted(path)?;
    // If the path is a symbolic link, the link remains and its target is replaced.
    let place = fs::canonicalize(path);
    let path = place.as_deref().unwrap_or(path);
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, bytes);
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, path));
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written
}

/// Returns whether this path contains, or leads to, a link or folder that another user may have planted. The owner of
/// `/proc/self` is the user of this process. If the system has no `/proc/self`, the function returns false.
#[cfg(unix)]
fn leads_through_others(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fn search(path: &Path, own: u32, left: &mut u32) -> bool {
        path.ancestors().collect::<Vec<_>>().into_iter().rev().any(|place| {
            let Ok(found) = fs::symlink_metadata(place) else { return false };
            let is_foreign = ![0, own].contains(&found.uid());
            let around = place.parent().filter(|around| !around.as_os_str().is_empty()).unwrap_or(Path::new("."));
            if !found.is_symlink() {
                // Mode 1000 is the sticky bit. Mode 022 allows the group and all other users to write.
                let is_open = fs::metadata(around).is_ok_and(|it| it.mode() & 0o1000 != 0 && it.mode() & 0o022 != 0);
                return is_foreign && !found.is_file() && (is_open || !found.is_dir());
            }
            *left = left.saturating_sub(1);
            let leads = |target: std::path::PathBuf| *left > 0 && search(&around.join(target), own, left);
            is_foreign || fs::read_link(place).is_ok_and(leads)
        })
    }
    // The search follows at most 1000 links, because each link can lead to further links.
    fs::metadata("/proc/self").is_ok_and(|process| search(path, process.uid(), &mut 1000))
}

#[cfg(not(unix))]
fn leads_through_others(_path: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("deadpan-disk-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn a_replaced_file_has_no_temporary_file_beside_it() {
        let folder = folder("replace");
        let path = folder.join("record.json");
        write(&path, b"old, and longer").unwrap();
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_failed_write_leaves_no_temporary_file() {
        let folder = folder("refuse");
        assert!(write(&folder.join("missing").join("record.json"), b"new").is_err());
        assert!(write(&folder, b"new").is_err());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        fs::remove_dir_all(folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_a_device_is_written_to() {
        let folder = folder("link");
        let (path, link) = (folder.join("record.json"), folder.join("link"));
        write(&path, b"old").unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        write(Path::new("/dev/null"), b"new").unwrap();
        fs::remove_dir_all(folder).unwrap();
    }
}
