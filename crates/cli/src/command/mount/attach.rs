//! Puts a mount on a folder, and takes it off again.
//!
//! As root, the mount goes on the open folder that was checked, and what is taken off is known by its number. So a path
//! that another user exchanges meanwhile hides no other folder, and unmounts no other file system.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use fuser::{Config, MountOption, Session, SessionACL};

use super::serve::Mounted;
use deadpan_disk::{Folder, Mount, NewMount, is_root};

/// Everybody can read the name in the list of mounts, so the name is not that of the file.
const NAME: &str = "deadpan";

/// A mount, as the cleanup needs it.
pub struct Attached {
    path: PathBuf,
    mount: Mount,
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
    let attached = |mount| Attached { path: path.to_owned(), mount };
    if is_root()
        && let Ok((device, new)) = NewMount::make(NAME)
    {
        let session = Session::from_fd(mounted, device, SessionACL::Owner, config)?;
        return Ok((session, attached(new.attach(folder)?)));
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
    Ok((session, attached(Mount::at(path)?)))
}

impl Attached {
    /// Unmounts the folder even if a program uses it. If this fails, the folder stays mounted without an owner, and the
    /// next command names the way out.
    pub fn detach(&self) {
        if is_root() {
            let _ = self.mount.unmount();
        } else if Mount::at(&self.path).is_ok_and(|mount| mount == self.mount) {
            let mut program = Command::new("fusermount3");
            program.args(["-u", "-z", "--"]).arg(&self.path);
            let _ = program.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
        }
    }
}
