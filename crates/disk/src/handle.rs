//! Open files and folders, with functions that read and set their attributes.

use std::io;
use std::time::SystemTime;

use crate::folder::Folder;
use crate::system::handle;

/// The attribute with a file's access control list.
pub const ACCESS_LIST: &str = "system.posix_acl_access";

/// An extended attribute: its name and value.
pub type Attribute = (Vec<u8>, Vec<u8>);

/// Whether a file could be locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// The caller has the lock, or the file system does not support locks.
    Yes,
    /// Another process or another handle has locked the file.
    ByOthers,
}

pub(crate) mod sealed {
    use crate::system::{Borrowed, FolderHandle};

    /// A value that contains an open file or folder. This trait is not public.
    pub trait Sealed {
        fn descriptor(&self) -> Borrowed<'_>;

        /// Returns the folder, if the value is a folder.
        fn folder(&self) -> Option<&FolderHandle>;
    }

    impl Sealed for std::fs::File {
        fn descriptor(&self) -> Borrowed<'_> {
            crate::system::borrowed(self)
        }

        fn folder(&self) -> Option<&FolderHandle> {
            None
        }
    }

    impl Sealed for super::Folder {
        fn descriptor(&self) -> Borrowed<'_> {
            self.borrowed()
        }

        fn folder(&self) -> Option<&FolderHandle> {
            Some(&self.handle)
        }
    }
}

/// An open file or folder.
pub trait Handle: sealed::Sealed {
    /// Sets owner and group. `None` does not change the owner.
    ///
    /// # Errors
    /// The system's errors.
    fn set_owner(&self, owner: Option<u32>, group: u32) -> io::Result<()> {
        handle::set_owner(self.descriptor(), owner, group)
    }

    /// Sets the exact permissions. The umask does not apply.
    ///
    /// # Errors
    /// The system's errors.
    fn set_mode(&self, mode: u32) -> io::Result<()> {
        handle::set_mode(self.descriptor(), mode)
    }

    /// Gives all rights to the owner alone, for a file with secrets. On Windows, this user and the system get them.
    ///
    /// # Errors
    /// The system's errors.
    fn set_private(&self) -> io::Result<()> {
        handle::set_private(self.descriptor())
    }

    /// Sets the time of the last change of the contents, as seconds since 1970 and nanoseconds.
    ///
    /// # Errors
    /// The system's errors.
    fn set_modified_at(&self, modified: (i64, u32)) -> io::Result<()> {
        handle::set_modified_at(self.descriptor(), modified)
    }

    /// Returns the extended attributes, in the order of their names.
    ///
    /// # Errors
    /// The system's errors.
    fn attributes(&self) -> io::Result<Vec<Attribute>> {
        handle::attributes(self.descriptor())
    }

    /// Returns the value of an extended attribute, or `None` if the file has no such attribute. A value with more than
    /// `longest` bytes counts as an error.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] if the file system has no extended attributes; otherwise the system's error.
    fn attribute(&self, name: &[u8], longest: usize) -> io::Result<Option<Vec<u8>>> {
        handle::attribute(self.descriptor(), name, longest)
    }

    /// Sets an extended attribute.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] if the file system has no extended attributes, [`io::ErrorKind::StorageFull`] if
    /// it has no room for this attribute; otherwise the system's error.
    fn set_attribute(&self, name: &[u8], value: &[u8]) -> io::Result<()> {
        handle::set_attribute(self.descriptor(), name, value)
    }

    /// Whether the file has an access control list. If the file has a list, the group bits of the file's mode are the
    /// mask of the list.
    fn has_access_list(&self) -> bool {
        handle::has_access_list(self.descriptor())
    }

    /// Removes the access control list, for example a list that the file inherited from its folder.
    ///
    /// # Errors
    /// The system's errors.
    fn remove_access_list(&self) -> io::Result<()> {
        handle::remove_access_list(self.descriptor())
    }

    /// On Windows, gives the file the access control list of another file, if this user may change the list. On other
    /// systems, this function does nothing, because [`keep`](crate::keep) copies the list.
    ///
    /// # Errors
    /// The system's errors.
    fn take_access_list(&self, other: &impl Handle) -> io::Result<()> {
        handle::take_list(self.descriptor(), other.descriptor())
    }

    /// Locks the file, unless another handle has already locked it. The lock ends when the file is closed.
    ///
    /// # Errors
    /// The system's errors.
    fn lock_now(&self) -> io::Result<Locked> {
        handle::lock_now(self)
    }

    /// Ends a lock before the file is closed.
    fn unlock_file(&self) {
        handle::unlock_file(self)
    }
}

impl Handle for std::fs::File {}

impl Handle for Folder {}

/// Returns a time as seconds since 1970 and nanoseconds.
pub(crate) fn since_1970(time: SystemTime) -> (i64, u32) {
    match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => (after.as_secs().cast_signed(), after.subsec_nanos()),
        Err(before) => {
            let before = before.duration();
            let whole = 0_i64.saturating_sub_unsigned(before.as_secs());
            match before.subsec_nanos() {
                0 => (whole, 0),
                part => (whole.saturating_sub(1), 1_000_000_000 - part),
            }
        }
    }
}
