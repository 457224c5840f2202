//! The system's errors, under the names that Unix gives to them.

use std::io;

use windows_sys::Win32::Foundation::{
    NTSTATUS, STATUS_CANNOT_DELETE, STATUS_DELETE_PENDING, STATUS_FILE_IS_A_DIRECTORY,
    STATUS_REPARSE_POINT_ENCOUNTERED, STATUS_STOPPED_ON_SYMLINK,
};

use super::imp;

/// An error of the system: a code of Win32. Codes that mean the same here are one code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Errno(u32);

impl Errno {
    /// The function is not there (`ERROR_INVALID_FUNCTION`).
    pub const OPNOTSUPP: Self = Self(1);
    /// Nothing has the name (`ERROR_FILE_NOT_FOUND`).
    pub const NOENT: Self = Self(2);
    /// Too many open files (`ERROR_TOO_MANY_OPEN_FILES`).
    pub const MFILE: Self = Self(4);
    /// The access is denied (`ERROR_ACCESS_DENIED`).
    pub const ACCESS: Self = Self(5);
    /// The handle is not valid (`ERROR_INVALID_HANDLE`).
    pub const BADF: Self = Self(6);
    /// The file is in use (`ERROR_SHARING_VIOLATION`).
    pub const BUSY: Self = Self(32);
    /// The file is locked (`ERROR_LOCK_VIOLATION`).
    pub(crate) const LOCKED: Self = Self(33);
    /// The system cannot do this (`ERROR_NOT_SUPPORTED`).
    pub const NOSYS: Self = Self(50);
    /// No device (`ERROR_DEV_NOT_EXIST`).
    pub const NXIO: Self = Self(55);
    /// The name is taken (`ERROR_FILE_EXISTS`).
    pub const EXIST: Self = Self(80);
    /// A wrong argument (`ERROR_INVALID_PARAMETER`).
    pub const INVAL: Self = Self(87);
    /// A name that Windows cannot have (`ERROR_INVALID_NAME`).
    pub const ILSEQ: Self = Self(123);
    /// The folder is not empty (`ERROR_DIR_NOT_EMPTY`).
    pub const NOTEMPTY: Self = Self(145);
    /// A name that is too long (`ERROR_FILENAME_EXCED_RANGE`).
    pub const NAMETOOLONG: Self = Self(206);
    /// Not a folder (`ERROR_DIRECTORY`).
    pub const NOTDIR: Self = Self(267);
    /// A folder (`ERROR_DIRECTORY_NOT_SUPPORTED`).
    pub const ISDIR: Self = Self(336);
    /// A number that is too large (`ERROR_ARITHMETIC_OVERFLOW`).
    pub const OVERFLOW: Self = Self(534);
    /// The call was ended (`ERROR_OPERATION_ABORTED`).
    pub(crate) const CANCELLED: Self = Self(995);
    /// The call goes on (`ERROR_IO_PENDING`).
    pub(crate) const PENDING: Self = Self(997);
    /// The device failed (`ERROR_IO_DEVICE`).
    pub const IO: Self = Self(1117);
    /// The user lacks a right (`ERROR_PRIVILEGE_NOT_HELD`).
    pub const PERM: Self = Self(1314);
    /// The system has no room for another open file (`ERROR_NO_SYSTEM_RESOURCES`).
    pub const NFILE: Self = Self(1450);
    /// A link that is not followed (`ERROR_CANT_RESOLVE_FILENAME`).
    pub const LOOP: Self = Self(1921);

    /// Returns the error with this code of Win32.
    pub(crate) fn from_code(code: u32) -> Self {
        Self(match code {
            // A folder on the way is missing, the path of a share is wrong, or the file is being removed.
            3 | 53 | 67 | 303 => Self::NOENT.0,
            // ERROR_ALREADY_EXISTS
            183 => Self::EXIST.0,
            // ERROR_BAD_PATHNAME
            161 => Self::ILSEQ.0,
            code => code,
        })
    }

    pub(crate) fn from_status(status: NTSTATUS) -> Self {
        match status {
            STATUS_FILE_IS_A_DIRECTORY => Self::ISDIR,
            STATUS_DELETE_PENDING => Self::NOENT,
            STATUS_CANNOT_DELETE => Self::ACCESS,
            STATUS_STOPPED_ON_SYMLINK | STATUS_REPARSE_POINT_ENCOUNTERED => Self::LOOP,
            status => Self::from_code(imp::code(status)),
        }
    }

    /// Returns the error in an [`io::Error`], if the system returned it.
    #[must_use]
    pub fn from_io_error(error: &io::Error) -> Option<Self> {
        error.raw_os_error().map(|code| Self::from_code(code.cast_unsigned()))
    }

    /// Returns the code.
    #[must_use]
    pub fn raw_os_error(self) -> i32 {
        self.0.cast_signed()
    }

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(self) -> io::ErrorKind {
        io::Error::from(self).kind()
    }
}

impl From<Errno> for io::Error {
    fn from(error: Errno) -> Self {
        match error {
            Errno::PERM => io::Error::new(
                io::ErrorKind::PermissionDenied,
                "only administrators, and users in developer mode, may make symbolic links",
            ),
            error => Self::from_raw_os_error(error.raw_os_error()),
        }
    }
}

impl std::fmt::Debug for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        io::Error::from_raw_os_error(self.raw_os_error()).fmt(f)
    }
}

impl std::fmt::Display for Errno {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        io::Error::from(*self).fmt(f)
    }
}

impl std::error::Error for Errno {}
