//! Operations on single names in an open folder, by the system's own functions, which take a name relative to a handle.
//!
//! Each name is opened as it is: neither a symbolic link nor a junction nor another reparse point is followed, except
//! where a function says so.

use std::ffi::{OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::{AsHandle, BorrowedHandle, OwnedHandle};
use std::path::{Component, Path, PathBuf};

use windows_sys::Wdk::Storage::FileSystem::{
    FILE_CREATE, FILE_DELETE_ON_CLOSE, FILE_DIRECTORY_FILE, FILE_NON_DIRECTORY_FILE, FILE_OPEN,
    FILE_OPEN_FOR_BACKUP_INTENT, FILE_OPEN_REPARSE_POINT,
};
use windows_sys::Win32::Storage::FileSystem::{
    DELETE, FILE_ADD_FILE, FILE_FLAG_BACKUP_SEMANTICS, FILE_GENERIC_READ, FILE_GENERIC_WRITE, FILE_LIST_DIRECTORY,
    FILE_READ_ATTRIBUTES, FILE_WRITE_ATTRIBUTES, READ_CONTROL, SECURITY_IDENTIFICATION, WRITE_DAC,
};

use super::imp::security::Descriptor;
use super::imp::{self, Opening};
use super::{Entries, Entry, Errno, FolderHandle, about, link, new_name, single, wide};
use crate::about::{About, FileKind};
use crate::cleanup;
use crate::folder::Folder;
use crate::handle::Handle;
use crate::names;

/// The rights of a folder's handle.
const FOLDER: u32 = FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | READ_CONTROL;
/// The rights of a folder's handle if the user may not list it.
const NAMES: u32 = FILE_READ_ATTRIBUTES;

const EXISTING: Opening<'_> = Opening {
    access: FILE_READ_ATTRIBUTES,
    disposition: FILE_OPEN,
    options: FILE_OPEN_REPARSE_POINT | FILE_OPEN_FOR_BACKUP_INTENT,
    shares_removal: true,
    security: None,
};

impl Folder {
    /// Opens the folder at `path`, and follows links on the way.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if the path does not lead to a folder, [`io::ErrorKind::PermissionDenied`] if
    /// the folder may not be read; otherwise the system's error.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::open_as(path, FOLDER)
    }

    fn open_as(path: &Path, access: u32) -> io::Result<Self> {
        let file = OpenOptions::new()
            .access_mode(access)
            .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
            .security_qos_flags(SECURITY_IDENTIFICATION)
            .open(path)?;
        Self::from_file(file, path)
    }

    /// Opens a folder to use names in it. The user need not have the right to list the names in the folder.
    pub(crate) fn open_for_names(path: &Path) -> io::Result<Self> {
        match Self::open(path) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Self::open_as(path, NAMES),
            opened => opened,
        }
    }

    /// Makes a [`Folder`] from a file handle that refers to a folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if the file is not a folder.
    pub fn from_file(file: File, path: &Path) -> io::Result<Self> {
        let folder = Self::found(FolderHandle::new(file.into()), None, path);
        if folder.about()?.is_folder() { Ok(folder) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub(crate) fn borrowed(&self) -> BorrowedHandle<'_> {
        self.handle.handle.as_handle()
    }

    /// Returns the folder as an open file.
    pub(crate) fn to_file(&self) -> io::Result<File> {
        Ok(self.handle.handle.try_clone()?.into())
    }

    /// Returns the properties of the folder itself.
    ///
    /// # Errors
    /// The system's errors.
    pub fn about(&self) -> io::Result<About> {
        Ok(about::of_handle(self.borrowed())?)
    }

    /// Returns the properties of the file with this name, or `None` if nothing has the name.
    ///
    /// # Errors
    /// The system's errors.
    pub fn look(&self, name: &OsStr) -> io::Result<Option<About>> {
        Ok(self.looked(name)?)
    }

    fn looked(&self, name: &OsStr) -> Result<Option<About>, Errno> {
        match self.opened(name, EXISTING) {
            Ok(found) => about::of_handle(found.as_handle()).map(Some),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Opens a name that is there. A short name of a file (`LONGNA~1.TXT`) is no name of it: nothing has it.
    fn opened(&self, name: &OsStr, how: Opening<'_>) -> Result<OwnedHandle, Errno> {
        let found = imp::open(self.borrowed(), &mut wide(single(name)?), how)?;
        if name.as_encoded_bytes().contains(&b'~') && !is_called(found.as_handle(), name)? {
            return Err(Errno::NOENT);
        }
        Ok(found)
    }

    /// Opens a name that is there, and fails if it belongs to a link.
    fn open_unfollowed(&self, name: &OsStr, how: Opening<'_>) -> Result<(OwnedHandle, About), Errno> {
        let found = self.opened(name, how)?;
        let about = about::of_handle(found.as_handle())?;
        if about.is_link() {
            return Err(Errno::NOTDIR);
        }
        // Such a file, for example a file of a deduplicated volume, is read through the driver that stores it.
        if about.is_file() && about::is_stored_otherwise(found.as_handle())? {
            let options = how.options & !FILE_OPEN_REPARSE_POINT;
            let through = self.opened(name, Opening { options, ..how })?;
            let now = about::of_handle(through.as_handle())?;
            return if now.id == about.id { Ok((through, now)) } else { Err(Errno::NOTDIR) };
        }
        Ok((found, about))
    }

    /// Whether `name` in this folder belongs to this open file or folder.
    pub fn has(&self, name: &OsStr, handle: &impl Handle) -> bool {
        let named = self.looked(name).ok().flatten();
        named.is_some_and(|named| about::of_handle(handle.descriptor()).is_ok_and(|open| open.id == named.id))
    }

    /// Whether a file has this name in exactly this case. All other functions ignore the case of a name, as the system
    /// does.
    ///
    /// # Errors
    /// The system's errors.
    pub fn has_in_this_case(&self, name: &OsStr) -> io::Result<bool> {
        match self.opened(name, EXISTING) {
            Ok(found) => Ok(super::path_of(found.as_handle())?.file_name() == Some(name)),
            Err(Errno::NOENT) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the target of a symbolic link or of a junction.
    ///
    /// # Errors
    /// The system's errors.
    pub fn read_link(&self, name: &OsStr) -> io::Result<OsString> {
        Ok(link::target(self.opened(name, EXISTING)?.as_handle())?)
    }

    /// Opens a folder in this folder.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if a link or a file has the name; otherwise the system's error.
    pub fn enter(&self, name: &OsStr) -> io::Result<Self> {
        Ok(self.entered(name, FOLDER)?)
    }

    fn entered(&self, name: &OsStr, access: u32) -> Result<Self, Errno> {
        let (handle, about) = self.open_unfollowed(name, Opening { access, ..EXISTING })?;
        if !about.is_folder() {
            return Err(Errno::NOTDIR);
        }
        Ok(Self::found(FolderHandle::new(handle), Some(&self.trail), Path::new(name)))
    }

    /// Opens a folder in this folder, unless a volume is mounted there: a mounted volume is a reparse point.
    pub(crate) fn enter_unmounted(&self, name: &OsStr) -> io::Result<Self> {
        self.enter(name)
    }

    /// Opens a folder in this folder to use names in it.
    pub(crate) fn enter_for_names(&self, name: &OsStr) -> io::Result<Self> {
        match self.entered(name, FOLDER) {
            Err(Errno::ACCESS) => Ok(self.entered(name, NAMES)?),
            entered => Ok(entered?),
        }
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
        let options = FILE_OPEN_FOR_BACKUP_INTENT;
        match self.opened(name, Opening { options, ..EXISTING }) {
            Ok(found) => Ok(Some(about::of_handle(found.as_handle())?)),
            Err(Errno::NOENT) => self.look(name),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether links in this folder lead to other files than their texts say: never on Windows.
    pub(crate) fn is_of_processes(&self) -> bool {
        false
    }

    /// Opens the folder at a component of a path: a name, `..`, the root of this volume, or another volume. Follows a
    /// link.
    pub(crate) fn follow(&self, path: &Path) -> Result<Self, Errno> {
        let place = match path.components().next() {
            Some(Component::Normal(name)) => {
                let how = Opening { access: FOLDER, options: FILE_OPEN_FOR_BACKUP_INTENT, ..EXISTING };
                let handle = match self.opened(name, how) {
                    Err(Errno::ACCESS) => self.opened(name, Opening { access: NAMES, ..how })?,
                    opened => opened?,
                };
                let is_folder = about::of_handle(handle.as_handle())?.is_folder();
                let folder = || Self::found(FolderHandle::new(handle), Some(&self.trail), path);
                return if is_folder { Ok(folder()) } else { Err(Errno::NOTDIR) };
            }
            Some(Component::Prefix(prefix)) => {
                let mut place = prefix.as_os_str().to_owned();
                place.push("\\");
                PathBuf::from(place)
            }
            Some(Component::ParentDir) => {
                let own = super::path_of(self.borrowed())?;
                own.parent().unwrap_or(&own).to_owned()
            }
            Some(Component::RootDir) => {
                let own = super::path_of(self.borrowed())?;
                own.ancestors().last().unwrap_or(&own).to_owned()
            }
            Some(Component::CurDir) | None => return Ok(self.clone()),
        };
        let opened = Self::open_for_names(&place);
        opened.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOTDIR))
    }

    /// Makes a folder in this folder. It has the access control list that this folder gives to it; `mode` says nothing
    /// on Windows.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken; otherwise the system's error.
    pub fn make(&self, name: &OsStr, _mode: u32) -> io::Result<()> {
        self.make_with(name, None)
    }

    fn make_with(&self, name: &OsStr, security: Option<&Descriptor>) -> io::Result<()> {
        cleanup::check()?;
        let access = FILE_READ_ATTRIBUTES | security.map_or(0, |_| WRITE_DAC);
        let how = Opening { access, disposition: FILE_CREATE, options: FILE_DIRECTORY_FILE, security, ..EXISTING };
        imp::open(self.borrowed(), &mut wide(new_name(name)?), how)?;
        Ok(())
    }

    /// Makes a folder to which only this user and the system have access. In the folder of a server that lets nobody
    /// change access control lists, the new folder has the list that its folder gives to it.
    pub(crate) fn make_private(&self, name: &OsStr) -> io::Result<()> {
        match self.make_with(name, Some(&Descriptor::of_this_user()?)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => self.make_with(name, None),
            made => made,
        }
    }

    /// Makes a folder for other threads too. If `mode` gives no rights to others, only this user and the system have
    /// access to the folder.
    pub(crate) fn make_shared(&self, name: &OsStr, mode: u32) -> io::Result<()> {
        if mode & 0o077 == 0 {
            self.make_with(name, Some(&Descriptor::of_this_user()?))
        } else {
            self.make_with(name, None)
        }
    }

    /// Opens a file for reading. A caller checks [`About::kind`] before it reads.
    ///
    /// # Errors
    /// [`io::ErrorKind::NotADirectory`] if a link has the name; otherwise the system's error.
    pub fn file(&self, name: &OsStr) -> io::Result<(File, About)> {
        self.file_with(name, FILE_GENERIC_READ)
    }

    /// Opens a file for reading and for writing.
    ///
    /// # Errors
    /// The errors of [`file`](Self::file).
    pub fn file_to_change(&self, name: &OsStr) -> io::Result<(File, About)> {
        self.file_with(name, FILE_GENERIC_READ | FILE_GENERIC_WRITE)
    }

    fn file_with(&self, name: &OsStr, access: u32) -> io::Result<(File, About)> {
        let (handle, about) = self.open_unfollowed(name, Opening { access, ..EXISTING })?;
        Ok((handle.into(), about))
    }

    /// Opens the file with this name, and follows a link.
    pub(crate) fn open_followed(&self, name: &OsStr, writes: bool, _waits: bool) -> Result<File, Errno> {
        let access = FILE_GENERIC_READ | if writes { FILE_GENERIC_WRITE } else { 0 };
        Ok(self.opened(name, Opening { access, options: FILE_OPEN_FOR_BACKUP_INTENT, ..EXISTING })?.into())
    }

    /// Makes an empty file. It has the access control list that this folder gives to it.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken; otherwise the system's error.
    pub fn create(&self, name: &OsStr) -> io::Result<File> {
        self.create_with(name, None)
    }

    fn create_with(&self, name: &OsStr, security: Option<&Descriptor>) -> io::Result<File> {
        cleanup::check()?;
        let access = FILE_GENERIC_READ | FILE_GENERIC_WRITE | security.map_or(0, |_| WRITE_DAC);
        let options = FILE_NON_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT;
        let how = Opening { access, disposition: FILE_CREATE, options, security, ..EXISTING };
        Ok(imp::open(self.borrowed(), &mut wide(new_name(name)?), how)?.into())
    }

    /// Makes an empty file to which only this user and the system have access. In the folder of a server that lets
    /// nobody change access control lists, the new file has the list that its folder gives to it.
    pub(crate) fn create_private(&self, name: &OsStr) -> io::Result<File> {
        match self.create_with(name, Some(&Descriptor::of_this_user()?)) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => self.create(name),
            created => created,
        }
    }

    /// Gives a private file or folder the access control list that this folder gives to what is made in it. The system
    /// says that list of a new empty file, which is removed at once. If this user may not change the list, it stays.
    pub(crate) fn share(&self, private: &impl Handle) -> io::Result<()> {
        let is_folder = about::of_handle(private.descriptor())?.is_folder();
        let kind = if is_folder { FILE_DIRECTORY_FILE } else { FILE_NON_DIRECTORY_FILE };
        let how = Opening {
            access: READ_CONTROL | DELETE,
            disposition: FILE_CREATE,
            options: kind | FILE_OPEN_REPARSE_POINT | FILE_DELETE_ON_CLOSE,
            ..EXISTING
        };
        let model = imp::open(self.borrowed(), &mut wide(&names::name(OsStr::new("model"))), how)?;
        super::handle::take_list(private.descriptor(), model.as_handle())
    }

    /// Returns `None`: the system has no files without names.
    pub(crate) fn create_nameless(&self) -> Result<Option<File>, Errno> {
        Ok(None)
    }

    /// Always fails: the system has no files without names.
    pub(crate) fn link_nameless(&self, _file: &File, _name: &OsStr) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    /// Makes a symbolic link to `target`. On Windows, a link says whether its target is a folder. The link is one to a
    /// folder if the text ends with a separator, or if a relative target is a folder now. The search for the target
    /// follows no link, and other targets are not searched for: the text may come from somebody else, and the search
    /// would send the name and the response of this user to the server of a share.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken, [`io::ErrorKind::PermissionDenied`] if this user may not
    /// make symbolic links; otherwise the system's error.
    pub fn symbolic_link(&self, target: &OsStr, name: &OsStr) -> io::Result<()> {
        cleanup::check()?;
        let refused = |error| match error {
            Errno::NXIO => io::Error::other("links to shares, devices and paths such as C:x are not made"),
            error => error.into(),
        };
        let is_relative = link::is_relative(target).map_err(refused)?;
        let leads_to_folder = super::ends_with_separator(target) || is_relative && self.has_folder(Path::new(target));
        let kind = if leads_to_folder { FILE_DIRECTORY_FILE } else { FILE_NON_DIRECTORY_FILE };
        let how = Opening {
            access: FILE_GENERIC_WRITE | DELETE,
            disposition: FILE_CREATE,
            options: kind | FILE_OPEN_REPARSE_POINT,
            ..EXISTING
        };
        let made = imp::open(self.borrowed(), &mut wide(new_name(name)?), how)?;
        link::set(made.as_handle(), target).map_err(|error| {
            let _ = super::dispose(made.as_handle());
            error.into()
        })
    }

    /// Whether a folder, or a link to a folder, lies at a path in this volume. Follows no link.
    pub(super) fn has_folder(&self, path: &Path) -> bool {
        let mut components = path.components();
        let Some(last) = components.next_back() else { return false };
        let enter = |folder: Self, component: Component<'_>| match component {
            Component::Normal(name) => folder.entered(name, NAMES),
            component => folder.follow(Path::new(component.as_os_str())),
        };
        let Ok(folder) = components.try_fold(self.clone(), enter) else { return false };
        match last {
            Component::Normal(name) => {
                let options = FILE_DIRECTORY_FILE | FILE_OPEN_REPARSE_POINT | FILE_OPEN_FOR_BACKUP_INTENT;
                folder.opened(name, Opening { options, ..EXISTING }).is_ok()
            }
            _ => true,
        }
    }

    /// Sets the time of a symbolic link itself.
    ///
    /// # Errors
    /// The system's errors.
    pub fn dress_link(&self, name: &OsStr, _owner: Option<(u32, u32)>, modified: Option<(i64, u32)>) -> io::Result<()> {
        let Some(modified) = modified else { return Ok(()) };
        let access = FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES;
        File::from(self.opened(name, Opening { access, ..EXISTING })?).set_modified_at(modified)
    }

    /// Makes a new name in this folder for the file or link that has the name `from` in the folder `other`.
    ///
    /// # Errors
    /// [`io::ErrorKind::AlreadyExists`] if the name is taken; otherwise the system's error.
    pub fn hard_link(&self, other: &Self, from: &OsStr, name: &OsStr) -> io::Result<()> {
        cleanup::check()?;
        let access = FILE_READ_ATTRIBUTES | FILE_WRITE_ATTRIBUTES;
        let file = other.opened(from, Opening { access, ..EXISTING })?;
        Ok(super::link_to(file.as_handle(), self.borrowed(), &wide(new_name(name)?))?)
    }

    /// Removes a name of a file or of a link.
    ///
    /// # Errors
    /// The system's errors.
    pub fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(self.removed(name)?)
    }

    pub(crate) fn removed(&self, name: &OsStr) -> Result<(), Errno> {
        let found = self.opened(name, Opening { access: DELETE | FILE_READ_ATTRIBUTES, ..EXISTING })?;
        if about::of_handle(found.as_handle())?.is_folder() {
            return Err(Errno::ISDIR);
        }
        super::dispose(found.as_handle())
    }

    /// Whether a name that was removed is gone. Where the file system cannot remove a name at once, the name stays
    /// until the last handle of the file is closed.
    pub(crate) fn lacks(&self, name: &OsStr) -> bool {
        matches!(self.looked(name), Ok(None))
    }

    /// Renames `from` to `to`, and replaces a file with the name `to`.
    ///
    /// # Errors
    /// The system's errors.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        if self.looked(to)?.is_some_and(|about| about.is_folder()) {
            return Err(Errno::ISDIR.into());
        }
        match self.renamed(from, self, to, true) {
            Err(Errno::ACCESS) => self.replaced(from, to),
            renamed => Ok(renamed?),
        }
    }

    pub(crate) fn moved_new(&self, from: &OsStr, other: &Self, to: &OsStr) -> Result<(), Errno> {
        self.renamed(from, other, to, false)
    }

    fn renamed(&self, from: &OsStr, other: &Self, to: &OsStr, replaces: bool) -> Result<(), Errno> {
        let name = wide(new_name(to)?);
        // If `to` is the short name of another file, the system would replace that file.
        let replaces = replaces && (!to.as_encoded_bytes().contains(&b'~') || other.looked(to)?.is_some());
        let file = self.opened(from, Opening { access: DELETE | FILE_READ_ATTRIBUTES, ..EXISTING })?;
        super::rename_to(file.as_handle(), other.borrowed(), &name, replaces)
    }

    /// Gives a file the name of another file, which this or another program has open. On file systems that cannot do
    /// that in one step, the other file is given another name first. No later run takes that name for a draft, so the
    /// file stays if this run is killed.
    pub(super) fn replaced(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        let aside = names::aside(to);
        // The kind of the error would hide the text.
        let left =
            |error: Errno| io::Error::other(format!("the earlier file is now called {}: {error}", aside.display()));
        self.renamed(to, self, &aside, false)?;
        if let Err(error) = self.renamed(from, self, to, false) {
            return Err(self.renamed(&aside, self, to, false).map_or_else(left, |()| error.into()));
        }
        self.removed(&aside).map_err(left)
    }

    /// Always fails: the system cannot swap names.
    pub(crate) fn exchange(&self, _one: &OsStr, _other: &OsStr) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    /// Returns the names in the folder, in no order, each with the kind that the file system reports.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<(OsString, Option<FileKind>)>> + use<>> {
        Ok(self.read()?.filter_map(|entry| match entry {
            Ok(entry) if entry.is_dots() => None,
            Ok(entry) => Some(Ok((entry.name().to_owned(), entry.kind()))),
            Err(error) => Some(Err(error.into())),
        }))
    }

    pub(crate) fn read(&self) -> Result<Entries, Errno> {
        let how = Opening { access: FILE_LIST_DIRECTORY, options: FILE_DIRECTORY_FILE, ..EXISTING };
        // A handle of its own, because a handle remembers which names were read.
        imp::open(self.borrowed(), &mut [], how).map(Entries::new)
    }

    /// Writes the names in the folder to the disk, as far as the system can: NTFS writes them in order, to its journal.
    ///
    /// # Errors
    /// The system's errors.
    pub fn sync(&self) -> io::Result<()> {
        let how = Opening { access: FILE_ADD_FILE, options: FILE_DIRECTORY_FILE, ..EXISTING };
        if let Ok(folder) = imp::open(self.borrowed(), &mut [], how) {
            let flushed = File::from(folder).sync_all();
            return match flushed.as_ref().map_err(Errno::from_io_error) {
                Err(Some(error @ Errno::IO)) => Err(error.into()),
                _ => Ok(()),
            };
        }
        Ok(())
    }

    /// Writes the contents of all files in the folder to the disk. Only administrators may do that for a whole volume.
    ///
    /// # Errors
    /// The system's errors.
    pub fn sync_all(&self) -> io::Result<()> {
        let mut walk = crate::Walk::new(self.clone())?;
        while walk.advance() {
            let Some(crate::Spot { folder, name }) = walk.spot() else { continue };
            if walk.kind() == Some(FileKind::File) {
                // A file that is read-only is opened for its attributes alone, and was flushed when it was closed.
                match folder.file_to_change(&name) {
                    Ok((file, _)) => file.sync_all()?,
                    Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
                    Err(error) => return Err(error),
                }
            } else {
                walk.open()?;
            }
        }
        self.sync()
    }

    /// Always fails, because a folder has no permission bits.
    ///
    /// # Errors
    /// Always.
    pub fn unlock(&self, _name: &OsStr) -> io::Result<u32> {
        Err(Errno::ACCESS.into())
    }

    /// Does nothing, because a folder has no permission bits.
    pub(crate) fn open_to_owner(&self) {}

    /// Ends the lock of this folder, so that it can be removed.
    pub(crate) fn let_go(&self) {
        self.unlock_file();
    }

    /// Removes a folder in this folder, if the folder to remove is empty.
    pub(crate) fn remove_folder(&self, name: &OsStr) -> Result<(), Errno> {
        let found = self.opened(name, Opening { access: DELETE | FILE_READ_ATTRIBUTES, ..EXISTING })?;
        if !about::of_handle(found.as_handle())?.is_folder() {
            return Err(Errno::NOTDIR);
        }
        super::dispose(found.as_handle())
    }

    /// Moves the file or folder `name` from another folder to the name `to` in this folder.
    pub(crate) fn take_from(&self, other: &Self, name: &OsStr, to: &OsStr) -> Result<(), Errno> {
        other.renamed(name, self, to, false)
    }
}

/// Whether the file that was opened is called `name`, in whatever case.
fn is_called(file: BorrowedHandle<'_>, name: &OsStr) -> Result<bool, Errno> {
    let path = super::path_of(file)?;
    let lower = |name: &OsStr| name.to_string_lossy().to_lowercase();
    Ok(path.file_name().is_some_and(|own| lower(own) == lower(name)))
}
