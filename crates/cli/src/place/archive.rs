//! Archives that are not sealed: packs and other tar archives, plain or compressed.

use std::ffi::OsStr;
use std::io::{Read, Seek};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::place::input::Input;
use crate::place::remote;
use crate::tell::failure::{Exit, Failure};
use crate::tell::shown::shown;
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
                let failed =
                    |error| self.advise(Failure::pack(&input.shown(), deadpan_pack::Error::Read(error)), input);
                Ok(Box::new(SeekExpander::new(whole).map_err(failed)?))
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

    /// Adds a hint to the failure of a compressed archive that another program may have made.
    pub fn advise(self, failure: Failure, input: &Input) -> Failure {
        let is_foreign = self == Self::Compressed && failure.exit == Exit::Data && failure.hint.is_none();
        let name = input.source.path().map_or("FILE".into(), shown);
        let hint = format!("if another program made it: zstd -dc {name} | deadpan unpack -o OUT");
        if is_foreign { Failure { hint: Some(hint), ..failure } } else { failure }
    }

    /// Returns a path without the ending of an archive.
    pub fn bare(path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?.as_bytes();
        let bare = [COMPRESSED, ENDING].iter().find_map(|ending| name.strip_suffix(ending.as_bytes()))?;
        (!bare.is_empty()).then(|| remote::beside(path, OsStr::from_bytes(bare)))
    }
}
