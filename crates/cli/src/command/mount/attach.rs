//! Puts a mount on a folder, and takes it off again.
//!
//! As root, the mount goes on the open folder that was checked, and what is taken off is known by its number. So a path
//! that another user exchanges meanwhile hides no other folder, and unmounts no other file system.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fuser::{Config, MountOption, Session, SessionACL};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, StatxFlags, open, statx};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags, fsconfig_create, fsconfig_set_flag,
    fsconfig_set_string, fsmount, fsopen, move_mount, unmount,
};
use rustix::process::{getgid, getuid};

use super::serve::Mounted;
use deadpan_disk::{Folder, Input, OpenMode, is_root};

/// Everybody can read the name in the list of mounts, so the name is not that of the file.
const NAME: &str = "deadpan";

/// A mount, as the cleanup needs it.
#[derive(Clone)]
pub struct Attached {
    folder: PathBuf,
    /// The system's number of the mount.
    id: u64,
}

/// Mounts on a folder that is open, and whose path is `path`.
pub fn attach(
    mounted: Mounted,
    folder: &Folder,
    path: &Path,
    threads: usize,
) -> io::Result<(Session<Mounted>, Attached)> {
    let mut config = Config::default();
    config.n_threads = Some(threads);
    let attached = |id| Attached { folder: path.to_owned(), id };
    if is_root()
        && let Ok((device, mount)) = make()
    {
        let id = number(&mount, Path::new(""))?;
        let session = Session::from_fd(mounted, device, SessionACL::Owner, config)?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        move_mount(&mount, "", folder.to_file()?, "", flags)?;
        return Ok((session, attached(id)));
    }
    config.mount_options = vec![
        MountOption::FSName(NAME.into()),
        MountOption::Subtype(NAME.into()),
        MountOption::RO,
        MountOption::NoSuid,
        MountOption::NoDev,
        MountOption::NoAtime,
        MountOption::DefaultPermissions,
    ];
    let session = Session::new(mounted, path, &config)?;
    Ok((session, attached(number(CWD, path)?)))
}

/// Makes a mount that is on no folder yet. Returns the device through which the system asks, and the mount.
fn make() -> io::Result<(OwnedFd, OwnedFd)> {
    let device = open("/dev/fuse", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    let fuse = fsopen("fuse", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in [
        ("source", NAME),
        ("subtype", NAME),
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
    let mount = fsmount(&fuse, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?;
    Ok((device, mount))
}

/// Returns the number of the mount to which a path leads. Asks the system alone, and not the mounted program.
fn number(at: impl AsFd, path: &Path) -> io::Result<u64> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
    Ok(statx(at, path, flags, StatxFlags::MNT_ID)?.stx_mnt_id)
}

impl Attached {
    /// Unmounts the folder even if a program uses it: that program gets errors for what it reads afterwards. If this
    /// fails, the folder stays mounted without an owner, and the next command names the way out.
    pub fn detach(&self) {
        if is_root() {
            let _ = self.unmount();
        } else if number(CWD, &self.folder).is_ok_and(|id| id == self.id) {
            let mut program = Command::new("fusermount3");
            program.args(["-u", "-z", "--"]).arg(&self.folder);
            let _ = program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }

    /// Unmounts where the mount is now. Another file system there is left alone.
    fn unmount(&self) -> io::Result<()> {
        let folder = open(self.place()?, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        if number(&folder, Path::new(""))? != self.id {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(unmount(format!("/proc/self/fd/{}", folder.as_raw_fd()), UnmountFlags::DETACH)?)
    }

    /// Finds the folder in the list of mounts: its folder may have another name by now.
    fn place(&self) -> io::Result<PathBuf> {
        let mut list = Vec::new();
        let input = Input::open(Path::new("/proc/self/mountinfo"), OpenMode::WAITING)?;
        (&input.file).read_to_end(&mut list)?;
        let id = self.id.to_string();
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
