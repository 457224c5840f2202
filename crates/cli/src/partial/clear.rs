//! Taking a folder away with all that is in it, whatever modes that has got from an archive.

use rustix::fs::{Dir, FileType, Mode, OFlags, fchmod, open, openat};
use rustix::io::Errno;
use std::fs;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// What is still being filled gets new files while it is emptied: so often it is tried again.
const TRIES: usize = 20;

/// Removes the folder. Whether it is gone.
pub fn clear(path: &Path) -> bool {
    for _ in 0..TRIES {
        match fs::remove_dir_all(path) {
            Ok(()) => return true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return true,
            // In a folder that may not be written, nothing can be removed, not even by its owner.
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

/// Lets the owner into a folder and all folders in it.
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

/// Opens one that even its owner may not read.
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
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// As root, modes are no obstacle, and this is only about what is removed.
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
