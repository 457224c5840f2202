//! An output that has no name before it is complete.
//!
//! Where the file system can (`O_TMPFILE`), it has no name at all, and a run that is killed leaves nothing, not even garbage. Elsewhere it is
//! called `.NAME.XXXXXXXX.deadpan-part`, is taken away on failures and signals, and what a killed run left is swept by the next one.

mod clear;
mod folder;

pub use folder::PartialFolder;

use crate::failure::Failure;
use crate::shown::shown;
use crate::signals::{self, Guard};
use clear::clear;
use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, flock, linkat, open, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SUFFIX: &str = ".deadpan-part";
/// Room for the dots, the random part and the suffix within the 255 bytes that names may have.
const LONGEST_STEM: usize = 200;

/// A file that is still being written.
pub struct Partial {
    target: PathBuf,
    name: OsString,
    folder: Arc<File>,
    file: File,
    /// Its name until then, if it needs one.
    named: Option<Named>,
}

/// A name for a while.
struct Named {
    name: OsString,
    guard: Guard,
}

/// How an output gets its name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Landing {
    /// Whether it may take the place of another file.
    pub replace: bool,
    /// Whether it is on the disk when we say so. Replacing implies it.
    pub sync: bool,
}

impl Partial {
    /// Begins the file `target`, for the owner's eyes only until its mode is set.
    pub fn create(target: &Path) -> Result<Self, Failure> {
        Self::create_in(target, cfg!(target_os = "linux") && Path::new("/proc/self/fd").exists())
    }

    fn create_in(target: &Path, nameless: bool) -> Result<Self, Failure> {
        let Some(name) = target.file_name() else {
            return Err(Failure::usage(format!("{} is no name for a file", shown(target)), "name the output with -o"));
        };
        let parent = folder_of(target);
        let failed = |error: Errno| Failure::path("create", target, &error.into());
        let folder = open(parent, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).map_err(failed)?;
        let folder = Arc::new(File::from(folder));
        let (file, named) = match nameless_in(&folder, nameless).map_err(failed)? {
            Some(file) => (file, None),
            None => {
                sweep(&folder, parent, name);
                named_in(&folder, name).map(|(file, named)| (file, Some(named))).map_err(failed)?
            }
        };
        Ok(Self { target: target.into(), name: name.into(), folder, file, named })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes what the system still holds back to the disk.
    pub fn sync(&self) -> Result<(), Failure> {
        self.file.sync_all().map_err(|error| Failure::path("write", &self.target, &error))
    }

    /// Gives the file its name.
    pub fn land(self, landing: Landing) -> Result<(), Failure> {
        if landing.sync {
            self.sync()?;
        }
        match self.link() {
            Ok(()) if landing.sync => self.sync_folder(),
            Ok(()) => Ok(()),
            Err(Errno::EXIST) if landing.replace => self.replace(),
            Err(Errno::EXIST) => Err(exists(&self.target)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Gives the file its name, unless something has it.
    fn link(&self) -> Result<(), Errno> {
        match &self.named {
            None => link_nameless(&self.file, &self.folder, &self.name),
            Some(named) => named.guard.settle(|| rename_new(&self.folder, &named.name, &self.name)),
        }
    }

    /// Takes the place of what is there. The contents are on the disk before the name points to them, so that no crash leaves neither.
    fn replace(mut self) -> Result<(), Failure> {
        self.sync()?;
        let named = match self.named.take() {
            Some(named) => named,
            None => {
                // It has a name for a moment, in which it is locked like all that have one.
                sweep(&self.folder, folder_of(&self.target), &self.name);
                let _ = flock(&self.file, FlockOperation::NonBlockingLockExclusive);
                let named = Named::new(&self.folder, &self.name);
                link_nameless(&self.file, &self.folder, &named.name).map_err(|error| self.failed(error))?;
                named
            }
        };
        named.guard.settle(|| renameat(&self.folder, &named.name, &self.folder, &self.name)).map_err(|error| self.failed(error))?;
        self.sync_folder()
    }

    fn sync_folder(&self) -> Result<(), Failure> {
        self.folder.sync_all().map_err(|error| Failure::path("write the folder of", &self.target, &error))
    }

    fn failed(&self, error: Errno) -> Failure {
        Failure::path("create", &self.target, &error.into())
    }
}

/// Has the system write the names in a file's folder to the disk.
pub fn sync_folder_of(path: &Path) -> Result<(), Failure> {
    let folder = folder_of(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| Failure::path("write", folder, &error))
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Something has the name already.
pub fn exists(target: &Path) -> Failure {
    Failure::usage(format!("{} exists already", shown(target)), "replace it with --force, or choose another name with -o")
}

impl Named {
    /// A name of our own, taken away on signals and drop.
    fn new(folder: &Arc<File>, name: &OsStr) -> Self {
        let temporary = temporary(name);
        let (at, own) = (Arc::clone(folder), temporary.clone());
        let guard = signals::guard(move || {
            let _ = unlinkat(&*at, &own, AtFlags::empty());
        });
        Self { name: temporary, guard }
    }
}

/// `.NAME.`: how all names for outputs called `name` begin.
fn prefix(name: &OsStr) -> OsString {
    let stem = name.as_bytes();
    OsString::from_vec([b".", &stem[..stem.len().min(LONGEST_STEM)], b"."].concat())
}

/// A name for the time being, which nobody has.
fn temporary(name: &OsStr) -> OsString {
    let random = RandomState::new().build_hasher().finish();
    let mut temporary = prefix(name);
    temporary.push(format!("{random:016x}{SUFFIX}"));
    temporary
}

/// A file without a name, where the system has such.
#[cfg(target_os = "linux")]
fn nameless_in(folder: &File, wanted: bool) -> Result<Option<File>, Errno> {
    if !wanted {
        return Ok(None);
    }
    match openat(folder, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(Some(file.into())),
        // What file systems and kernels say that do not know it.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless_in(_folder: &File, _wanted: bool) -> Result<Option<File>, Errno> {
    Ok(None)
}

/// Never replaces anything.
fn link_nameless(file: &File, folder: &File, name: &OsStr) -> Result<(), Errno> {
    linkat(CWD, format!("/proc/self/fd/{}", file.as_raw_fd()), folder, name, AtFlags::SYMLINK_FOLLOW)
}

/// A file with a name for a while, locked, so that others see that somebody is at it.
fn named_in(folder: &Arc<File>, name: &OsStr) -> Result<(File, Named), Errno> {
    for _ in 0..64 {
        let named = Named::new(folder, name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = match openat(&**folder, &named.name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => File::from(file),
            // Somebody else's: not ours to take away.
            Err(Errno::EXIST) => {
                let _ = named.guard.settle(|| Ok::<(), Errno>(()));
                continue;
            }
            Err(error) => return Err(error),
        };
        // A sweeper that came between took it for a dead run's.
        let locked = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if locked && file.metadata().is_ok_and(|metadata| metadata.nlink() > 0) {
            return Ok((file, named));
        }
    }
    Err(Errno::BUSY)
}

/// Renames, unless something has the name.
fn rename_new(folder: &File, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    #[cfg(target_os = "linux")]
    match rustix::fs::renameat_with(folder, from, folder, to, rustix::fs::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS) => {}
        result => return result,
    }
    match linkat(folder, from, folder, to, AtFlags::empty()) {
        // Folders cannot be linked; one that has the name already is replaced only if it is empty.
        Err(Errno::PERM | Errno::ISDIR) => renameat(folder, from, folder, to),
        result => result.and_then(|()| unlinkat(folder, from, AtFlags::empty())),
    }
}

/// Removes what killed runs left of an output called `name`. A run that lives holds a lock.
fn sweep(folder: &File, parent: &Path, name: &OsStr) {
    let prefix = prefix(name);
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let found = entry.file_name();
        if !(found.as_bytes().starts_with(prefix.as_bytes()) && found.as_bytes().ends_with(SUFFIX.as_bytes())) {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = openat(folder, &found, flags, Mode::empty()).map(File::from) else { continue };
        let Ok(kind) = file.metadata().map(|metadata| metadata.file_type()) else { continue };
        if !(kind.is_file() || kind.is_dir()) || flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        let removed = match kind.is_dir() {
            true => clear(&entry.path()),
            false => unlinkat(folder, &found, AtFlags::empty()).is_ok(),
        };
        if removed {
            crate::report::say(&format!("note: removed {}, which an earlier run left", shown(entry.path())));
        }
    }
}

#[cfg(test)]
mod tests;
