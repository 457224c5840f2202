//! What can go wrong with an output.

use std::io;

use crate::way::Planted;

/// Why an output cannot be made, or cannot get its name. The caller knows the path, and names it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path ends with `/`, `.` or `..`, or is empty.
    #[error("it is not a name for a file")]
    NoName,
    /// The folder in which the output is to be made does not exist.
    #[error("there is no folder for it")]
    NoFolder,
    /// Something has the name, and may not be replaced.
    #[error("it exists already")]
    Exists,
    /// A folder has the name of a file.
    #[error("it is a folder")]
    IsFolder,
    /// Something that is neither a file nor a link has the name of a file.
    #[error("it is not a file")]
    NotAFile,
    /// Another program has made or replaced the file meanwhile.
    #[error("another program made it meanwhile")]
    Changed,
    /// On the way to the folder of the output, there is a link or a folder that another user may have planted.
    #[error("another user may have planted it")]
    Planted(Planted),
    /// The new file cannot keep what the replaced one had.
    #[error("it would lose {0}")]
    Unkept(Unkept),
    /// The system refused a step.
    #[error("{1}")]
    System(Step, #[source] io::Error),
}

/// What the system refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Step {
    /// Making a file or a folder, or giving it its name.
    Create,
    /// Setting the owner, the mode, the time or an attribute.
    Dress,
    /// Writing the contents to the disk.
    Write,
    /// Writing the names in the folder to the disk.
    WriteFolder,
}

/// What a replaced file had, and the new one cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unkept {
    /// The owner, by number.
    #[error("its owner (number {0})")]
    Owner(u32),
    /// The group, by number.
    #[error("its group (number {0})")]
    Group(u32),
    /// Rights, as bits of the mode, that would mean something else for the new owner or group.
    #[error("rights (mode {0:03o})")]
    Rights(u32),
    /// Its access control list.
    #[error("its access control list")]
    AccessList,
    /// An extended attribute, by name.
    #[error("its attribute {}", .0.escape_debug())]
    Attribute(String),
}

/// Says that another program has put something else in the place of what this one has found or made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("another program has put something else in its place meanwhile")]
pub struct Exchanged;

impl From<Exchanged> for io::Error {
    fn from(exchanged: Exchanged) -> Self {
        Self::other(exchanged)
    }
}

impl Error {
    pub(crate) fn create(error: impl Into<io::Error>) -> Self {
        Self::System(Step::Create, error.into())
    }

    /// Says why a folder cannot be opened for an output.
    #[must_use]
    pub fn of_folder(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NoFolder,
            _ => error.downcast().unwrap_or_else(Self::create),
        }
    }

    /// Returns the error as one of the system.
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::System(_, error) => error,
            error => io::Error::new(io::ErrorKind::PermissionDenied, error),
        }
    }

    pub(crate) fn dress(error: impl Into<io::Error>) -> Self {
        Self::System(Step::Dress, error.into())
    }

    pub(crate) fn write(error: impl Into<io::Error>) -> Self {
        Self::System(Step::Write, error.into())
    }
}
