//! The errors of outputs.

use std::io;

use crate::way::Planted;

/// The reason why an output cannot be made, or cannot get its name. The error does not contain the path, because the
/// caller knows the path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The path ends with `/`, `.` or `..`, or is empty.
    #[error("it is not a name for a file")]
    NoName,
    /// The folder in which the output is to be made does not exist.
    #[error("there is no folder for it")]
    NoFolder,
    /// The name is taken, and the file with this name may not be replaced.
    #[error("it exists already")]
    Exists,
    /// The output is a file, but a folder has the name of the output.
    #[error("it is a folder")]
    IsFolder,
    /// The output is a file, and its name belongs to something that is neither a file nor a link.
    #[error("it is not a file")]
    NotAFile,
    /// Another program has made or replaced the file meanwhile.
    #[error("another program made it meanwhile")]
    Changed,
    /// The path to the folder of the output contains a link or a folder that another user may have planted.
    #[error("another user may have planted it")]
    Planted(Planted),
    /// The new file cannot keep a property of the replaced file.
    #[error("it would lose {0}")]
    Unkept(Unkept),
    /// The system refused a step.
    #[error("{1}")]
    System(Step, #[source] io::Error),
}

/// The step that the system refused.
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

/// A property of a replaced file that the new file cannot have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unkept {
    /// The owner, by number.
    #[error("its owner (number {0})")]
    Owner(u32),
    /// The group, by number.
    #[error("its group (number {0})")]
    Group(u32),
    /// Rights, as bits of the mode. With the new owner or group, these bits would give the rights to other users.
    #[error("rights (mode {0:03o})")]
    Rights(u32),
    /// The access control list.
    #[error("its access control list")]
    AccessList,
    /// An extended attribute, by name.
    #[error("its attribute {}", .0.escape_debug())]
    Attribute(String),
}

/// The error if another program has replaced a file or folder after this program found or made it.
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

    /// Returns the error for a folder that cannot be opened for an output.
    #[must_use]
    pub fn of_folder(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NoFolder,
            _ => error.downcast().unwrap_or_else(Self::create),
        }
    }

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
