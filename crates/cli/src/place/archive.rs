//! Archives that are not sealed: packs and other tar archives, plain or compressed.

use std::ffi::OsStr;
use std::io::{self, Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::place::input::Input;
use crate::place::remote;
use crate::tell::failure::{Exit, Failure};
use deadpan_compress::{Expander, SeekExpander};
use deadpan_pack::{BLOCK, is_archive};
use deadpan_seal::{Cursor, ReadAt};

/// The ending of an archive.
pub const ENDING: &str = ".tar";
/// The ending of a compressed archive.
pub const COMPRESSED: &str = ".tar.zst";

/// The first bytes of a frame of Zstandard.
const ZSTANDARD: &[u8] = b"\x28\xb5\x2f\xfd";

/// A reader at any position.
pub trait ReadSeek: Read + Seek + Send {}

impl<R: Read + Seek + Send> ReadSeek for R {}

/// The form of an input that begins like an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Archive {
    Plain,
    Compressed,
}

impl Archive {
    /// Reads the first bytes of an input, and returns its form. Returns `None` if it is no archive.
    pub fn look(input: &Input, start: &mut Vec<u8>) -> Result<Option<Self>, Failure> {
        let failed = |error| Failure::io("read", &input.shown(), &error);
        (&input.data).take(BLOCK).read_to_end(start).map_err(failed)?;
        // An archive without entries consists of zeros.
        let is_empty = start.len() as u64 == BLOCK && start.iter().all(|byte| *byte == 0);
        Ok(match &start[..] {
            start if is_archive(start) || is_empty => Some(Self::Plain),
            start if start.starts_with(ZSTANDARD) => Some(Self::Compressed),
            _ => None,
        })
    }

    /// Returns a reader at any position. The input must have positions.
    pub fn anywhere<'a>(self, input: &'a Input) -> Result<Box<dyn ReadSeek + 'a>, Failure> {
        let whole = Cursor::new(&input.data as &dyn ReadAt, input.length().unwrap_or_default());
        match self {
            Self::Plain => Ok(Box::new(whole)),
            Self::Compressed => {
                let archive = SeekExpander::new(whole).map_err(|error| unread(input, error))?;
                Ok(Box::new(archive))
            }
        }
    }

    /// Returns a reader from the beginning. `start` holds the bytes that were already read.
    pub fn through<'a>(self, input: &'a Input, start: &'a [u8]) -> Box<dyn Read + Send + 'a> {
        let whole = start.chain(&input.data);
        match self {
            Self::Plain => Box::new(whole),
            Self::Compressed => Box::new(Expander::new(whole, 0)),
        }
    }

    /// Returns a path without the ending of an archive.
    pub fn bare(path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?.as_bytes();
        let bare = [COMPRESSED, ENDING].iter().find_map(|ending| name.strip_suffix(ending.as_bytes()))?;
        (!bare.is_empty()).then(|| remote::beside(path, OsStr::from_bytes(bare)))
    }
}

/// Returns the failure for compressed data that cannot be read.
fn unread(input: &Input, error: io::Error) -> Failure {
    let failure = Failure::pack(&input.shown(), deadpan_pack::Error::Read(error));
    let hint = format!("another program's archive: zstd -dc {} | deadpan unpack -o OUT", input.shown());
    if failure.exit == Exit::Data { Failure { hint: Some(hint), ..failure } } else { failure }
}
