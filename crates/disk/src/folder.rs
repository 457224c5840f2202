//! An open folder, and operations on single names in this folder.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{
    AtFlags, CWD, Dir, Gid, Mode, OFlags, Stat, Uid, chownat, fchmod, fstat, fsync, linkat, mkdirat, openat,
    readlinkat, renameat, statat, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;

use crate::about::{About, FileKind};
use crate::cleanup;
use crate::error::{Error, Exchanged};
use crate::handle::{Handle, times};
use crate::names;

/// The flags for opening a folder.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The flags for opening a folder whose names are used but not listed. These flags do not need the right to list the
/// names.
#[cfg(target_os = "linux")]
const NAMES: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The flags for opening a file without waiting for the writer of a pipe and without following a link.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

/// If the last change of a folder is longer ago than these seconds, the folder is not new. The time allows for a slow
/// machine.
const RECENT: u64 = 10;

/// An open folder.
///
/// The functions look up names in the open folder, even if the path by which the folder was found later leads to
/// another folder. A name is a single component. Each function whose description does not mention links follows no
/// link.
#[derive(Clone, Debug)]
pub struct Folder {
    handle: Arc<OwnedFd>,
    trail: Arc<Trail>,
}

/// The path by which a folder was found, for messages.
#[derive(Debug)]
struct Trail {
    above: Option<Arc<Trail>>,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder at `path`, and follows links on the way.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if the path does not lead to a folder, [`io::ErrorKind::PermissionDenied`] if
    /// the folder may not be read; otherwise the system's error.
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self::found(openat(CWD, path, FOLDER, Mode::empty())?, None, path))
    }

    /// Opens a folder to use names in it. The user need not have the right to list the names in the folder.
    pub(crate) fn open_for_names(path: &Path) -> io::Result<Self> {
        Ok(Self::found(open_followed(CWD, path)?, None, path))
    }

    fn found(handle: OwnedFd, above: Option<&Arc<Trail>>, path: &Path) -> Self {
        Self { handle: Arc::new(handle), trail: Arc::new(Trail { above: above.cloned(), path: path.into() }) }
    }

    /// Opens the folder in which a file of this path lies. Returns the folder and the file's name in the folder.
    ///
    /// # Errors
    /// [`Error::NoName`] if the path does not end with a name, [`Error::NoFolder`] if the folder does not exist.
    pub fn holding(path: &Path) -> Result<(Self, OsString), Error> {
        let name = name_of(path).ok_or(Error::NoName)?;
        let folder = Self::open_for_names(parent(path)).map_err(Error::of_folder)?;
        Ok((folder, name.to_owned()))
    }

    /// Makes a [`Folder`] from a file handle that refers to a folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if the file is not a folder.
    pub fn from_file(file: File, path: &Path) -> io::Result<Self> {
        let folder = Self::found(file.into(), None, path);
        if folder.about()?.is_folder() { Ok(folder) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub(crate) fn borrowed(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }

    /// Sets another path that messages show for the folder.
    #[must_use]
    pub fn named(self, path: &Path) -> Self {
        Self { trail: Arc::new(Trail { above: None, path: path.into() }), ..self }
    }

    /// Returns the path by which the folder was found. Use this path only for messages, because another folder may have
    /// the path by now.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        let mut parts = vec![&self.trail.path];
        let mut trail = &self.trail;
        while let Some(above) = &trail.above {
            parts.push(&above.path);
            trail = above;
        }
        parts.into_iter().rev().collect()
    }

    /// Returns the path of a name in the folder, for messages.
    #[must_use]
    pub fn path_of(&self, name: &OsStr) -> PathBuf {
        let path = self.path();
        if path == Path::new(".") { name.into() } else { path.join(name) }
    }

    /// Returns the folder as an open file.
    pub(crate) fn to_file(&self) -> io::Result<File> {
        Ok(self.handle.try_clone()?.into())
    }

    /// Returns the properties of the folder itself.
    ///
    /// # Errors
    /// The system's errors.
    pub fn about(&self) -> io::Result<About> {
        Ok(About::from_stat(&fstat(&self.handle)?))
    }

    /// Returns the properties of the file with this name, or `None` if nothing has the name.
    ///
    /// # Errors
    /// The system's errors.
    pub fn look(&self, name: &OsStr) -> io::Result<Option<About>> {
        Ok(self.stat(name)?.as_ref().map(About::from_stat))
    }

    fn stat(&self, name: &OsStr) -> Result<Option<Stat>, Errno> {
        match statat(&self.handle, single(name)?, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether `name` in this folder belongs to this open file or folder.
    pub fn has(&self, name: &OsStr, handle: &impl Handle) -> bool {
        let id = |stat: &Stat| (stat.st_dev, stat.st_ino);
        let named = self.stat(name).ok().flatten();
        named.is_some_and(|named| fstat(handle.descriptor()).is_ok_and(|open| id(&open) == id(&named)))
    }

    /// Returns the target of a symbolic link.
    ///
    /// # Errors
    /// The system's errors.
    pub fn read_link(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(OsString::from_vec(readlinkat(&self.handle, single(name)?, Vec::new())?.into_bytes()))
    }

    /// Opens a folder in this folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if a link or a file has the name; otherwise the system's error.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let handle = self.open_unfollowed(name, FOLDER | OFlags::NOFOLLOW)?;
        Ok(Self::found(handle, Some(&self.trail), Path::new(name)))
    }

    /// Opens a folder in this folder, unless a file system is mounted there.
    #[cfg(target_os = "linux")]
    pub(crate) fn enter_unmounted(&self, name: &OsStr) -> io::Result<Self> {
        use rustix::fs::{ResolveFlags, openat2};
        let flags = FOLDER | OFlags::NOFOLLOW;
        match openat2(&self.handle, single(name)?, flags, Mode::empty(), ResolveFlags::NO_XDEV) {
            // An old kernel or a sandbox returns `NOSYS` or `PERM` for `openat2`.
            Err(Errno::NOSYS | Errno::PERM) => self.enter(name),
            entered => Ok(Self::found(entered?, Some(&self.trail), Path::new(name))),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn enter_unmounted(&self, name: &OsStr) -> io::Result<Self> {
        self.enter(name)
    }

    /// Opens a folder in this folder to use names in it.
    #[cfg(target_os = "linux")]
    pub(crate) fn enter_for_names(&self, name: &OsStr) -> io::Result<Self> {
        match self.enter(name) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let handle = openat(&self.handle, single(name)?, NAMES | OFlags::NOFOLLOW, Mode::empty())?;
                Ok(Self::found(handle, Some(&self.trail), Path::new(name)))
            }
            entered => entered,
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn enter_for_names(&self, name: &OsStr) -> io::Result<Self> {
        self.enter(name)
    }

    /// Opens the folder at a path relative to this folder, one component after the other.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if a component is a link or a file, [`io::ErrorKind::InvalidInput`] if a
    /// component is `..`; otherwise the system's error.
    pub fn descend(&self, path: &Path) -> io::Result<Self> {
        components(path).try_fold(self.clone(), |folder, name| folder.enter(name?))
    }

    /// Opens a folder in this folder, and follows a link.
    ///
    /// # Errors
    /// The system's errors.
    pub fn enter_followed(&self, name: &OsStr) -> io::Result<Self> {
        Ok(self.follow(Path::new(single(name)?))?)
    }

    /// Returns the properties of a file or folder, and follows a link to its target if the target exists. If a link has
    /// no target, works as [`look`](Self::look).
    ///
    /// # Errors
    /// The system's errors.
    pub fn look_followed(&self, name: &OsStr) -> io::Result<Option<About>> {
        match statat(&self.handle, single(name)?, AtFlags::empty()) {
            Ok(found) => Ok(Some(About::from_stat(&found))),
            Err(Errno::NOENT) => self.look(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether this folder describes processes, as in `/proc`. In such a folder, a link leads to an open file, even if
    /// the text of the link is not the path of this file.
    #[cfg(target_os = "linux")]
    pub(crate) fn is_of_processes(&self) -> bool {
        rustix::fs::fstatfs(&self.handle).is_ok_and(|system| system.f_type == rustix::fs::PROC_SUPER_MAGIC)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn is_of_processes(&self) -> bool {
        false
    }

    /// Removes a name, if the name belongs to this file and the file's contents are still the same. If another file has
    /// got the name meanwhile, that file keeps the name.
    ///
    /// # Errors
    /// [`Error::Changed`] if another file has the name, or if the file was written to; otherwise the system's error.
    pub fn remove_only(&self, name: &OsStr, about: &About) -> Result<(), Error> {
        let state = |about: &About| (about.id, about.length, about.modified);
        let aside = names::name(name);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => Error::Changed,
            _ => Error::create(error),
        };
        // While the file has its temporary name, the lock keeps `sweep` from removing it.
        let file = if about.is_file() { self.file(name).ok() } else { None };
        let _locked = file.inspect(|(file, _)| drop(file.lock_now()));
        cleanup::hold(|_| {
            self.rename_new(name, &aside).map_err(failed)?;
            match self.look(&aside) {
                Ok(Some(found)) if state(&found) == state(about) => self.remove(&aside).map_err(Error::create),
                _ => self.rename_new(&aside, name).map_err(Error::create).and(Err(Error::Changed)),
            }
        })
    }

    /// Opens the folder at a path relative to this folder, and follows links on the way.
    pub(crate) fn follow(&self, path: &Path) -> Result<Self, Errno> {
        Ok(Self::found(open_followed(&self.handle, path)?, Some(&self.trail), path))
    }

    /// Makes a folder in this folder. The umask applies to `mode`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken; otherwise the system's error.
    pub fn make(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        cleanup::check()?;
        Ok(mkdirat(&self.handle, single(name)?, Mode::from_raw_mode(mode as _))?)
    }

    /// Makes a folder and opens it.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken, [`Exchanged`] if another program has meanwhile replaced
    /// the new folder or made a name in it; otherwise the system's error.
    pub fn make_and_enter(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        self.make(name, mode)?;
        let made = self.enter(name)?;
        if made.is_empty_own()? { Ok(made) } else { Err(Exchanged.into()) }
    }

    /// Makes and opens a folder as [`make_and_enter`](Self::make_and_enter) does, but other threads may use the folder
    /// as soon as it exists.
    pub(crate) fn make_and_share(&self, name: &OsStr, mode: u32) -> io::Result<Self> {
        self.make(name, mode)?;
        let made = self.enter(name)?;
        let (about, around) = (made.about()?, self.about()?);
        // The new name has just changed this folder. So both times come from the clock of the file system, and the
        // clock of this machine may be wrong. No program can set the time of such a change to the past.
        let age = around.changed.0.abs_diff(about.modified.0);
        let is_new = about.is_trusted() && age < RECENT || made.is_empty_own()?;
        if is_new { Ok(made) } else { Err(Exchanged.into()) }
    }

    /// Whether this folder is empty, and belongs to this user or to root.
    pub(crate) fn is_empty_own(&self) -> io::Result<bool> {
        Ok(self.about()?.is_trusted() && self.entries()?.next().is_none())
    }

    /// Opens a file for reading. Does not wait for the writer of a pipe, so a caller checks [`About::kind`] before it
    /// reads.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if a link has the name; otherwise the system's error.
    pub fn file(&self, name: &OsStr) -> io::Result<(File, About)> {
        self.file_with(name, OFlags::RDONLY)
    }

    /// Opens a file for reading and for writing.
    ///
    /// # Errors
    /// The errors of [`file`](Self::file).
    pub fn file_to_change(&self, name: &OsStr) -> io::Result<(File, About)> {
        self.file_with(name, OFlags::RDWR)
    }

    fn file_with(&self, name: &OsStr, access: OFlags) -> io::Result<(File, About)> {
        let file = self.open_unfollowed(name, FILE | access)?;
        let about = About::from_stat(&fstat(&file)?);
        Ok((file.into(), about))
    }

    /// If the name belongs to a link, systems return different errors, so all of them are mapped to `NOTDIR`.
    fn open_unfollowed(&self, name: &OsStr, flags: OFlags) -> Result<OwnedFd, Errno> {
        openat(&self.handle, single(name)?, flags, Mode::empty()).map_err(|error| match error {
            Errno::LOOP => Errno::NOTDIR,
            error => error,
        })
    }

    /// Opens the file with this name, and follows a link. Opening a pipe waits for the pipe's writer only if `waits` is
    /// set.
    pub(crate) fn open_followed(&self, name: &OsStr, access: OFlags, waits: bool) -> Result<File, Errno> {
        let flags = if waits { OFlags::NOCTTY | OFlags::CLOEXEC } else { FILE - OFlags::NOFOLLOW };
        Ok(openat(&self.handle, single(name)?, flags | access, Mode::empty())?.into())
    }

    /// Makes an empty file, which only its owner can read.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken; otherwise the system's error.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        cleanup::check()?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(openat(&self.handle, single(name)?, flags, Mode::RUSR | Mode::WUSR)?.into())
    }

    /// Makes a file without a name. Returns `None` if the file system does not support files without a name.
    #[cfg(target_os = "linux")]
    pub(crate) fn create_nameless(&self) -> Result<Option<File>, Errno> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match openat(&self.handle, ".", flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Some(file.into())),
            // File systems and kernels without support for nameless files return these errors.
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
            // The system returns `PERM` if the folder was removed.
            Err(Errno::PERM) if self.about().is_ok_and(|about| about.links == 0) => Err(Errno::NOENT),
            Err(error) => Err(error),
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn create_nameless(&self) -> Result<Option<File>, Errno> {
        Ok(None)
    }

    /// Gives a name to a file without a name. Fails if the name is taken.
    pub(crate) fn link_nameless(&self, file: &File, name: &OsStr) -> Result<(), Errno> {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        linkat(CWD, path, &self.handle, single(name)?, AtFlags::SYMLINK_FOLLOW)
    }

    /// Makes a symbolic link to `target`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken; otherwise the system's error.
    pub fn symbolic_link(&self, target: &OsStr, name: &OsStr) -> io::Result<()> {
        cleanup::check()?;
        Ok(symlinkat(target, &self.handle, single(name)?)?)
    }

    /// Sets the given owner, group and time of a symbolic link itself.
    ///
    /// # Errors
    /// The system's errors.
    pub fn dress_link(&self, name: &OsStr, owner: Option<(u32, u32)>, modified: Option<(i64, u32)>) -> io::Result<()> {
        let name = single(name)?;
        if let Some((owner, group)) = owner {
            let (owner, group) = (Some(Uid::from_raw(owner)), Some(Gid::from_raw(group)));
            chownat(&self.handle, name, owner, group, AtFlags::SYMLINK_NOFOLLOW)?;
        }
        match modified {
            None => Ok(()),
            Some(modified) => Ok(utimensat(&self.handle, name, &times(modified), AtFlags::SYMLINK_NOFOLLOW)?),
        }
    }

    /// Makes a new name in this folder for the file or link that has the name `from` in the folder `other`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken; otherwise the system's error.
    pub fn hard_link(&self, other: &Self, from: &OsStr, name: &OsStr) -> io::Result<()> {
        cleanup::check()?;
        Ok(linkat(&other.handle, single(from)?, &self.handle, single(name)?, AtFlags::empty())?)
    }

    /// Removes a name of a file or of a link.
    ///
    /// # Errors
    /// The system's errors.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(&self.handle, single(name)?, AtFlags::empty())?)
    }

    /// Renames `from` to `to`, and replaces a file with the name `to`.
    ///
    /// # Errors
    /// The system's errors.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, single(from)?, &self.handle, single(to)?)?)
    }

    /// Renames `from` to `to`, and never replaces a file.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if something has the name `to`; otherwise the system's error.
    pub fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.move_new(from, self, to)
    }

    /// Moves `from` to the name `to` in another folder, and never replaces a file.
    pub(crate) fn move_new(&self, from: &OsStr, other: &Self, to: &OsStr) -> io::Result<()> {
        self.moved_new(from, other, to).map_err(|error| match error {
            Errno::NOTEMPTY => io::ErrorKind::AlreadyExists.into(),
            error => error.into(),
        })
    }

    pub(crate) fn renamed_new(&self, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
        self.moved_new(from, self, to)
    }

    fn moved_new(&self, from: &OsStr, other: &Self, to: &OsStr) -> Result<(), Errno> {
        let (from, to) = (single(from)?, single(to)?);
        #[cfg(target_os = "linux")]
        match rustix::fs::renameat_with(&self.handle, from, &other.handle, to, rustix::fs::RenameFlags::NOREPLACE) {
            Err(Errno::INVAL | Errno::NOSYS) => {}
            result => return result,
        }
        match linkat(&self.handle, from, &other.handle, to, AtFlags::empty()) {
            // Folders cannot be linked. Renaming a folder can replace only an empty folder.
            Err(Errno::PERM | Errno::ISDIR) => renameat(&self.handle, from, &other.handle, to),
            result => result.and_then(|()| unlinkat(&self.handle, from, AtFlags::empty())),
        }
    }

    /// Swaps two names.
    #[cfg(target_os = "linux")]
    pub(crate) fn exchange(&self, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
        rustix::fs::renameat_with(&self.handle, one, &self.handle, other, rustix::fs::RenameFlags::EXCHANGE)
    }

    #[cfg(not(target_os = "linux"))]
    pub(crate) fn exchange(&self, _one: &OsStr, _other: &OsStr) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    /// Returns the names in the folder, in no order, each with the kind that the file system reports.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<(OsString, Option<FileKind>)>> + use<>> {
        let entry = |entry: Result<rustix::fs::DirEntry, Errno>| match entry {
            Ok(entry) if is_dots(entry.file_name()) => None,
            Ok(entry) => {
                let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
                Some(Ok((name, FileKind::from_type(entry.file_type()))))
            }
            // If the user may not list the folder, it was opened only to use names in it, and the system returns `BADF`
            // for this handle.
            Err(Errno::BADF) => Some(Err(Errno::ACCESS.into())),
            Err(error) => Some(Err(error.into())),
        };
        Ok(self.read()?.filter_map(entry))
    }

    pub(crate) fn read(&self) -> Result<Dir, Errno> {
        Dir::read_from(&self.handle)
    }

    /// Writes the names in the folder to the disk.
    ///
    /// # Errors
    /// The system's errors.
    pub fn sync(&self) -> io::Result<()> {
        match fsync(&self.handle) {
            // If the user may not list the folder, it was opened only to use names in it, and `fsync` fails for this
            // handle. But `syncfs` works with the handle of any file in the folder.
            #[cfg(target_os = "linux")]
            Err(Errno::BADF) => match self.create_nameless()? {
                Some(file) => Ok(rustix::fs::syncfs(&file)?),
                None => Err(Errno::ACCESS.into()),
            },
            result => Ok(result?),
        }
    }

    /// Writes all cached data of the folder's file system to the disk.
    ///
    /// # Errors
    /// The system's errors.
    pub fn sync_all(&self) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        return Ok(rustix::fs::syncfs(&self.handle)?);
        #[cfg(not(target_os = "linux"))]
        {
            rustix::fs::sync();
            Ok(())
        }
    }

    /// Gives the owner of the folder `name` all permissions for that folder, even if the owner may not read it. Returns
    /// the mode that the folder had before. The mode is set through a handle, because another folder may have the name
    /// by now.
    ///
    /// # Errors
    /// The system's errors.
    #[cfg(target_os = "linux")]
    pub fn unlock(&self, name: &OsStr) -> io::Result<u32> {
        let place = openat(&self.handle, single(name)?, NAMES | OFlags::NOFOLLOW, Mode::empty())?;
        let mode = About::from_stat(&fstat(&place)?).mode;
        rustix::fs::chmod(format!("/proc/self/fd/{}", place.as_raw_fd()), Mode::from_raw_mode((mode | 0o700) as _))?;
        Ok(mode)
    }

    /// Always fails, because only Linux can open a folder that its owner may not read.
    ///
    /// # Errors
    /// Always.
    #[cfg(not(target_os = "linux"))]
    pub fn unlock(&self, _name: &OsStr) -> io::Result<u32> {
        Err(Errno::ACCESS.into())
    }

    /// Gives the owner all permissions for this folder.
    pub(crate) fn open_to_owner(&self) {
        if self.about().is_ok_and(|about| about.mode & 0o700 != 0o700) {
            let _ = fchmod(&self.handle, Mode::RWXU);
        }
    }

    /// Removes an empty folder in this folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::DirectoryNotEmpty`] if the folder is not empty, [`io::ErrorKind::NotADirectory`] if the name
    /// belongs to a file or a link; otherwise the system's error.
    pub fn remove_empty(&self, name: &OsStr) -> io::Result<()> {
        Ok(self.remove_folder(single(name)?)?)
    }

    /// Removes a folder in this folder, if the folder to remove is empty.
    pub(crate) fn remove_folder(&self, name: impl rustix::path::Arg) -> Result<(), Errno> {
        unlinkat(&self.handle, name, AtFlags::REMOVEDIR)
    }

    /// Moves the file or folder `name` from another folder to the name `to` in this folder.
    pub(crate) fn take_from(&self, other: &Self, name: &CString, to: &OsStr) -> Result<(), Errno> {
        renameat(&other.handle, name, &self.handle, to)
    }
}

/// Opens a folder, and follows links. If the user may not list the folder, opens the folder only to use names in it.
fn open_followed(at: impl AsFd, path: &Path) -> Result<OwnedFd, Errno> {
    match openat(&at, path, FOLDER, Mode::empty()) {
        #[cfg(target_os = "linux")]
        Err(Errno::ACCESS) => openat(&at, path, NAMES, Mode::empty()),
        opened => opened,
    }
}

/// Refuses a name that is empty, `.` or `..`, or that contains `/`.
fn single(name: &OsStr) -> Result<&OsStr, Errno> {
    match name.as_bytes() {
        b"" | b"." | b".." => Err(Errno::INVAL),
        bytes if bytes.contains(&b'/') => Err(Errno::INVAL),
        _ => Ok(name),
    }
}

pub(crate) fn is_dots(name: &CStr) -> bool {
    matches!(name.to_bytes(), b"." | b"..")
}

/// Returns the components of a relative path.
fn components(path: &Path) -> impl Iterator<Item = io::Result<&OsStr>> {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(Ok(name)),
        Component::CurDir => None,
        _ => Some(Err(io::ErrorKind::InvalidInput.into())),
    })
}

/// Returns the last component of a path, if that component is a name. A path that ends with `/` or `/.` belongs to a
/// folder, so the result is `None`.
pub(crate) fn name_of(path: &Path) -> Option<&OsStr> {
    let bytes = path.as_os_str().as_bytes();
    path.file_name().filter(|_| !bytes.ends_with(b"/") && !bytes.ends_with(b"/."))
}

/// Returns the path without slashes at its end. If a path ends with a slash and its last name belongs to a link, the
/// system would follow the link.
#[must_use]
pub fn trimmed(path: &Path) -> PathBuf {
    path.components().collect()
}

/// Finds a folder, or else the nearest existing folder above it. Returns the found folder, and the rest of the path,
/// from the found folder to the wanted folder.
///
/// # Errors
/// The errors of the function `find`. [`io::ErrorKind::NotFound`] is returned only if no folder above exists either.
pub fn nearest<T>(path: &Path, mut find: impl FnMut(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    for above in path.ancestors() {
        match find(if above.as_os_str().is_empty() { Path::new(".") } else { above }) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            found => return Ok((found?, path.strip_prefix(above).unwrap_or(path).to_owned())),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

/// Returns the path of the folder in which a file of this path lies.
#[must_use]
pub fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
