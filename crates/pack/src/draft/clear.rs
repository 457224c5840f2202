//! Removes a folder and its contents, also if an archive gave its folders modes that forbid removal.

use std::fs;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Dir, FileType, Mode, OFlags, fchmod, open, openat};
use rustix::io::Errno;

/// The number of attempts. Other threads can add files while the folder is emptied.
const TRIES: usize = 20;

/// Removes the folder. Returns whether it is gone.
#[must_use]
pub fn clear(path: &Path) -> bool {
    // An empty folder is removed without another open file, which a limit (`ulimit -n`) may not allow.
    if fs::remove_dir(path).is_ok() {
        return true;
    }
    for _ in 0..TRIES {
        match fs::remove_dir_all(path) {
            Ok(()) => return true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return true,
            // The owner, too, cannot remove entries from a folder without write permission.
            Err(_) => unlock(path),
        }
    }
    false
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

fn unlock(path: &Path) {
    if let Ok(folder) = open(path, FOLDER | OFlags::RDONLY, Mode::empty()) {
        inside(&folder);
    }
}

/// Makes a folder, and all folders in it, accessible to the owner.
fn inside(folder: &OwnedFd) {
    let _ = fchmod(folder, Mode::RWXU);
    for entry in Dir::read_from(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if entry.file_type() == FileType::Directory && !matches!(name.to_bytes(), b"." | b"..") {
            let opened = match openat(folder, name, FOLDER | OFlags::RDONLY, Mode::empty()) {
                Err(Errno::ACCESS) => locked(folder, name),
                opened => opened,
            };
            opened.iter().for_each(inside);
        }
    }
}

/// Changes the mode of a folder that its owner may not read, and opens the folder.
#[cfg(target_os = "linux")]
fn locked(folder: impl AsFd, name: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
    let place = openat(&folder, name, FOLDER | OFlags::PATH, Mode::empty())?;
    rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), Mode::RWXU)?;
    openat(folder, name, FOLDER | OFlags::RDONLY, Mode::empty())
}

#[cfg(not(target_os = "linux"))]
fn locked(_folder: impl AsFd, _name: &std::ffi::CStr) -> Result<OwnedFd, Errno> {
    Err(Errno::ACCESS)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// Root may remove the files whatever the modes are, so as root the test checks only what is removed.
    #[test]
    fn folders_that_may_not_be_written_or_read() {
        let around = std::env::temp_dir().join(format!("deadpan-clear-{}", std::process::id()));
        let path = around.join("folder");
        fs::create_dir_all(path.join("a/b/c")).unwrap();
        fs::write(path.join("a/b/c/file"), "x").unwrap();
        fs::write(around.join("kept"), "x").unwrap();
        std::os::unix::fs::symlink("..", path.join("a/b/link")).unwrap();
        for (inner, mode) in [("a/b/c", 0o555), ("a/b", 0o111), ("a", 0o000)] {
            fs::set_permissions(path.join(inner), fs::Permissions::from_mode(mode)).unwrap();
        }
        assert!(clear(&path));
        assert!(fs::symlink_metadata(&path).is_err());
        assert!(around.join("kept").exists());
        fs::remove_dir_all(&around).unwrap();
    }
}
