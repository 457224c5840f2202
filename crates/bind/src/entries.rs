//! Lists a folder inside sealed data, and reads single files of the folder.

use std::ffi::OsString;
use std::io::{self, Read, Seek};

use crate::{Code, Fault};
use deadpan_disk::Errno;
use deadpan_disk::portable::OsStringExt;
use deadpan_pack::{Contents, Entry, Error, FileReader, Kind, shown};

/// Returns the contents of the folder that `reader` reads.
///
/// # Errors
/// An error for [`Fault::of_reader`]: the reader's own error, an error of the index, or [`Code::Argument`] if the data
/// hold no folder.
pub fn contents<R: Read + Seek>(reader: R) -> io::Result<Contents<R>> {
    let contents = Contents::read(reader).map_err(failed)?;
    contents.ok_or_else(|| io::Error::other(Fault::argument("the sealed data hold no folder")))
}

/// Returns a reader for the file with exactly this path. A hard link is followed, and a symbolic link is an error.
///
/// # Errors
/// As [`contents`]. If no file has this path, the fault has the number of the system's error for a missing file, or for
/// a folder, and the path.
pub fn file_in<R: Read + Seek>(mut contents: Contents<R>, path: &[u8]) -> io::Result<FileReader<R>> {
    let none = |errno: Errno| {
        let fault = Fault::new(Code::Read, format!("{} is not a file in the sealed folder", shown(path)));
        io::Error::other(fault.at(OsString::from_vec(path.to_vec()).into(), Some(errno.raw_os_error())))
    };
    let entry = contents.find(path).map_err(failed)?.ok_or_else(|| none(Errno::NOENT))?;
    match entry {
        Entry { kind: Kind::Folder, .. } => Err(none(Errno::ISDIR)),
        Entry { kind: Kind::SymbolicLink, target, .. } => {
            let target = shown(&target.unwrap_or_default());
            let text = format!("{} is a symbolic link to {target}, and links are not followed", shown(path));
            Err(io::Error::other(Fault::argument(text)))
        }
        entry => FileReader::new(contents, &entry).map_err(failed),
    }
}

/// Calls `each` with all entries, in order.
///
/// # Errors
/// As [`contents`].
pub fn each_entry<R: Read + Seek>(mut contents: Contents<R>, mut each: impl FnMut(Entry)) -> io::Result<()> {
    contents.entries().try_for_each(|entry| entry.map(&mut each)).map_err(failed)
}

/// Returns the error of the reader, or an error that contains the engine's error as a [`Fault`].
fn failed(error: Error) -> io::Error {
    match error {
        Error::Read(error) => error,
        error => io::Error::other(Fault::from(error)),
    }
}
