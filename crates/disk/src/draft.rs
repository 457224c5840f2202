//! A file that gets its name when it is complete.
//!
//! If the file system supports files without names, the draft has no name until it is complete, so a killed run leaves
//! no file. If files without names are not supported, the draft has a temporary name, and is removed after a failure or
//! when the process ends early. If a run is killed, its draft stays, and the next run with the same output removes it.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

use crate::about::{About, FileId};
use crate::cleanup::{self, Guard};
use crate::error::Error;
use crate::folder::Folder;
use crate::handle::{Handle, Locked, since_1970};
use crate::names;
use crate::sweep::sweep;
use crate::sync::sync_file;
use crate::system::Errno;
use crate::system::user::umask;

/// The attributes of an output. The attributes are set before the output gets its name.
#[derive(Clone, Copy, Debug)]
pub struct Attributes {
    /// The exact permissions.
    pub mode: u32,
    /// The time of the last change of the contents. `None` for the current time.
    pub modified: Option<SystemTime>,
}

impl Attributes {
    /// Returns the attributes of an ordinary new file.
    #[must_use]
    pub fn usual() -> Self {
        Self { mode: 0o666 & !umask(), modified: None }
    }

    /// Returns the attributes of a file that only its owner can read.
    #[must_use]
    pub fn private() -> Self {
        Self { mode: 0o600, modified: None }
    }
}

/// The file that an output may replace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// No file: the name must be new.
    #[default]
    Nothing,
    /// Any file or link of this name.
    Any,
    /// Only the file with this id: the caller has read this file.
    Only(FileId),
}

impl Replace {
    /// Returns [`Replace::Any`] if `replace` is set, and otherwise [`Replace::Nothing`].
    #[must_use]
    pub fn any_if(replace: bool) -> Self {
        if replace { Self::Any } else { Self::Nothing }
    }
}

/// Options for giving an output its name.
///
/// A new file replaces an old file only after the contents of the new file are on the disk. So after a crash, the name
/// belongs either to the old file or to the new file, and that file is complete.
#[derive(Clone, Copy, Debug, Default)]
pub struct Landing {
    /// The file that the output may replace.
    pub replace: Replace,
    /// Whether the output and its name are on the disk when `land` returns. If the output replaces a file, it is on the
    /// disk even without this option, except if [`Draft::one_of_many_in`] made the draft.
    pub sync: bool,
}

/// A file that is not complete yet.
#[derive(Debug)]
pub struct Draft {
    pub(crate) folder: Folder,
    pub(crate) name: OsString,
    pub(crate) file: File,
    /// The temporary name; `None` if the file has no name yet.
    pub(crate) named: Option<Named>,
    /// Whether the drafts of killed runs are also searched for and removed.
    sweeps: bool,
}

/// A temporary name.
#[derive(Debug)]
pub(crate) struct Named {
    pub(crate) name: OsString,
    pub(crate) guard: Guard,
}

impl Named {
    /// Chooses a temporary name for a draft of `name`, and makes the file by `make`. The file is removed when the
    /// returned value is dropped, or when the process ends early.
    pub(crate) fn make<T>(
        folder: &Folder,
        name: &OsStr,
        make: impl FnOnce(&OsStr) -> io::Result<T>,
    ) -> io::Result<(T, Self)> {
        let temporary = names::name(name);
        let (at, own) = (folder.clone(), temporary.clone());
        let remove = move || {
            let _ = at.remove(&own);
        };
        let (made, guard) = cleanup::make(|| make(&temporary), remove)?;
        Ok((made, Self { name: temporary, guard }))
    }
}

impl Draft {
    /// Makes a file that gets this name in the open folder when it is complete. Only the owner of the file can read the
    /// file until its mode is set.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn create_in(folder: &Folder, name: &OsStr) -> Result<Self, Error> {
        Self::create_as(folder, name, is_linkable(), true)
    }

    /// Makes a file as [`create_in`](Self::create_in) does, but does not search for drafts of killed runs. In a large
    /// folder, the search for drafts of killed runs takes long.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn one_of_many_in(folder: &Folder, name: &OsStr) -> Result<Self, Error> {
        Self::create_as(folder, name, is_linkable(), false)
    }

    pub(crate) fn create_as(folder: &Folder, name: &OsStr, nameless: bool, sweeps: bool) -> Result<Self, Error> {
        let file =
            if nameless { folder.create_nameless().map_err(|error| Error::of_folder(error.into()))? } else { None };
        let (file, named) = match file {
            Some(file) => (file, None),
            None => {
                if sweeps {
                    sweep(folder, name);
                }
                let (file, named) = named_in(folder, name)?;
                (file, Some(named))
            }
        };
        Ok(Self { folder: folder.clone(), name: name.to_owned(), file, named, sweeps })
    }

    /// Returns the file, for reading and writing.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the folder of the output.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the name that the file gets in its folder.
    #[must_use]
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Makes another file in the same folder. The temporary name of the new file has the same form as the temporary
    /// name of this file.
    ///
    /// # Errors
    /// If the file cannot be made.
    pub fn another(&self) -> Result<Self, Error> {
        let another = Self::create_as(&self.folder, &self.name, self.named.is_none(), false)?;
        Ok(Self { sweeps: self.sweeps, ..another })
    }

    /// Writes the contents of the file from the system's cache to the disk.
    ///
    /// # Errors
    /// The system's errors.
    pub fn sync(&self) -> Result<(), Error> {
        sync_file(&self.file).map_err(Error::write)
    }

    /// Sets the attributes of the file and gives the file its name.
    ///
    /// # Errors
    /// [`Error::Exists`] if the name is taken and may not be replaced. [`Error::Changed`] if only a certain file may be
    /// replaced, but another file has the name. Otherwise, the system's error, with the `Step` that failed.
    pub fn land(self, attributes: Attributes, landing: Landing) -> Result<(), Error> {
        self.dress(attributes)?;
        self.land_dressed(landing)
    }

    /// Gives the file its name, with the attributes that the caller has set.
    ///
    /// # Errors
    /// The errors of [`land`](Self::land).
    pub fn land_dressed(self, landing: Landing) -> Result<(), Error> {
        let Landing { replace, sync } = landing;
        if sync {
            self.sync()?;
        }
        let (folder, alone) = (self.folder.clone(), self.sweeps);
        let replaced = match replace {
            Replace::Nothing => self.link().map(|()| false).map_err(of_link)?,
            Replace::Any => match self.link() {
                Err(Errno::EXIST) => self.replace().map(|()| true)?,
                linked => linked.map(|()| false).map_err(of_link)?,
            },
            Replace::Only(id) => self.replace_only(id).map(|()| true)?,
        };
        if sync || replaced && alone {
            folder.sync().map_err(|error| Error::System(crate::Step::WriteFolder, error))
        } else {
            Ok(())
        }
    }

    /// Gives an incomplete file the name `NAME.incomplete`, and returns that name.
    ///
    /// # Errors
    /// [`Error::Exists`] if all names of this form are taken; otherwise the system's error, with the `Step` that
    /// failed.
    pub fn keep_incomplete(mut self, attributes: Attributes) -> Result<OsString, Error> {
        self.dress(attributes)?;
        for name in names::incomplete(&self.name) {
            self.name = name;
            match self.link() {
                Ok(()) => return Ok(self.name),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(Error::create(error)),
            }
        }
        Err(Error::Exists)
    }

    pub(crate) fn dress(&self, attributes: Attributes) -> Result<(), Error> {
        let is_private = cfg!(windows) && attributes.mode & 0o277 == 0o200;
        if is_private {
            self.file.set_private().map_err(Error::dress)?;
        } else {
            self.share()?;
            self.file.set_mode(attributes.mode).map_err(Error::dress)?;
        }
        if let Some(modified) = attributes.modified {
            self.file.set_modified_at(since_1970(modified)).map_err(Error::dress)?;
        }
        Ok(())
    }

    /// On Windows, gives the file the access control list that its folder gives to new files. Before this, only this
    /// user and the system have access. On other systems, the mode of the file says who has access, and this function
    /// does nothing.
    ///
    /// # Errors
    /// The system's errors.
    pub fn share(&self) -> Result<(), Error> {
        self.folder.share(&self.file).map_err(Error::dress)
    }

    /// Gives the file its name. Fails if the name is taken.
    pub(crate) fn link(&self) -> Result<(), Errno> {
        match &self.named {
            None => self.folder.link_nameless(&self.file, &self.name),
            Some(named) => named.guard.settle(|| self.folder.renamed_new(&named.name, &self.name)),
        }
    }

    /// Replaces the file that has the target's name.
    fn replace(mut self) -> Result<(), Error> {
        let named = self.prepare_to_replace()?;
        named.guard.settle(|| self.folder.rename(&named.name, &self.name)).map_err(of_rename)
    }

    /// Replaces the file with this id, but not a different file that has received the name in the meantime. The two
    /// names are swapped. If it turns out after the swap that the old file has another id, swaps the two names back.
    fn replace_only(mut self, id: FileId) -> Result<(), Error> {
        let named = self.prepare_to_replace()?;
        let (folder, name) = (&self.folder, &self.name);
        let is_old = |name: &OsStr| folder.look(name).is_ok_and(|found| found.is_some_and(|found| found.id == id));
        cleanup::hold(|_| match folder.exchange(&named.name, name) {
            Ok(()) if is_old(&named.name) => Ok(()),
            Ok(()) => folder.exchange(&named.name, name).map_err(Error::create).and(Err(Error::Changed)),
            Err(Errno::NOENT) => Err(Error::Changed),
            // The file system cannot swap names.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if is_old(name) => {
                folder.rename(&named.name, name).map_err(of_rename)
            }
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => Err(Error::Changed),
            Err(error) => Err(of_link(error)),
        })
        // When `named` is dropped, the file with the temporary name is removed: this is now either the old file or the
        // draft.
    }

    /// Writes the contents to the disk, and gives the draft a temporary name if it has no name.
    fn prepare_to_replace(&mut self) -> Result<Named, Error> {
        self.sync()?;
        if let Some(named) = self.named.take() {
            return Ok(named);
        }
        if self.sweeps {
            sweep(&self.folder, &self.name);
        }
        self.name_draft(&self.name.clone())
    }

    /// Gives a nameless file a temporary name, in the form that drafts of the output `name` have. The file is locked
    /// before it gets a temporary name.
    pub(crate) fn name_draft(&self, name: &OsStr) -> Result<Named, Error> {
        let _ = self.file.lock_now();
        let make = |temporary: &OsStr| Ok(self.folder.link_nameless(&self.file, temporary)?);
        Named::make(&self.folder, name, make).map(|((), named)| named).map_err(Error::create)
    }
}

/// Makes a file without a name in this folder. The file never gets a name.
///
/// # Errors
/// If the file cannot be made.
pub fn scratch_in(folder: &Path) -> io::Result<File> {
    let folder = Folder::open(folder)?;
    let draft = Draft::create_in(&folder, OsStr::new("scratch")).map_err(io::Error::other)?;
    draft.file().try_clone()
}

/// Whether the system can give a name to a file without a name. The system needs `/proc` for that.
pub(crate) fn is_linkable() -> bool {
    static MOUNTED: OnceLock<bool> = OnceLock::new();
    cfg!(target_os = "linux") && *MOUNTED.get_or_init(|| Path::new("/proc/self/fd").exists())
}

/// Makes a file with a temporary name. The file is locked: other runs see from the lock that the file is in use.
fn named_in(folder: &Folder, name: &OsStr) -> Result<(File, Named), Error> {
    for _ in 0..64 {
        let (file, named) = match Named::make(folder, name, |temporary| folder.create_private(temporary)) {
            // Another run chose the same name.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made.map_err(Error::create)?,
        };
        // Another run may have removed the file before it was locked.
        let locked = matches!(file.lock_now(), Ok(Locked::Yes));
        if locked && About::of_file(&file).is_ok_and(|about| about.links > 0) {
            return Ok((file, named));
        }
    }
    Err(Error::create(Errno::BUSY))
}

pub(crate) fn of_link(error: Errno) -> Error {
    match error {
        Errno::EXIST => Error::Exists,
        error => Error::create(error),
    }
}

fn of_rename(error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::IsADirectory => Error::IsFolder,
        _ => Error::create(error),
    }
}
