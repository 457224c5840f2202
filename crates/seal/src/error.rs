//! Errors, grouped by their cause: the input, the caller, or the system.

use std::{fmt, io};

use crate::Cost;
use crate::format::deadpan::threshold::ShareFault;

/// The reason why sealing or opening failed.
///
/// [`Error::fault`] returns the cause. Messages describe the error and give no advice: the caller can choose advice
/// that fits the user and the variant.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The data.
    /// The input does not begin like a sealed file.
    #[error("not a sealed file: {0}")]
    NotSealed(LooksLike),
    /// The file uses a version, a flag or a type that this program does not know.
    #[error("sealed with {0}, which this version does not know")]
    Newer(&'static str),
    /// The input ends too early.
    #[error("the sealed data end too early")]
    Truncated,
    /// The header is not well formed.
    #[error("the header is damaged: {0}")]
    Header(&'static str),
    /// The header is well formed, but requires more time or memory than a reader should spend.
    #[error("the header asks for more than is allowed: {0}")]
    Limit(&'static str),
    /// The header was changed: the header's MAC or FLOE's header tag is wrong.
    #[error("the header was changed after sealing")]
    HeaderForged,
    /// A segment cannot be opened, because it is damaged or was changed.
    #[error("segment {segment} is damaged or was changed after sealing")]
    Segment {
        /// The segment's number, counted from 0.
        segment: u64,
    },
    /// The trailer of a signed file is missing, or is not well formed.
    #[error("the trailer with the signatures is damaged: {0}")]
    Trailer(&'static str),
    /// A part of the trailer cannot be opened, because it was changed.
    #[error("the trailer with the signatures was changed after sealing")]
    TrailerForged,
    /// A signature is wrong or was removed, or the signatures belong to other data. Only somebody who can open the file
    /// can cause this error.
    #[error("a signature is wrong or was removed: the data or the signers are not those that were signed")]
    SignatureForged,
    /// The input begins with a header, but it must begin with the payload. Either the file is damaged, or a method that
    /// takes only the bytes after the header, such as [`Opened::read_from`], got the whole file.
    ///
    /// [`Opened::read_from`]: crate::Opened::read_from
    #[error("a header stands where the bytes after the header are wanted, as if the whole file were given again")]
    WholeFile,
    /// Bytes follow the last segment.
    #[error("something stands after the end of the sealed data")]
    Trailing,
    /// The opened data do not have the padding that the header announces.
    #[error("the padding inside is not what the header says")]
    Padding,
    /// The data inside are compressed, and the compressed form is malformed.
    #[error("the compressed data inside are malformed: {0}")]
    Compressed(#[from] deadpan_compress::Flaw),
    /// A share does not fit the file, and there are not enough other shares.
    #[error("{0}")]
    Share(ShareFault),
    /// A plugin failed, or refused to work.
    #[error("{0}")]
    Plugin(#[from] crate::format::plugin::PluginError),
    /// The armor of an age file is not in the only allowed form.
    #[error("the armor is damaged: {0}")]
    Armor(&'static str),
    /// A key file cannot be read.
    #[error("{0}")]
    Key(#[from] crate::key::KeyError),
    /// Signing failed, or a signature is not accepted.
    #[error("{0}")]
    Sign(#[from] crate::key::sign::SignError),

    // The keys.
    /// No key opens the file. The text lists the kinds of recipients of the file.
    #[error("no key fits: the file is sealed to {0}")]
    NoKeyFits(String),
    /// The file is sealed to a threshold, and too few of the given keys and shares fit.
    #[error("{}", too_few(*needed, *of, *found))]
    TooFewShares {
        /// The number of keys or shares that are needed to open the file.
        needed: u8,
        /// The number of keys or shares that exist.
        of: u8,
        /// The number of given keys or shares that fit.
        found: u8,
    },
    /// The passphrase is wrong.
    #[error("the passphrase does not fit")]
    WrongPassphrase,
    /// Trying the passphrase would take more time or memory than the caller allows, so the passphrase was not tried:
    /// see [`MaxCost`].
    ///
    /// [`MaxCost`]: crate::MaxCost
    #[error("trying a passphrase takes {0}, which is more than is allowed")]
    TooCostly(Cost),

    // The caller.
    /// The list of recipients is empty.
    #[error("no recipient")]
    NoRecipients,
    /// The list has some recipients with post-quantum protection, and some recipients without it. The text names a
    /// recipient without post-quantum protection.
    #[error("{0} is classical, which would make the whole file classical")]
    Mixed(String),
    /// The list has more recipients than fit into a header, or more than one passphrase.
    #[error("{0}")]
    TooMany(&'static str),
    /// The keys of a threshold are not valid, or the number of needed keys is not valid.
    #[error("{0}")]
    Threshold(&'static str),
    /// The bytes are not a key of the kind for which the caller asked.
    #[error("{0}")]
    InvalidKey(InvalidKey),
    /// The passphrase to seal with is empty.
    #[error("an empty passphrase protects nothing")]
    EmptyPassphrase,
    /// The input is not a regular file, so positioned reads are not possible.
    #[error("the input is not a regular file")]
    NotRegular,
    /// The output file is not empty.
    #[error("the output is not empty")]
    NotEmpty,
    /// The data are longer than the format allows.
    #[error("the data are too long for one file")]
    TooLong,
    /// A name or a parameter is not valid.
    #[error("{0}")]
    Invalid(&'static str),

    // The system.
    /// The caller asked to stop.
    #[error("stopped")]
    Stopped,
    /// The input cannot be read.
    #[error("reading failed: {0}")]
    Read(#[source] io::Error),
    /// The input file became shorter while it was read.
    #[error("the file became shorter while it was read")]
    Shrank,
    /// The output cannot be written.
    #[error("writing failed: {0}")]
    Write(#[source] io::Error),
    /// The system has no memory or no random bytes left.
    #[error("the system failed: {0}")]
    System(&'static str),
}

fn too_few(needed: u8, of: u8, found: u8) -> String {
    let fit = if found == 1 { "fits" } else { "fit" };
    let missing = needed.saturating_sub(found);
    let more = if missing == 1 { "more share is" } else { "more shares are" };
    format!("sealed to any {needed} of {of} keys; {found} of them {fit}; {missing} {more} needed")
}

/// The kind of file that an input seems to be. The first bytes of an input that is not a sealed file determine the
/// kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LooksLike {
    /// The input has no bytes.
    Empty,
    /// An age file in armor, which [`crate::age::armor`] reads.
    Age,
    /// A sealed file in armor.
    Armor,
    /// OpenPGP: a message or a key, in armor or not.
    OpenPgp,
    /// A PEM block of another program, such as a key.
    Pem,
    /// A PNG picture, which may contain sealed data.
    Png,
    /// A WebP picture, which may contain sealed data.
    WebP,
    /// A web page. A page can hold a sealed file in armor.
    Html,
    /// Another well-known format, such as gzip. The text is the name of the format, with an article.
    Format(&'static str),
    /// The output of `openssl enc`.
    OpenSsl,
    /// A sealed file in which line ends were changed during a transfer.
    ChangedLineEnds,
    /// The input resembles no known kind of file.
    Unknown,
}

impl fmt::Display for LooksLike {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "it is empty",
            Self::Age => "it is an age file in armor",
            Self::Armor => "it is a sealed file in armor",
            Self::OpenPgp => "it is an OpenPGP file",
            Self::Pem => "it is a PEM file, and not one of Deadpan's",
            Self::Png => "it is a PNG picture",
            Self::WebP => "it is a WebP picture",
            Self::Html => "it is a web page",
            Self::Format(name) => return write!(f, "it is {name}"),
            Self::OpenSsl => "it looks like a file of `openssl enc`",
            Self::ChangedLineEnds => "its line ends were changed on the way",
            Self::Unknown => "it does not begin with Deadpan's signature",
        })
    }
}

/// The reason why bytes are not a key of the requested kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidKey {
    /// The bytes have a wrong length for a public key of this kind.
    PublicLength,
    /// The bytes have a wrong length for a private key of this kind.
    PrivateLength,
    /// The bytes are not a valid public key: a point is not on the curve or not in its canonical form, or ML-KEM
    /// coefficients are out of range.
    Public,
    /// The bytes are not a valid private key: a scalar is out of range, or an ML-KEM key is inconsistent.
    Private,
    /// The public key is an X25519 point of small order. With a point of small order, everybody computes the same
    /// secret.
    SmallOrder,
    /// Keys of this kind have no expanded form. Only ML-KEM keys have an expanded form.
    Expanded,
}

impl fmt::Display for InvalidKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PublicLength => "a public key of this kind has another length",
            Self::PrivateLength => "a private key of this kind has another length",
            Self::Public => "not a valid public key of this kind",
            Self::Private => "not a valid private key of this kind",
            Self::SmallOrder => "the public key is a point of small order, which protects nothing",
            Self::Expanded => "only ML-KEM keys have an expanded form",
        })
    }
}

/// The cause of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The data are wrong: a file was changed, was cut short or is not a sealed file, or a key is invalid.
    Data,
    /// The caller asked for something that is not possible.
    Caller,
    /// No key fits, or no key may be tried.
    Key,
    /// The system failed.
    System,
}

impl Error {
    /// Returns the cause of the error.
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
            | Self::Trailer(_)
            | Self::TrailerForged
            | Self::SignatureForged
            | Self::WholeFile
            | Self::Trailing
            | Self::Share(_)
            | Self::Armor(_)
            | Self::Compressed(_)
            | Self::Padding => Fault::Data,
            Self::NoKeyFits(_) | Self::TooFewShares { .. } | Self::WrongPassphrase | Self::TooCostly(_) => Fault::Key,
            Self::Key(error) => error.fault(),
            Self::Sign(error) => error.fault(),
            Self::Plugin(error) => error.fault(),
            Self::NoRecipients
            | Self::Mixed(..)
            | Self::TooMany(_)
            | Self::Threshold(_)
            | Self::InvalidKey(_)
            | Self::EmptyPassphrase
            | Self::NotRegular
            | Self::NotEmpty
            | Self::TooLong
            | Self::Invalid(_) => Fault::Caller,
            Self::Stopped | Self::Read(_) | Self::Shrank | Self::Write(_) | Self::System(_) => Fault::System,
        }
    }
}

impl Error {
    /// Converts this error to the error type of `Read` and `Write`. Returns an error of the system unchanged, and puts
    /// any other error inside a new [`io::Error`].
    pub(crate) fn into_io(self) -> io::Error {
        match self {
            Self::Read(error) | Self::Write(error) => error,
            other if other.fault() == Fault::Data => io::Error::new(io::ErrorKind::InvalidData, other),
            other => io::Error::other(other),
        }
    }

    /// Converts an error of a reader that expands compressed data.
    pub(crate) fn expanding(error: io::Error) -> io::Error {
        Self::Read(error).or_inner().into_io()
    }

    /// Returns the error of this crate, or the flaw of compressed data, that is inside an error of the system.
    pub(crate) fn or_inner(self) -> Self {
        let (error, wrap): (_, fn(io::Error) -> Self) = match self {
            Self::Read(error) => (error, Self::Read),
            Self::Write(error) => (error, Self::Write),
            other => return other,
        };
        let error = match error.downcast::<Self>() {
            Ok(inner) => return inner,
            Err(error) => error,
        };
        match error.get_ref().and_then(|inner| inner.downcast_ref::<deadpan_compress::Flaw>()) {
            Some(flaw) => Self::Compressed(*flaw),
            None => wrap(error),
        }
    }
}
