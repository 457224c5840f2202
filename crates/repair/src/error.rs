//! The reasons why making recovery data, checking or repairing ends.

use std::io;

use thiserror::Error;

/// Who must act on an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The file or the sidecar is damaged.
    Data,
    /// The caller requested something impossible.
    Caller,
    /// The system failed: a full disk, a missing permission.
    System,
}

/// The reason why making recovery data, checking or repairing ended.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes hold no valid header.
    #[error("no recovery data, or too damaged: none of its three headers is whole")]
    NotSidecar,
    /// The bytes are the beginning of a sidecar of a newer version.
    #[error("recovery data of version {0}, which this version does not read")]
    Newer(u8),
    /// The file has no block of the original file.
    #[error("nothing in the file is what the recovery data were made for: they belong to another file")]
    Foreign,
    /// More of the file is damaged than the recovery data can restore.
    #[error(
        "too much is damaged: {missing} bytes are missing, and {available} bytes of recovery data are left{}",
        if missing <= available { ", but not enough in the places where they are needed" } else { "" }
    )]
    TooMuch {
        /// How many bytes of the file are missing, in whole blocks.
        missing: u64,
        /// How many bytes of recovery data are whole.
        available: u64,
    },
    /// The repaired bytes do not have the hash of the original file: the sidecar contradicts itself, or the file
    /// changed while it was repaired.
    #[error("the repaired bytes are not those of the original file")]
    Contradiction,
    /// The percentage is not from 1 to 100.
    #[error("the percentage of recovery data must be from 1 to 100")]
    Percent,
    /// The file is longer than the format allows.
    #[error("the file is longer than 16 TiB")]
    TooLong,
    /// The file became shorter while it was read.
    #[error("the file became shorter while it was read")]
    Shrank,
    /// The file could not be read.
    #[error("cannot read: {0}")]
    Read(io::Error),
    /// The sidecar could not be read.
    #[error("cannot read the recovery data: {0}")]
    ReadSidecar(io::Error),
    /// The output could not be written.
    #[error("cannot write: {0}")]
    Write(io::Error),
    /// The caller stopped the work.
    #[error("stopped")]
    Stopped,
}

impl Error {
    /// Returns who must act on the error.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::NotSidecar | Self::Newer(_) | Self::Foreign | Self::TooMuch { .. } | Self::Contradiction => {
                Fault::Data
            }
            Self::Percent | Self::TooLong => Fault::Caller,
            _ => Fault::System,
        }
    }
}
