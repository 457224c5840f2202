//! The errors of sealing and opening from path to path.

use std::io;
use std::path::{Path, PathBuf};

use deadpan_disk::Left;
use deadpan_disk::portable::OsStrExt;
use deadpan_seal::key::KeyError;

/// The reason why a file or folder was not sealed or opened. After an error, no output was made, and no file was
/// replaced.
///
/// Messages contain the path. Characters that would control a terminal are escaped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    // The data and the keys.
    /// The sealing engine failed: the file is not sealed, was changed, or cannot be opened with the keys.
    #[error("{}: {error}", shown(path))]
    Sealed {
        /// The file.
        path: PathBuf,
        /// The error of the engine.
        #[source]
        error: deadpan_seal::Error,
    },
    /// The pack engine (for folders) returned an error: an entry cannot be read or written, or the archive was changed.
    #[error("{}: {error}", shown(path))]
    Folder {
        /// The folder, or the sealed file.
        path: PathBuf,
        /// The error of the engine.
        #[source]
        error: deadpan_pack::Error,
    },
    /// A key is damaged, or its passphrase is wrong.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The text holds a private key, but a public key is needed.
    #[error("this is a private key, and a public one is needed")]
    KeyIsPrivate,
    /// The text holds a public key, but a private key is needed.
    #[error("this is a public key, and a private one is needed")]
    KeyIsPublic,
    /// There is no public key.
    #[error("the text holds no public key that seals")]
    NoPublicKey,
    /// The text also holds a recipient that this crate cannot seal to. Leaving it out would lose a recipient.
    #[error("it also holds a recipient of a plugin or a key of SSH, which only the command line seals to")]
    OtherRecipient,
    /// There is no private key.
    #[error("the text holds no private key that opens files")]
    NoPrivateKey,
    /// There are several keys, but exactly one key is needed.
    #[error("the text holds {0} keys, and one is wanted: read them one by one")]
    SeveralKeys(usize),
    /// A private key needs its passphrase.
    #[error("the private key is protected by a passphrase")]
    Locked,
    /// A key file does not hold the needed key.
    #[error("{}: {error}", shown(path))]
    KeyFile {
        /// The key file.
        path: PathBuf,
        /// The fault in the text of the key file.
        error: Box<Self>,
    },

    // The caller.
    /// The recipients or the options are invalid.
    #[error(transparent)]
    Sealing(#[from] deadpan_seal::Error),
    /// The output exists.
    #[error("{} exists already{}", shown(path), if *is_other { ", and is no file" } else { "" })]
    Exists {
        /// The output.
        path: PathBuf,
        /// Whether the existing output is something other than a file. Such an output is never replaced.
        is_other: bool,
    },
    /// The output is the input.
    #[error("{} is the input as well as the output", shown(.0))]
    SameFile(PathBuf),
    /// The input is a folder, but a file is needed.
    #[error("{} is a folder", shown(.0))]
    IsFolder(PathBuf),
    /// The input is not a folder.
    #[error("{} is not a folder", shown(.0))]
    NotAFolder(PathBuf),
    /// The sealed file holds a folder, but a file is needed.
    #[error("{} holds a folder", shown(.0))]
    HoldsFolder(PathBuf),
    /// The sealed file holds no folder.
    #[error("{} holds no folder", shown(.0))]
    HoldsNoFolder(PathBuf),
    /// The input is a pipe, but the function must read the input at any position.
    #[error("{} is a pipe, and cannot be read at any place", shown(.0))]
    IsPipe(PathBuf),
    /// The file is longer than a key file may be.
    #[error("{} is too long for a key file", shown(.0))]
    LongKeyFile(PathBuf),
    /// The path ends without a name.
    #[error("{} is not a name for an output", shown(.0))]
    NoName(PathBuf),
    /// No path has a zero byte.
    #[error("a path has a zero byte in it: {}", shown(.0))]
    ZeroByte(PathBuf),
    /// The list of paths to open is empty.
    #[error("no path is selected")]
    NothingSelected,

    // The system.
    /// The input cannot be read.
    #[error("cannot read {}: {error}", shown(path))]
    Read {
        /// The input.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// The output cannot be written.
    #[error("cannot write {}: {error}", shown(path))]
    Write {
        /// The output.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
    /// The output cannot be made, or cannot get its name.
    #[error("{}: {error}", shown(path))]
    Output {
        /// The output.
        path: PathBuf,
        /// The reason.
        #[source]
        error: deadpan_disk::Error,
    },
    /// One of several outputs failed, and some names could not be restored.
    #[error("{error}{}", list(left))]
    Left {
        /// The first failure.
        error: Box<Self>,
        /// The names that could not be restored.
        left: Vec<Left>,
    },
    /// The caller stopped the work.
    #[error("stopped by the caller")]
    Stopped,
}

impl Error {
    pub(crate) fn read(path: &Path, error: io::Error) -> Self {
        if has_zero(path) { Self::ZeroByte(path.to_owned()) } else { Self::Read { path: path.to_owned(), error } }
    }

    pub(crate) fn write(path: &Path, error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::AlreadyExists => Self::Exists { path: path.to_owned(), is_other: false },
            _ if has_zero(path) => Self::ZeroByte(path.to_owned()),
            _ => Self::Write { path: path.to_owned(), error },
        }
    }

    pub(crate) fn output(path: &Path, error: deadpan_disk::Error) -> Self {
        use deadpan_disk::Error as Disk;
        let place = path.to_owned();
        match error {
            Disk::NoName => Self::NoName(place),
            Disk::NoFolder => Self::write(path, deadpan_disk::Errno::NOENT.into()),
            Disk::Exists => Self::Exists { path: place, is_other: false },
            Disk::IsFolder | Disk::NotAFile => Self::Exists { path: place, is_other: true },
            Disk::System(_, error) => Self::write(path, error),
            error => Self::Output { path: place, error },
        }
    }

    /// Returns an error of the sealing engine, together with the path that the error concerns. Read and write errors
    /// can contain an error of the pack engine, or an error of an input that waits for data: in these cases, the
    /// contained error is returned.
    pub(crate) fn sealed(error: deadpan_seal::Error, input: &Path, output: &Path) -> Self {
        use deadpan_seal::Error as Engine;
        match error {
            Engine::Stopped => Self::Stopped,
            Engine::Read(error) => Self::within(error, input).unwrap_or_else(|error| Self::read(input, error)),
            Engine::Write(error) => Self::within(error, output).unwrap_or_else(|error| Self::write(output, error)),
            Engine::NotEmpty => Self::Sealed { path: output.to_owned(), error },
            error => Self::Sealed { path: input.to_owned(), error },
        }
    }

    /// Returns an error of the pack engine (for folders), together with the path of the sealed file. A caller that
    /// reads the entries of [`list_folder`](crate::list_folder) needs this function for their errors. If the error
    /// contains an error of the sealing engine, returns the contained error.
    #[must_use]
    pub fn folder(error: deadpan_pack::Error, path: &Path) -> Self {
        use deadpan_pack::Error as Engine;
        match error {
            Engine::Stopped => Self::Stopped,
            Engine::Read(error) => Self::within(error, path).unwrap_or_else(|error| Self::read(path, error)),
            Engine::Write(error) => Self::write(path, error),
            error => Self::Folder { path: path.to_owned(), error },
        }
    }

    /// If an error of the system contains an error of an engine, returns the error of the engine.
    fn within(error: io::Error, path: &Path) -> Result<Self, io::Error> {
        let error = match error.downcast::<deadpan_seal::Error>() {
            Ok(error) => return Ok(Self::sealed(error, path, path)),
            Err(error) => error,
        };
        error.downcast::<deadpan_pack::Error>().map(|error| Self::folder(error, path))
    }
}

/// Returns a path as text. Characters that would control a terminal and invisible characters are escaped, because
/// programs print the texts of errors.
fn shown(path: &Path) -> String {
    deadpan_pack::shown_path(path)
}

fn has_zero(path: &Path) -> bool {
    path.as_os_str().as_bytes().contains(&0)
}

/// Returns a text that lists the names that could not be restored.
fn list(left: &[Left]) -> String {
    let one = |Left { name, old }: &Left| {
        let now = old.as_ref().map_or("could not be removed".into(), |old| format!("is {} now", shown(old.as_ref())));
        format!("; {} {now}", shown(name.as_ref()))
    };
    left.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Programs print the texts of errors, also on terminals.
    #[test]
    fn paths_in_texts_are_escaped() {
        let path = Path::new("a\u{1b}[2J\u{202e}b");
        let left = vec![Left { name: path.into(), old: Some(path.into()) }];
        for error in [
            Error::read(path, io::ErrorKind::NotFound.into()),
            Error::output(path, deadpan_disk::Error::IsFolder),
            Error::write(Path::new("a\0\u{1b}"), io::ErrorKind::InvalidInput.into()),
            Error::sealed(deadpan_seal::Error::Truncated, path, path),
            Error::Left { error: Box::new(Error::Stopped), left },
        ] {
            let text = error.to_string();
            assert!(text.contains(r"\u{1b}") && !text.contains(['\u{1b}', '\u{202e}']), "{text}");
        }
    }

    #[test]
    fn errors_inside_errors_come_out() {
        let (input, output) = (Path::new("in"), Path::new("out"));
        let of = |error| Error::sealed(error, input, output);
        let stopped = || io::Error::other(deadpan_seal::Error::Stopped);
        assert!(matches!(of(deadpan_seal::Error::Read(stopped())), Error::Stopped));
        let entry = || io::Error::other(deadpan_pack::Error::Truncated);
        let path = |error| if let Error::Folder { path, .. } = error { path } else { panic!("{error}") };
        assert_eq!(path(of(deadpan_seal::Error::Read(entry()))), input);
        assert_eq!(path(of(deadpan_seal::Error::Write(entry()))), output);
        let changed = io::Error::other(deadpan_seal::Error::Segment { segment: 3 });
        assert!(matches!(Error::folder(deadpan_pack::Error::Read(changed), input), Error::Sealed { .. }));
        let full = deadpan_seal::Error::Write(io::ErrorKind::StorageFull.into());
        assert!(matches!(of(full), Error::Write { path, .. } if path == output));
    }
}
