//! An output file that gets its name when it is complete.
//!
//! If the file system supports `O_TMPFILE`, the file has no name until then, so a killed run leaves no file behind.
//! Otherwise the file has a temporary name, `.NAME.XXXXXXXX.deadpan-part`, and is removed on failures and signals. If a
//! run is killed, its temporary file stays, and the next run with the same output removes it.

mod folder;
pub mod set;

pub use folder::PartialFolder;

use std::ffi::{CStr, OsStr, OsString};
use std::fs::{File, FileTimes, Metadata, Permissions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, CWD, Dir, FlockOperation, Mode, OFlags, Stat, flock, fstat, linkat, open, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::failure::Failure;
use crate::process;
use crate::remote;
use crate::shown::shown;
use crate::signals::{self, Guard};
use deadpan_pack::draft::{self, clear};

/// How old an empty draft folder is at most while its run may not have locked it yet.
const NEW: Duration = Duration::from_secs(5);

/// A file that is still being written.
pub struct Partial {
    target: PathBuf,
    name: OsString,
    folder: Arc<File>,
    file: File,
    /// The temporary name, if the file needs one.
    named: Option<Named>,
}

/// A temporary name.
struct Named {
    name: OsString,
    guard: Guard,
}

/// The attributes of an output, which are set before it gets its name.
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    /// The exact permissions.
    pub mode: u32,
    pub modified: Option<SystemTime>,
}

impl Attributes {
    /// Returns the attributes of an ordinary new file.
    pub fn usual() -> Self {
        Self { mode: 0o666 & !process::umask(), modified: None }
    }

    /// Returns the attributes of a file that only its owner can read.
    pub fn private() -> Self {
        Self { mode: 0o600, modified: None }
    }
}

/// How an output gets its name.
#[derive(Clone, Copy, Debug, Default)]
pub struct Landing {
    /// Whether the output may replace another file.
    pub replace: bool,
    /// Whether the output is on the disk when `land` returns. Replacing implies this.
    pub sync: bool,
}

impl Partial {
    /// Makes a file that gets the name `target` later. Only its owner can read it until its mode is set.
    pub fn create(target: &Path) -> Result<Self, Failure> {
        Self::create_in(target, cfg!(target_os = "linux") && Path::new("/proc/self/fd").exists())
    }

    fn create_in(target: &Path, nameless: bool) -> Result<Self, Failure> {
        if remote::is_address(target) {
            return Err(Failure::path("create", target, &std::io::ErrorKind::Unsupported.into()));
        }
        let Some(name) = target.file_name() else {
            return Err(Failure::usage(
                format!("{} is not a name for a file", shown(target)),
                "name the output with -o",
            ));
        };
        let parent = folder_of(target);
        let failed = |error: Errno| Failure::path("create", target, &error.into());
        let folder = open_folder_of(target)?;
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

    /// Makes another file in the same folder, whose temporary name is like that of this one.
    pub fn another(&self) -> Result<Self, Failure> {
        let (folder, name) = (Arc::clone(&self.folder), self.name.clone());
        let made = match nameless_in(&folder, self.named.is_none()) {
            Ok(Some(file)) => Ok((file, None)),
            Ok(None) => named_in(&folder, &name).map(|(file, named)| (file, Some(named))),
            Err(error) => Err(error),
        };
        let (file, named) = made.map_err(|error| self.failed(error))?;
        Ok(Self { target: self.target.clone(), name, folder, file, named })
    }

    /// Chooses another name in the same folder.
    fn rename(&mut self, target: &Path) {
        self.name = target.file_name().unwrap_or_default().into();
        self.target = target.into();
    }

    /// Returns the folder of the target.
    pub fn folder(&self) -> &File {
        &self.folder
    }

    /// Returns the name that the file gets in that folder.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Writes the contents of the file from the system's cache to the disk.
    pub fn sync(&self) -> Result<(), Failure> {
        self.file.sync_all().map_err(|error| Failure::path("write", &self.target, &error))
    }

    /// Sets the attributes of the file and gives it its name.
    pub fn land(self, attributes: Attributes, landing: Landing) -> Result<(), Failure> {
        self.set(attributes).map_err(|error| Failure::path("set time and mode of", &self.target, &error))?;
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

    fn set(&self, attributes: Attributes) -> std::io::Result<()> {
        self.file.set_permissions(Permissions::from_mode(attributes.mode))?;
        attributes.modified.map_or(Ok(()), |modified| self.file.set_times(FileTimes::new().set_modified(modified)))
    }

    /// Gives the file its name. Fails if the name exists.
    fn link(&self) -> Result<(), Errno> {
        match &self.named {
            None => link_nameless(&self.file, &self.folder, &self.name),
            Some(named) => named.guard.settle(|| rename_new(&self.folder, &named.name, &self.name)),
        }
    }

    /// Replaces the file that has the target's name. The new contents are synced before, so that after a crash the name
    /// belongs to the old file or to the new one.
    fn replace(mut self) -> Result<(), Failure> {
        self.sync()?;
        let named = match self.named.take() {
            Some(named) => named,
            None => {
                sweep(&self.folder, folder_of(&self.target), &self.name);
                self.name_draft(&self.name)?
            }
        };
        named
            .guard
            .settle(|| renameat(&self.folder, &named.name, &self.folder, &self.name))
            .map_err(|error| self.failed(error))?;
        self.sync_folder()
    }

    /// Gives a file without a name a temporary name, like those of drafts of `name`. Files with temporary names are
    /// locked.
    fn name_draft(&self, name: &OsStr) -> Result<Named, Failure> {
        let _ = flock(&self.file, FlockOperation::NonBlockingLockExclusive);
        let named = Named::new(&self.folder, name);
        link_nameless(&self.file, &self.folder, &named.name).map_err(|error| self.failed(error))?;
        Ok(named)
    }

    fn sync_folder(&self) -> Result<(), Failure> {
        self.folder.sync_all().map_err(|error| Failure::path("write the folder of", &self.target, &error))
    }

    fn failed(&self, error: Errno) -> Failure {
        Failure::path("create", &self.target, &error.into())
    }
}

/// Syncs the folder of `path`, so that new names in it survive a crash.
pub fn sync_folder_of(path: &Path) -> Result<(), Failure> {
    let folder = folder_of(path);
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| Failure::path("write", folder, &error))
}

pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes what killed runs of this user left for the output `target`. Drafts without names need no other draft to be
/// gone, so [`Partial::create`] does this only where drafts have names.
pub fn sweep_drafts_of(target: &Path) {
    if let (Some(name), Ok(folder)) = (target.file_name(), open_folder_of(target)) {
        sweep(&File::from(folder), folder_of(target), name);
    }
}

/// Whether a file has a name that a draft gets. Only a killed run leaves such a file.
pub fn is_draft(path: &Path) -> bool {
    path.file_name().is_some_and(|name| draft::is_of_any(name.as_bytes()))
}

/// Opens the folder in which `target` is to be made.
fn open_folder_of(target: &Path) -> Result<OwnedFd, Failure> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open(folder_of(target), flags, Mode::empty()).map_err(|error| match error {
        Errno::NOENT => no_folder(target),
        error => Failure::path("create", target, &error.into()),
    })
}

/// Returns the error that the folder of `target` does not exist.
pub fn no_folder(target: &Path) -> Failure {
    if remote::is_address(target) {
        return Failure::path("create", target, &std::io::ErrorKind::NotFound.into());
    }
    Failure::usage(
        format!("cannot create {}: there is no folder {}", shown(target), shown(folder_of(target))),
        "make the folder first, with mkdir",
    )
}

/// Returns the error that `target` exists.
pub fn exists(target: &Path) -> Failure {
    Failure::usage(
        format!("{} exists already", shown(target)),
        "replace it with --force, or choose another name with -o",
    )
}

impl Named {
    /// Chooses a temporary name. On signals, and when the value is dropped, the file of this name is removed.
    fn new(folder: &Arc<File>, name: &OsStr) -> Self {
        let temporary = temporary(name);
        let (at, own) = (Arc::clone(folder), temporary.clone());
        let guard = signals::guard(move || {
            let _ = unlinkat(&*at, &own, AtFlags::empty());
        });
        Self { name: temporary, guard }
    }
}

/// Returns a random temporary name.
fn temporary(name: &OsStr) -> OsString {
    OsString::from_vec(draft::name(name.as_bytes()))
}

/// Opens a file without a name. Returns `None` if the file system does not support that.
#[cfg(target_os = "linux")]
fn nameless_in(folder: &File, wanted: bool) -> Result<Option<File>, Errno> {
    if !wanted {
        return Ok(None);
    }
    match openat(folder, ".", OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC, Mode::RUSR | Mode::WUSR) {
        Ok(file) => Ok(Some(file.into())),
        // File systems and kernels without support return these errors.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

#[cfg(not(target_os = "linux"))]
fn nameless_in(_folder: &File, _wanted: bool) -> Result<Option<File>, Errno> {
    Ok(None)
}

/// Gives a name to a file without one. Fails if the name exists.
fn link_nameless(file: &File, folder: &File, name: &OsStr) -> Result<(), Errno> {
    linkat(CWD, format!("/proc/self/fd/{}", file.as_raw_fd()), folder, name, AtFlags::SYMLINK_FOLLOW)
}

/// Makes a file with a temporary name. Its lock tells other runs that it is in use.
fn named_in(folder: &Arc<File>, name: &OsStr) -> Result<(File, Named), Errno> {
    for _ in 0..64 {
        let named = Named::new(folder, name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = match openat(&**folder, &named.name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => File::from(file),
            // Another run chose the same name, and removes its file itself.
            Err(Errno::EXIST) => {
                let _ = named.guard.settle(|| Ok::<(), Errno>(()));
                continue;
            }
            Err(error) => return Err(error),
        };
        // Another run may have removed the file before it was locked.
        let locked = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
        if locked && file.metadata().is_ok_and(|metadata| metadata.nlink() > 0) {
            return Ok((file, named));
        }
    }
    Err(Errno::BUSY)
}

/// Renames a file. Fails if the new name exists.
fn rename_new(folder: &File, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    draft::rename_new(folder, from.as_bytes(), to.as_bytes())
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

/// Removes the temporary files and folders that killed runs of this user left for the output `name`. A running program
/// locks its own, so they are kept. Those of other users are kept too: a deep folder would take long to remove.
fn sweep(folder: &File, parent: &Path, name: &OsStr) {
    let mut swept = Vec::new();
    for entry in std::fs::read_dir(parent).into_iter().flatten().flatten() {
        let found = entry.file_name();
        if !draft::is_of(found.as_bytes(), name.as_bytes()) {
            continue;
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = openat(folder, &found, flags, Mode::empty()).map(File::from) else { continue };
        let Ok(metadata) = file.metadata() else { continue };
        let is_left = (metadata.is_file() || metadata.is_dir() && !is_new(&file, &metadata))
            && metadata.uid() == geteuid().as_raw()
            && flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
            // The run that made the draft may have completed or removed it in the meantime.
            && is_named(folder, &found, &file);
        if !is_left {
            continue;
        }
        let removed = match metadata.is_dir() {
            true => clear(&entry.path()),
            false => unlinkat(folder, &found, AtFlags::empty()).is_ok(),
        };
        if removed {
            swept.push(entry.path());
        }
    }
    match swept.as_slice() {
        [] => {}
        [path] => crate::console::say(&format!("note: removed {}, which an earlier run left", shown(path))),
        [path, ..] => crate::console::say(&format!(
            "note: removed {} drafts like {}, which an earlier run left",
            swept.len(),
            shown(path)
        )),
    }
}

/// Whether a folder may be so new that the run that made it has not locked it yet: it is empty, and its time is at most
/// [`NEW`] away.
fn is_new(folder: &File, metadata: &Metadata) -> bool {
    let age = metadata.modified().map(|time| time.elapsed().unwrap_or_else(|error| error.duration()));
    let is_dot = |name: &CStr| matches!(name.to_bytes(), b"." | b"..");
    let is_empty =
        || Dir::read_from(folder).is_ok_and(|mut entries| entries.all(|it| it.is_ok_and(|it| is_dot(it.file_name()))));
    age.is_ok_and(|age| age < NEW) && is_empty()
}

/// Whether `name` is a name of this open file.
fn is_named(folder: &File, name: &OsStr, file: &File) -> bool {
    let id = |stat: Stat| (stat.st_dev, stat.st_ino);
    let named = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map(id);
    named.is_ok_and(|named| fstat(file).map(id) == Ok(named))
}

#[cfg(test)]
mod tests;
