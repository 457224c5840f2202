//! Open files and folders, with functions that read and set their attributes.

use std::fs::File;
use std::io;
use std::time::SystemTime;

use rustix::fs::{
    FlockOperation, Gid, Mode, Timespec, Timestamps, UTIME_OMIT, Uid, XattrFlags, fchmod, fchown, fgetxattr,
    flistxattr, flock, fremovexattr, fsetxattr, futimens,
};
use rustix::io::Errno;

use crate::folder::Folder;

/// The attribute with a file's access control list.
pub const ACCESS_LIST: &str = "system.posix_acl_access";

#[cfg(target_vendor = "apple")]
const NO_ATTRIBUTE: Errno = Errno::NOATTR;
#[cfg(not(target_vendor = "apple"))]
const NO_ATTRIBUTE: Errno = Errno::NODATA;

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

mod sealed {
    use std::os::fd::{AsFd, BorrowedFd};

    /// A value that contains a file descriptor. This trait is not public.
    pub trait Sealed {
        fn descriptor(&self) -> BorrowedFd<'_>;
    }

    impl Sealed for std::fs::File {
        fn descriptor(&self) -> BorrowedFd<'_> {
            self.as_fd()
        }
    }

    impl Sealed for super::Folder {
        fn descriptor(&self) -> BorrowedFd<'_> {
            self.borrowed()
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
        Ok(fchown(self.descriptor(), owner.map(Uid::from_raw), Some(Gid::from_raw(group)))?)
    }

    /// Sets the exact permissions. The umask does not apply.
    ///
    /// # Errors
    /// The system's errors.
    fn set_mode(&self, mode: u32) -> io::Result<()> {
        Ok(fchmod(self.descriptor(), Mode::from_raw_mode(mode as _))?)
    }

    /// Sets the time of the last change of the contents, as seconds since 1970 and nanoseconds.
    ///
    /// # Errors
    /// The system's errors.
    fn set_modified_at(&self, modified: (i64, u32)) -> io::Result<()> {
        Ok(futimens(self.descriptor(), &times(modified))?)
    }

    /// Returns the extended attributes, in the order of their names.
    ///
    /// # Errors
    /// The system's errors.
    fn attributes(&self) -> io::Result<Vec<Attribute>> {
        let mut names = vec![0; 64 << 10];
        let length = match flistxattr(self.descriptor(), names.as_mut_slice()) {
            Ok(length) => length,
            Err(Errno::OPNOTSUPP) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        };
        let mut found = Vec::new();
        for name in names[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            // The system allows no value that is longer than this.
            let mut value = vec![0; 64 << 10];
            match fgetxattr(self.descriptor(), name, value.as_mut_slice()) {
                Ok(length) => value.truncate(length),
                Err(NO_ATTRIBUTE) => continue,
                Err(error) => return Err(error.into()),
            }
            found.push((name.to_vec(), value));
        }
        found.sort();
        Ok(found)
    }

    /// Returns the value of an extended attribute, or `None` if the file has no such attribute. A value with more than
    /// `longest` bytes counts as an error.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] if the file system has no extended attributes; otherwise the system's error.
    fn attribute(&self, name: &[u8], longest: usize) -> io::Result<Option<Vec<u8>>> {
        let mut value = vec![0; longest];
        match fgetxattr(self.descriptor(), name, value.as_mut_slice()) {
            Ok(length) => {
                value.truncate(length);
                Ok(Some(value))
            }
            Err(NO_ATTRIBUTE) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Sets an extended attribute.
    ///
    /// # Errors
    /// [`io::ErrorKind::Unsupported`] if the file system has no extended attributes, [`io::ErrorKind::StorageFull`] if
    /// it has no room for this attribute; otherwise the system's error.
    fn set_attribute(&self, name: &[u8], value: &[u8]) -> io::Result<()> {
        fsetxattr(self.descriptor(), name, value, XattrFlags::empty()).map_err(|error| match error {
            // The kernel limits the size of attributes, and many file systems have smaller limits. Some file systems
            // report a full disk for an attribute that is too large.
            Errno::TOOBIG | Errno::RANGE | Errno::NOSPC | Errno::DQUOT => io::ErrorKind::StorageFull.into(),
            error => error.into(),
        })
    }

    /// Whether the file has an access control list. If the file has a list, the group bits of the file's mode are the
    /// mask of the list.
    fn has_access_list(&self) -> bool {
        // Every access control list is longer than this buffer, so if there is a list, the system returns the error
        // `RANGE`.
        let mut start = [0; 1];
        cfg!(target_os = "linux") && fgetxattr(self.descriptor(), ACCESS_LIST, &mut start) == Err(Errno::RANGE)
    }

    /// Removes the access control list, for example a list that the file inherited from its folder.
    ///
    /// # Errors
    /// The system's errors.
    fn remove_access_list(&self) -> io::Result<()> {
        match fremovexattr(self.descriptor(), ACCESS_LIST) {
            Ok(()) | Err(NO_ATTRIBUTE | Errno::OPNOTSUPP) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Locks the file, unless another handle has already locked it. The lock ends when the file is closed.
    ///
    /// # Errors
    /// The system's errors.
    fn lock_now(&self) -> io::Result<Locked> {
        match flock(self.descriptor(), FlockOperation::NonBlockingLockExclusive) {
            // Some network file systems have no locks.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOLCK | Errno::NOSYS) => Ok(Locked::Yes),
            Err(Errno::WOULDBLOCK) => Ok(Locked::ByOthers),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends a lock before the file is closed.
    fn unlock_file(&self) {
        let _ = flock(self.descriptor(), FlockOperation::Unlock);
    }
}

impl Handle for File {}

impl Handle for Folder {}

/// Returns timestamps that set the modification time and leave the access time unchanged.
pub(crate) fn times((seconds, nanoseconds): (i64, u32)) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT as _ },
        last_modification: Timespec { tv_sec: seconds as _, tv_nsec: nanoseconds as _ },
    }
}

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
