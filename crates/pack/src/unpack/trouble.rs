//! The reasons why an entry fails.

use std::io;

use crate::error::{Action, Error, Flaw, Refusal};
use crate::shown::shown;

/// The reason why an entry failed, without the path. [`Trouble::error`] adds the path.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The system refused an operation.
    System(Action, io::Error),
    /// The entry cannot be made in the target folder. The function makes the error from the entry's path.
    Refused(fn(String) -> Refusal),
    /// The entry has a flaw in the archive.
    Archive(fn(String) -> Flaw),
    /// The error is complete.
    Known(Error),
}

impl Trouble {
    pub(super) const EXISTS: Self = Self::Refused(|path| Refusal::Exists { path });

    pub(super) const IS_FOLDER: Self = Self::Refused(|path| Refusal::IsFolder { path });

    /// The archive itself has this path.
    pub(super) const ARCHIVE: Self = Self::Refused(|path| Refusal::IsArchive { path });

    pub(super) fn system(action: Action) -> impl Fn(io::Error) -> Self {
        move |error| Self::System(action, error)
    }

    pub(super) fn error(self, path: &[u8]) -> Error {
        let path = if path.is_empty() { "the target folder".into() } else { shown(path) };
        match self {
            Self::System(action, error) => Error::Entry { action, path, error },
            Self::Refused(refusal) => refusal(path).into(),
            Self::Archive(flaw) => flaw(path).into(),
            Self::Known(error) => error,
        }
    }
}
