//! The reasons why packing, unpacking or listing ends.

mod flaw;
mod refusal;

pub use flaw::{Change, Flaw, Special};
pub use refusal::Refusal;

use std::fmt;
use std::io;

use thiserror::Error;

/// Who must act on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The archive is damaged or hostile.
    Data,
    /// The caller requested something impossible.
    Caller,
    /// The system failed: a full disk, a missing permission.
    System,
}

/// The reason why packing, unpacking or listing ended. Paths in the message are escaped as by [`shown`](crate::shown).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The archive is damaged or hostile, or this crate does not read this kind of archive.
    #[error(transparent)]
    Archive(#[from] Flaw),
    /// The archive ends before its end marker.
    #[error("the archive ends too early")]
    Truncated,
    /// The caller requested something impossible.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// A file or folder could not be read or written.
    #[error("cannot {action} {path}: {}", words(error))]
    Entry {
        /// The operation that failed.
        action: Action,
        /// The file or folder.
        path: String,
        /// The system's error.
        error: io::Error,
    },
    /// A file became shorter while it was packed.
    #[error("{path} became shorter while it was read")]
    Shrank {
        /// The file.
        path: String,
    },
    /// The archive could not be read.
    #[error("cannot read: {0}")]
    Read(io::Error),
    /// The archive could not be written.
    #[error("cannot write: {0}")]
    Write(io::Error),
    /// The caller stopped the work, or another thread failed before this thread.
    #[error("stopped")]
    Stopped,
}

/// An operation on a file or folder, in [`Error::Entry`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Reading a file, a folder or a link.
    Read,
    /// Reading a file with patterns.
    ReadPatterns,
    /// Reading extended attributes.
    ReadAttributes,
    /// Opening a folder.
    Open,
    /// Creating a file, a folder or a link.
    Create,
    /// Writing a file.
    Write,
    /// Replacing a file.
    Replace,
    /// Removing a file.
    Remove,
    /// Looking up the target of a hard link.
    FollowLink,
    /// Setting the owner.
    SetOwner,
    /// Setting the mode.
    SetMode,
    /// Setting the time of the last change.
    SetTime,
    /// Setting extended attributes.
    SetAttributes,
}

/// Writes the part of an error message between "cannot" and the path.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::ReadPatterns => "read the patterns in",
            Self::ReadAttributes => "read the extended attributes of",
            Self::Open => "open",
            Self::Create => "create",
            Self::Write => "write",
            Self::Replace => "replace",
            Self::Remove => "remove",
            Self::FollowLink => "look up the target of",
            Self::SetOwner => "set the owner of",
            Self::SetMode => "set the mode of",
            Self::SetTime => "set the time of",
            Self::SetAttributes => "set the extended attributes of",
        })
    }
}

/// A system error is copied by its error number. If the error has no number, its kind and text are copied.
impl Clone for Error {
    fn clone(&self) -> Self {
        let again = |error: &io::Error| match error.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => match error.get_ref().and_then(|inner| inner.downcast_ref()) {
                Some(deadpan_disk::Error::Planted(planted)) => {
                    io::Error::new(error.kind(), deadpan_disk::Error::Planted(planted.clone()))
                }
                _ => io::Error::new(error.kind(), error.to_string()),
            },
        };
        match self {
            Self::Archive(flaw) => Self::Archive(flaw.clone()),
            Self::Truncated => Self::Truncated,
            Self::Refused(refusal) => Self::Refused(refusal.clone()),
            Self::Entry { action, path, error } => {
                Self::Entry { action: *action, path: path.clone(), error: again(error) }
            }
            Self::Shrank { path } => Self::Shrank { path: path.clone() },
            Self::Read(error) => Self::Read(again(error)),
            Self::Write(error) => Self::Write(again(error)),
            Self::Stopped => Self::Stopped,
        }
    }
}

impl Error {
    pub(crate) fn damaged(what: impl Into<String>) -> Self {
        Self::Archive(Flaw::Damaged(what.into()))
    }

    /// Returns the reason alone, for messages that name the operation and the path themselves.
    pub(crate) fn cause(&self) -> String {
        match self {
            Self::Entry { error, .. } => words(error),
            error => error.to_string(),
        }
    }

    /// Who must act on this error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::Archive(_) | Self::Truncated => Fault::Data,
            Self::Refused(_) => Fault::Caller,
            Self::Entry { .. } | Self::Shrank { .. } | Self::Read(_) | Self::Write(_) | Self::Stopped => Fault::System,
        }
    }
}

/// Returns this crate's message for a system error. If this crate has no message for the error, returns the system's
/// text.
pub(crate) fn words(error: &io::Error) -> String {
    // An error that does not come from the system contains its own message.
    if let Some(inner) = error.get_ref() {
        return inner.to_string();
    }
    let words = match error.kind() {
        io::ErrorKind::PermissionDenied => "its permissions do not allow it",
        io::ErrorKind::NotFound => "there is no such file or folder",
        io::ErrorKind::NotADirectory => "a part of the path is not a folder",
        io::ErrorKind::StorageFull => "the disk is full",
        io::ErrorKind::QuotaExceeded => "the quota of the disk is used up",
        io::ErrorKind::FileTooLarge => "the file would grow too large",
        io::ErrorKind::ReadOnlyFilesystem => "the file system is read-only",
        _ => {
            let text = error.to_string();
            return match error.raw_os_error().and_then(|number| text.strip_suffix(&format!(" (os error {number})"))) {
                Some(words) => format!("the system says: {}", words.to_lowercase()),
                None => text,
            };
        }
    };
    words.to_owned()
}
