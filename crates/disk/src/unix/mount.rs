//! Mounts of FUSE: by handles and numbers, because another user may exchange a path meanwhile.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, open, statx};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, move_mount, unmount,
};
use rustix::process::{getgid, getuid};

use crate::folder::Folder;
use crate::input::{Input, OpenMode};

/// A mount, by the system's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mount(u64);

/// A read-only mount that is on no folder yet.
#[derive(Debug)]
pub struct NewMount(OwnedFd);

impl NewMount {
    /// Makes a mount for a program that answers through the returned device. Everybody can see `name` in the list of
    /// mounts. Only this user can look into the mount.
    ///
    /// # Errors
    /// If the caller is not root, or if the system has no FUSE or is older than Linux 5.8.
    pub fn make(name: &str) -> io::Result<(OwnedFd, Self)> {
        let device = open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        let fuse = fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (key, value) in [
            ("source", name),
            ("subtype", name),
            ("fd", &device.as_raw_fd().to_string()),
            ("rootmode", "40000"),
            ("user_id", &getuid().as_raw().to_string()),
            ("group_id", &getgid().as_raw().to_string()),
        ] {
            fsconfig_set_string(&fuse, key, value)?;
        }
        fsconfig_set_flag(&fuse, "ro")?;
        fsconfig_set_flag(&fuse, "default_permissions")?;
        fsconfig_create(&fuse)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_RDONLY
            | MountAttrFlags::MOUNT_ATTR_NOSUID
            | MountAttrFlags::MOUNT_ATTR_NODEV
            | MountAttrFlags::MOUNT_ATTR_NOATIME;
        Ok((device, Self(fsmount(&fuse, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)))
    }

    /// Puts the mount on an open folder.
    ///
    /// # Errors
    /// The system's errors.
    pub fn attach(self, folder: &Folder) -> io::Result<Mount> {
        let mount = Mount(number(&self.0, Path::new(""))?);
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(&self.0, "", folder.borrowed(), "", flags)?;
        Ok(mount)
    }
}

/// Returns the number of the mount to which a path leads. Asks the system alone, and not the program that answers.
fn number(at: impl AsFd, path: &Path) -> io::Result<u64> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
    Ok(statx(at, path, flags, StatxFlags::MNT_ID)?.stx_mnt_id)
}

impl Mount {
    /// Returns the mount to which a path leads.
    ///
    /// # Errors
    /// The system's errors.
    pub fn at(path: &Path) -> io::Result<Self> {
        number(CWD, path).map(Self)
    }

    /// Unmounts where the mount is now, even if a program uses it: that program gets errors for what it reads
    /// afterwards. If another file system lies on the mount, does nothing.
    ///
    /// # Errors
    /// If the mount is gone or covered, or if the caller is not root.
    pub fn unmount(self) -> io::Result<()> {
        let folder = open(self.place()?, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        if number(&folder, Path::new(""))? != self.0 {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(unmount(format!("/proc/self/fd/{}", folder.as_raw_fd()), UnmountFlags::DETACH)?)
    }

    /// Finds the folder in the list of mounts: the folder may have another name by now.
    fn place(self) -> io::Result<PathBuf> {
        let mut list = Vec::new();
        let input = Input::open(Path::new("/proc/self/mountinfo"), OpenMode::WAITING)?;
        (&input.file).read_to_end(&mut list)?;
        let id = self.0.to_string();
        let found = list.split(|byte| *byte == b'\n').find_map(|line| {
            let mut fields = line.split(|byte| *byte == b' ');
            (fields.next()? == id.as_bytes()).then(|| fields.nth(3)).flatten()
        });
        found.map(unescaped).ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Returns a path from the list of mounts, in which some characters stand as `\` and three octal digits.
fn unescaped(text: &[u8]) -> PathBuf {
    let (mut path, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, behind)) = rest.split_first() {
        let digits = behind.get(..3).filter(|_| *first == b'\\').and_then(|digits| str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(byte.unwrap_or(*first));
        rest = &behind[if byte.is_some() { 3 } else { 0 }..];
    }
    OsString::from_vec(path).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_from_the_list_of_mounts() {
        assert_eq!(unescaped(b"/a\\040b\\134c\\"), Path::new("/a b\\c\\"));
        assert_eq!(unescaped(b"/\\09x"), Path::new("/\\09x"));
    }
}
