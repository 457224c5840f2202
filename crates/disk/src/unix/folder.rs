//! Operations on single names in an open folder, by system calls of Unix.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, Dir, Gid, Mode, OFlags, Stat, Uid, chownat, fchmod, fstat, linkat, mkdirat, openat, readlinkat,
    renameat, statat, symlinkat, unlinkat, utimensat,
};
use rustix::io::Errno;

use super::handle::times;
use super::{Entry, UNSUPPORTED, flush, single};
use crate::about::{About, FileKind};
use crate::cleanup;
use crate::folder::Folder;
use crate::handle::Handle;

/// The flags for opening a folder.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The flags for opening a folder whose names are used but not listed. These flags do not need the right to list the
/// names.
#[cfg(target_os = "linux")]
const NAMES: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// The flags for opening a file without waiting for the writer of a pipe and without following a link.
const FILE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).union(OFlags::NOCTTY).union(OFlags::CLOEXEC);

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
        let entered = self.enter(name)?;
        let is_same = entered.about()?.id.device == self.about()?.id.device;
        if is_same { Ok(entered) } else { Err(io::ErrorKind::CrossesDevices.into()) }
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

    /// Whether the files in this folder lie in memory, and not on a disk. The system may still write them to the swap.
    #[cfg(target_os = "linux")]
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        /// The numbers of the file systems tmpfs and ramfs.
        const IN_MEMORY: [u32; 2] = [0x0102_1994, 0x8584_58f6];
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the numbers have 32 bits")]
        rustix::fs::fstatfs(&self.handle).is_ok_and(|system| IN_MEMORY.contains(&(system.f_type as u32)))
    }

    /// Returns `false`: only Linux says which file systems lie in memory.
    #[cfg(not(target_os = "linux"))]
    #[must_use]
    pub fn is_in_memory(&self) -> bool {
        false
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

    /// Makes a folder that only its owner can use.
    pub(crate) fn make_private(&self, name: &OsStr) -> io::Result<()> {
        self.make(name, 0o700)
    }

    /// Makes a folder as [`make`](Self::make) does, for other threads too.
    pub(crate) fn make_shared(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        self.make(name, mode)
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
    pub(crate) fn open_followed(&self, name: &OsStr, writes: bool, waits: bool) -> Result<File, Errno> {
        let access = if writes { OFlags::RDWR } else { OFlags::RDONLY };
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

    /// Works as [`create`](Self::create).
    pub(crate) fn create_private(&self, name: &OsStr) -> io::Result<File> {
        self.create(name)
    }

    /// Does nothing: the mode of a file says who has access to it.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "it acts on Windows")]
    pub(crate) fn share(&self, _private: &impl Handle) -> io::Result<()> {
        Ok(())
    }

    /// Makes a file without a name. Returns `None` if the file system does not support files without a name.
    #[cfg(target_os = "linux")]
    pub(crate) fn create_nameless(&self) -> Result<Option<File>, Errno> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        match openat(&self.handle, ".", flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => Ok(Some(file.into())),
            // File systems and kernels without support for nameless files return these errors.
            Err(UNSUPPORTED | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => Ok(None),
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
        Ok(self.removed(name)?)
    }

    pub(crate) fn removed(&self, name: &OsStr) -> Result<(), Errno> {
        unlinkat(&self.handle, single(name)?, AtFlags::empty())
    }

    /// Whether a name that was removed is gone: always on Unix.
    pub(crate) fn lacks(&self, _name: &OsStr) -> bool {
        true
    }

    /// Renames `from` to `to`, and replaces a file with the name `to`.
    ///
    /// # Errors
    /// The system's errors.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, single(from)?, &self.handle, single(to)?)?)
    }

    pub(crate) fn moved_new(&self, from: &OsStr, other: &Self, to: &OsStr) -> Result<(), Errno> {
        let (from, to) = (single(from)?, single(to)?);
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        match rustix::fs::renameat_with(&self.handle, from, &other.handle, to, rustix::fs::RenameFlags::NOREPLACE) {
            #[cfg(target_vendor = "apple")]
            Err(UNSUPPORTED) => {}
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
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    pub(crate) fn exchange(&self, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(&self.handle, one, &self.handle, other, flags).map_err(|error| match error {
            UNSUPPORTED => Errno::OPNOTSUPP,
            error => error,
        })
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    pub(crate) fn exchange(&self, _one: &OsStr, _other: &OsStr) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    /// Returns the names in the folder, in no order, each with the kind that the file system reports.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<(OsString, Option<FileKind>)>> + use<>> {
        let entry = |entry: Result<rustix::fs::DirEntry, Errno>| match entry {
            Ok(entry) if entry.is_dots() => None,
            Ok(entry) => Some(Ok((entry.name().to_owned(), entry.kind()))),
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
        match flush(&self.handle) {
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
            self.sync_each()
        }
    }

    /// Writes each file and folder in this folder to the disk, because `sync` does not wait until its data are written.
    #[cfg(not(target_os = "linux"))]
    fn sync_each(&self) -> io::Result<()> {
        use crate::{Node, Walk, WalkStep};
        let mut walk = Walk::new(self.clone())?;
        while walk.advance() {
            match walk.open()? {
                WalkStep::Node(Node::File(file), _) => rustix::fs::fsync(&file)?,
                WalkStep::Node(Node::Folder(Ok(())), _) => {
                    if let Some(folder) = walk.folder() {
                        rustix::fs::fsync(&folder.handle)?;
                    }
                }
                _ => {}
            }
        }
        // The data of these files may still be in the cache of the drive. On macOS, this call empties the cache.
        self.sync()
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

    /// Does nothing, because a locked folder can be removed.
    pub(crate) fn let_go(&self) {}

    /// Gives the owner all permissions for this folder.
    pub(crate) fn open_to_owner(&self) {
        if self.about().is_ok_and(|about| about.mode & 0o700 != 0o700) {
            let _ = fchmod(&self.handle, Mode::RWXU);
        }
    }

    /// Removes a folder in this folder, if the folder to remove is empty.
    pub(crate) fn remove_folder(&self, name: impl rustix::path::Arg) -> Result<(), Errno> {
        unlinkat(&self.handle, name, AtFlags::REMOVEDIR)
    }

    /// Moves the file or folder `name` from another folder to the name `to` in this folder.
    pub(crate) fn take_from(&self, other: &Self, name: &OsStr, to: &OsStr) -> Result<(), Errno> {
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
