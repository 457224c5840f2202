//! Reads one file of a pack at any position.

use std::io::{self, Read, Seek, SeekFrom};

use crate::contents::Contents;
use crate::entry::{Entry, Kind};
use crate::error::{Error, Refusal};
use crate::frame::Frame;
use crate::headers::HeaderCheck;
use crate::shown::shown;
use crate::tar::{Map, read_map};

/// The data of one file of a pack, with zeros for holes. The reader reads only those parts of the pack that the caller
/// reads, so it does not compare the data with the hash in the index.
#[derive(Debug)]
pub struct FileReader<R> {
    input: R,
    /// The file, after hard links were followed.
    file: Entry,
    /// The map of a file with holes.
    map: Option<Map>,
    position: u64,
}

impl<R: Read + Seek> FileReader<R> {
    /// Makes a reader for `entry`, which is a file or a hard link to a file. Compares the headers with the index.
    ///
    /// ```
    /// use std::io::{Cursor, Read, Seek, SeekFrom};
    /// use deadpan_pack::{Contents, FileReader, Packer, Packing, Work, pack};
    ///
    /// # let place = tempfile::tempdir()?;
    /// # let folder = place.path();
    /// std::fs::write(folder.join("cat.txt"), "a straight face")?;
    /// let mut archive = Vec::new();
    /// pack(Packer::new(folder, b"cats", Packing::default())?, &mut archive, &Work::default())?;
    ///
    /// let mut contents = Contents::read(Cursor::new(&archive))?.ok_or("no pack")?;
    /// let entry = contents.find(b"cat.txt")?.ok_or("no cat")?;
    /// let (mut reader, mut text) = (FileReader::new(contents, &entry)?, String::new());
    /// reader.seek(SeekFrom::Start(2))?;
    /// reader.read_to_string(&mut text)?;
    /// assert_eq!(text, "straight face");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Refusal::NotAFile`] if the entry is a folder or leads to a symbolic link. Another error if the entry's headers
    /// differ from the index, or if reading fails.
    pub fn new(mut contents: Contents<R>, entry: &Entry) -> Result<Self, Error> {
        let not_a_file = || Error::from(Refusal::NotAFile { path: shown(&entry.path) });
        if matches!(entry.kind, Kind::Folder | Kind::SymbolicLink) {
            return Err(not_a_file());
        }
        let mut check = HeaderCheck::new(&Frame::new());
        let root = contents.find(b"")?.ok_or_else(|| Error::damaged("the index has no root"))?;
        check.read(&mut contents.input, &root)?;
        check.read(&mut contents.input, entry)?;
        let file = match &entry.target {
            Some(target) if entry.kind == Kind::HardLink => {
                let missing = || Error::damaged(format!("{} is not in the index", shown(target)));
                let file = contents.find(target)?.ok_or_else(missing)?;
                check.read(&mut contents.input, &file)?;
                file
            }
            _ => entry.clone(),
        };
        let mut input = contents.into_inner();
        let map = match file.kind {
            Kind::File => None,
            Kind::Sparse => {
                input.seek(SeekFrom::Start(file.content)).map_err(Error::Read)?;
                Some(read_map(&mut input, file.stored, file.size)?.1)
            }
            _ => return Err(not_a_file()),
        };
        Ok(Self { input, file, map, position: 0 })
    }

    /// The length of the file in bytes, holes included.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.file.size
    }

    /// Returns the offset of the next byte in the content, and how many bytes follow there. If these bytes are zeros of
    /// a hole, the offset is `None`.
    fn next(&self) -> (Option<u64>, u64) {
        let here = self.position;
        let left = self.file.size.saturating_sub(here);
        match self.map.as_ref().map(|map| map.piece_after(here)) {
            None => (Some(here), left),
            Some(None) => (None, left),
            Some(Some((_, offset, _))) if here < offset => (None, left.min(offset - here)),
            Some(Some((stored, offset, length))) => (Some(stored + (here - offset)), left.min(offset + length - here)),
        }
    }
}

impl<R: Read + Seek> Read for FileReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (stored, left) = self.next();
        let length = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let buffer = &mut buffer[..length];
        let read = match stored {
            _ if length == 0 => 0,
            None => {
                buffer.fill(0);
                length
            }
            Some(stored) => {
                self.input.seek(SeekFrom::Start(self.file.content + stored))?;
                match self.input.read(buffer)? {
                    0 => return Err(io::Error::other(Error::Truncated)),
                    read => read,
                }
            }
        };
        self.position += read as u64;
        Ok(read)
    }
}

impl<R: Read + Seek> Seek for FileReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(position) => (position, 0),
            SeekFrom::End(by) => (self.file.size, by),
            SeekFrom::Current(by) => (self.position, by),
        };
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a position before the start of the file");
        self.position = base.checked_add_signed(by).ok_or_else(outside)?;
        Ok(self.position)
    }
}
