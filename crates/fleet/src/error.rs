//! The errors of one object, or of all objects.

use std::fmt;
use std::io;
use std::path::PathBuf;

use crate::source::shown;

/// An error from a function that the user of this crate passed in.
pub type Foreign = Box<dyn std::error::Error + Send + Sync>;

/// The reason why a result was not made.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The store failed, or does not allow the operation.
    Store(deadpan_remote::Error),
    /// Sealing or opening failed.
    Seal(deadpan_seal::Error),
    /// A file or a folder could not be read.
    File(PathBuf, io::Error),
    /// A file could not be written.
    Write(PathBuf, io::Error),
    /// The source changed while it was read.
    Changed,
    /// The target is older than the source.
    Outdated,
    /// An object or file with the name of the result exists, but it is too short to be the result.
    Short,
    /// A name that is not valid for a file.
    Name,
    /// The state of the job cannot be opened with this job's key.
    OtherKey(String),
    /// An earlier run began the job with another setting. The variant holds the address of the job's state, and a text
    /// that describes the setting.
    OtherJob(String, String),
    /// A part of the job's state is damaged, or was copied from another place.
    Damaged(String),
    /// The store lists more objects with state at this address than jobs ever write.
    TooMuch(String),
    /// Another program ended the upload. The next run of the command begins the upload again.
    Lost(String),
    /// Another source has the same result.
    Twice,
    /// The system did not start any thread.
    System(io::Error),
    /// The store could not be reached for many objects in a row. So the run ended without the remaining objects.
    Unreached,
    /// The requested operation is not possible.
    Refused(String),
    /// An error of the user of this crate.
    Foreign(Foreign),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Seal(error) => error.fmt(f),
            Self::File(path, error) | Self::Write(path, error) => write!(f, "{}: {error}", shown(path)),
            Self::Changed => f.write_str("the source changed while it was read"),
            Self::Outdated => f.write_str("the target is older than the source, and is not replaced"),
            Self::Short => f.write_str("the target is too short to be its result, and is not replaced"),
            Self::Name => f.write_str("a file cannot have this name"),
            Self::OtherKey(state) => write!(f, "{state}: it belongs to a job with another key"),
            Self::Damaged(state) => write!(f, "{state}: this state is damaged, or belongs elsewhere"),
            Self::TooMuch(folder) => write!(f, "{folder}: more state lies here than jobs leave"),
            Self::Twice => f.write_str("another source has the same result"),
            Self::System(error) => error.fmt(f),
            Self::Unreached => f.write_str("the store cannot be reached, and the other objects were left as they are"),
            Self::OtherJob(job, how) => write!(f, "{job}: this job was begun {how}"),
            Self::Lost(what) | Self::Refused(what) => f.write_str(what),
            Self::Foreign(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<deadpan_remote::Error> for Error {
    fn from(error: deadpan_remote::Error) -> Self {
        match error.problem() {
            deadpan_remote::Problem::Changed => Self::Changed,
            _ => Self::Store(error),
        }
    }
}

impl From<deadpan_seal::Error> for Error {
    fn from(error: deadpan_seal::Error) -> Self {
        Self::Seal(error)
    }
}

impl From<Foreign> for Error {
    fn from(error: Foreign) -> Self {
        match error.downcast::<deadpan_remote::Error>() {
            Ok(error) => Self::from(*error),
            Err(error) => Self::Foreign(error),
        }
    }
}
