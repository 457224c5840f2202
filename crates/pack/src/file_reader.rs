//! Reads one file of a pack at any position.

use std::io::{self, Read, Seek, SeekFrom};

use crate::contents::{Contents, Piece};
use crate::entry::{Entry, Kind};
use crate::error::{Error, Refusal};
use crate::shown::shown;

/// The data of one file of a pack, with zeros for holes. The reader reads only those parts of the pack that the caller
/// reads, so it does not compare the data with the hash in the index.
#[derive(Debug)]
pub struct FileReader<R> {
    input: R,
    length: u64,
    pieces: Vec<Piece>,
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
        let mut pieces = contents.pieces(entry)?;
        let mut length = entry.size;
        if let Some(target) = entry.target.as_ref().filter(|_| entry.kind == Kind::HardLink) {
            let missing = || Error::damaged(format!("{} is not in the index", shown(target)));
            let file = contents.find(target)?.ok_or_else(missing)?;
            if !matches!(file.kind, Kind::File | Kind::Sparse) {
                return Err(not_a_file());
            }
            (pieces, length) = (contents.pieces(&file)?, file.size);
        }
        Ok(Self { input: contents.into_inner(), length, pieces, position: 0 })
    }

    /// The length of the file in bytes, holes included.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Returns where the archive holds the next byte, and how many bytes follow there. If these bytes are zeros of a
    /// hole, the position is `None`.
    fn next(&self) -> (Option<u64>, u64) {
        let here = self.position;
        let left = self.length.saturating_sub(here);
        let next = self.pieces.partition_point(|piece| piece.offset + piece.length <= here);
        match self.pieces.get(next) {
            None => (None, left),
            Some(piece) if here < piece.offset => (None, left.min(piece.offset - here)),
            Some(piece) => {
                let within = here - piece.offset;
                (Some(piece.position + within), left.min(piece.length - within))
            }
        }
    }
}

impl<R: Read + Seek> Read for FileReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (position, left) = self.next();
        let length = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let buffer = &mut buffer[..length];
        let read = match position {
            _ if length == 0 => 0,
            None => {
                buffer.fill(0);
                length
            }
            Some(position) => {
                self.input.seek(SeekFrom::Start(position))?;
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
            SeekFrom::End(by) => (self.length, by),
            SeekFrom::Current(by) => (self.position, by),
        };
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a position before the start of the file");
        self.position = base.checked_add_signed(by).ok_or_else(outside)?;
        Ok(self.position)
    }
}
