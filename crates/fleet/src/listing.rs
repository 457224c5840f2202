//! What lies in a folder on this machine: files, and everything that does not become an object.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

use crate::Error;
use crate::source::shown;
use crate::tree::Tree;
use deadpan_disk::portable::{OsStrExt, OsStringExt};
use deadpan_disk::{About, FileId, Walk};
use deadpan_sieve::{Heed, Remark, Rules, Sieve};

/// What lies in a folder beside its files. The paths are relative to the folder.
#[derive(Debug, Default)]
pub struct Listing {
    /// Symbolic links.
    pub links: Vec<PathBuf>,
    /// Devices, FIFOs and sockets.
    pub specials: Vec<PathBuf>,
    /// Empty folders, with their permissions.
    pub folders: Vec<(PathBuf, u32)>,
    /// What cannot be read.
    pub unreadable: Vec<(PathBuf, Error)>,
    /// Remarks about entries that the rules leave out.
    pub remarks: Vec<String>,
}

impl Listing {
    /// Walks through a folder, and calls `take` for each file that the rules do not leave out, with its path relative
    /// to the folder. The walk opens each folder through the handle of its parent folder, and does not enter the folder
    /// `avoid`.
    ///
    /// # Errors
    /// If the folder itself cannot be read.
    pub fn read(
        tree: &Tree,
        avoid: Option<FileId>,
        rules: &Rules,
        mut take: impl FnMut(&Path, &About),
    ) -> Result<Self, Error> {
        let failed = |error| Error::File(tree.path().to_owned(), error);
        let mut walk = Walk::new(tree.open().map_err(failed)?.clone()).map_err(failed)?;
        let (mut listing, mut sieve) = (Self::default(), Sieve::new(rules.clone(), &walk));
        while walk.advance() {
            if !sieve.takes_name(&walk) {
                continue;
            }
            let looked = walk.look();
            if looked.as_ref().is_ok_and(|about| !sieve.takes(&mut walk, about)) {
                continue;
            }
            let path = walk.path();
            match looked {
                // The entry was removed in the meantime.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    let error = Error::File(tree.path().join(path), error);
                    listing.unreadable.push((path.to_owned(), error));
                }
                Ok(about) if about.is_folder() => {
                    if avoid == Some(about.id) {
                        walk.leave();
                    } else if walk.names().next().is_none() {
                        listing.folders.push((path.to_owned(), about.mode));
                    }
                }
                Ok(about) if about.is_file() => take(path, &about),
                Ok(about) if about.is_link() => listing.links.push(path.to_owned()),
                Ok(_) => listing.specials.push(path.to_owned()),
            }
        }
        if sieve.larger() > 0 {
            let most = rules.larger.unwrap_or_default();
            listing.remarks.push(format!("left out files of more than {most} bytes, {} in all", sieve.larger()));
        }
        for Remark { path, what } in sieve.remarks() {
            let path = Path::new(OsStr::from_bytes(&path));
            let whole = tree.path().join(path);
            match what {
                Heed::Unread(error) => listing.unreadable.push((path.to_owned(), Error::File(whole, error))),
                what => listing.remarks.push(what.text(&shown(&whole))),
            }
        }
        Ok(listing)
    }
}

/// Returns the path for a name that [`name_of`] made.
pub(crate) fn path_of(name: &str) -> PathBuf {
    let part = |part: &str| match part.strip_suffix('\0') {
        Some(escaped) => unescaped(escaped.as_bytes()),
        None => part.as_bytes().to_vec(),
    };
    OsString::from_vec(name.split('/').map(part).collect::<Vec<_>>().join(&b'/')).into()
}

/// Undoes `escape_ascii`.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text);
    while let Some((first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'\\', [b'x', digits @ ..]) => {
                let (digits, after) = digits.split_at(digits.len().min(2));
                let number = str::from_utf8(digits).ok().and_then(|digits| u8::from_str_radix(digits, 16).ok());
                (number.unwrap_or_default(), after)
            }
            (b'\\', [letter, after @ ..]) => {
                let byte = match letter {
                    b't' => b'\t',
                    b'r' => b'\r',
                    b'n' => b'\n',
                    other => *other,
                };
                (byte, after)
            }
            (byte, after) => (*byte, after),
        };
        bytes.push(byte);
        rest = after;
    }
    bytes
}

/// Returns a path as the name of an object, which is UTF-8. A part that is not UTF-8 is escaped and marked with a NUL,
/// which no file name contains. The run then refuses the name.
pub(crate) fn name_of(path: &Path) -> String {
    let part = |part: &[u8]| match str::from_utf8(part) {
        Ok(part) => part.to_owned(),
        Err(_) => format!("{}\0", part.escape_ascii()),
    };
    path.as_os_str().as_bytes().split(|byte| *byte == b'/').map(part).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_back_to_its_path() {
        for path in
            [&b"a/b"[..], b"a\\x41", b"\xff", b"x/\xff\\x41\t\r\n'\"\x01\xfe\\/\xc3\xa4\xff/end", "ä/\\".as_bytes()]
        {
            let path = Path::new(OsStr::from_bytes(path));
            assert_eq!(path_of(&name_of(path)), path);
        }
        assert_eq!(path_of("\\x\0/\\\0"), Path::new("\0/\\"));
    }
}
