//! Archives that are not sealed: packs and other tar archives, plain or compressed.

use std::ffi::OsStr;
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};

use crate::place::input::Input;
use crate::place::remote;
use crate::tell::failure::Failure;
use deadpan_compress::{Expander, Foreign, SeekExpander, is_ours};
use deadpan_disk::portable::OsStrExt;
use deadpan_pack::{BLOCK, is_archive};

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
    /// With a table, so that parts can be read alone.
    Compressed,
    /// Compressed by another program, or without a usable table. The archive is read from its beginning.
    Foreign,
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
            start if start.starts_with(ZSTANDARD) => {
                let is_usable = !input.positioned || SeekExpander::new(input.anywhere()).is_ok();
                Some(if is_usable && is_ours(start) { Self::Compressed } else { Self::Foreign })
            }
            _ => None,
        })
    }

    /// Whether the archive can be read at any position.
    pub fn has_positions(self, input: &Input) -> bool {
        input.positioned && self != Self::Foreign
    }

    /// Returns a reader at any position. The archive must have positions.
    pub fn anywhere<'a>(self, input: &'a Input) -> Result<Box<dyn ReadSeek + 'a>, Failure> {
        let whole = input.anywhere();
        match self {
            Self::Plain => Ok(Box::new(whole)),
            Self::Compressed | Self::Foreign => {
                let failed = |error| Failure::pack(&input.shown(), deadpan_pack::Error::Read(error));
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
            Self::Foreign => Box::new(Foreign::new(whole)),
        }
    }

    /// Returns a path without the ending of an archive.
    pub fn bare(path: &Path) -> Option<PathBuf> {
        let name = path.file_name()?.as_bytes();
        let bare = [COMPRESSED, ENDING].iter().find_map(|ending| name.strip_suffix(ending.as_bytes()))?;
        (!bare.is_empty()).then(|| remote::beside(path, OsStr::from_bytes(bare)))
    }
}
