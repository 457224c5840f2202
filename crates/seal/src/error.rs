//! What can go wrong, by whose fault it is.

use std::io;

/// Why sealing or opening failed. [`Error::fault`] says whose fault it is; the messages end with a hint on a line of its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The data.
    /// The input does not begin like a sealed file.
    #[error("not a sealed file: it does not begin with Deadpan's signature\nhint: {0}")]
    NotSealed(&'static str),
    /// A version or a flag that this program does not know.
    #[error("sealed with {0}, which this version does not know\nhint: a newer deadpan may open it")]
    Newer(&'static str),
    /// The input ends too early.
    #[error("the sealed data end too early\nhint: the file was cut short; get a whole copy")]
    Truncated,
    /// The header is not well formed.
    #[error("the header is damaged: {0}\nhint: get another copy of the file")]
    Header(&'static str),
    /// The header is well formed but was changed, or holds more than a reader should spend on it.
    #[error("the header asks for more than is allowed: {0}\nhint: the file is damaged or hostile; nothing of it was used")]
    Limit(&'static str),
    /// The header's code or FLOE's tag does not fit: somebody changed it.
    #[error("the header was changed after sealing\nhint: get another copy of the file")]
    HeaderForged,
    /// A segment does not open.
    #[error("segment {segment} is damaged or was changed after sealing\nhint: get another copy of the file")]
    Segment {
        /// Which one, counted from 0.
        segment: u64,
    },
    /// Bytes stand after the end.
    #[error("something stands after the end of the sealed data\nhint: two files were joined, or the file was changed")]
    Trailing,
    /// Opened data do not have the padding that the header announces.
    #[error("the padding inside is not what the header says\nhint: the writer of this file was not Deadpan, or had a fault")]
    Padding,
    /// A key file cannot be read.
    #[error("{0}")]
    Key(#[from] crate::key::KeyError),

    // The keys.
    /// None of the keys opens the file.
    #[error("no key fits: the file is sealed to {0}\nhint: give the right key with -i, or ask the sender who it was sealed to")]
    NoKeyFits(String),
    /// The passphrase is wrong.
    #[error("the passphrase does not fit\nhint: passphrases are case-sensitive; check the keyboard's layout")]
    WrongPassphrase,

    // The caller.
    /// Nobody could open the result.
    #[error("no recipient\nhint: name at least one, or a passphrase")]
    NoRecipients,
    /// Recipients with and without post-quantum protection in one file.
    #[error(
        "{0} is classical, which would make the whole file classical\nhint: leave it out, seal a second copy for it, or ask for --mode ecc"
    )]
    Mixed(String),
    /// More recipients than fit a header, or more than one passphrase.
    #[error("{0}\nhint: seal a second copy for the others")]
    TooMany(&'static str),
    /// A range outside of the data.
    #[error("the range ends after the data, which are {length} bytes long\nhint: ask for less")]
    Range {
        /// How long the data are.
        length: u64,
    },
    /// A name or a parameter cannot be stored.
    #[error("{0}")]
    Invalid(&'static str),

    // The system.
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// The input cannot be read.
    #[error("reading failed: {0}")]
    Read(#[source] io::Error),
    /// The output cannot be written.
    #[error("writing failed: {0}")]
    Write(#[source] io::Error),
    /// The system has no memory or no random bytes to give.
    #[error("the system failed: {0}")]
    System(&'static str),
}

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The data are wrong: cut short, changed, or not sealed at all.
    Data,
    /// The caller asked for something that cannot be.
    Caller,
    /// No key fits.
    Key,
    /// The system failed.
    System,
}

impl Error {
    /// Whose fault it is.
    #[must_use]
    pub fn fault(&self) -> Fault {
        match self {
            Self::NotSealed(_)
            | Self::Newer(_)
            | Self::Truncated
            | Self::Header(_)
            | Self::Limit(_)
            | Self::HeaderForged
            | Self::Segment { .. }
            | Self::Trailing
            | Self::Padding => Fault::Data,
            Self::NoKeyFits(_) | Self::WrongPassphrase => Fault::Key,
            Self::Key(error) => error.fault(),
            Self::NoRecipients | Self::Mixed(..) | Self::TooMany(_) | Self::Range { .. } | Self::Invalid(_) => Fault::Caller,
            Self::Stopped | Self::Read(_) | Self::Write(_) | Self::System(_) => Fault::System,
        }
    }
}

impl Error {
    /// For `Read` and `Write`: an error of the system as it is, any other inside one.
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::Read(error) | Self::Write(error) => error,
            other if other.fault() == Fault::Data => io::Error::new(io::ErrorKind::InvalidData, other),
            other => io::Error::other(other),
        }
    }
}
