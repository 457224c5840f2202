//! Positioned reads and writes, on every system. The traits work with regular files, and with everything that behaves
//! like a regular file.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::Error;
use deadpan_position::{FileExt, fill};

/// An input that several threads can read at any position at the same time.
pub trait ReadAt: Sync {
    /// Reads the bytes that begin at `position` into `buffer`. Returns the number of bytes that were read: at least
    /// one, or 0 after the end.
    ///
    /// # Errors
    /// If the data cannot be read.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;

    /// Returns `length` bytes at `position` if the data are in memory and cannot change during the borrow. The engine
    /// does not copy these bytes, and may read the bytes twice: to authenticate them and to decrypt them. The default
    /// implementation returns `None`.
    fn bytes_at(&self, _position: u64, _length: usize) -> Option<&[u8]> {
        None
    }
}

/// An output to which several threads can write at any position at the same time.
pub trait WriteAt: Sync {
    /// Checks before the first write that the output can be used. The default implementation does nothing. A regular
    /// file must be empty, because old bytes would remain after the new data. The file must not be open for appending,
    /// because systems then ignore positions.
    ///
    /// # Errors
    /// If the output cannot be used.
    fn check(&self) -> Result<(), Error> {
        Ok(())
    }

    /// Writes all of `bytes`, beginning at `position`. Each position is written only once. The positions may come in
    /// any order.
    ///
    /// # Errors
    /// If the data cannot be written.
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;

    /// Is called before the first write of the data. The data will end at `end`, and this method may reserve space for
    /// the data. The default implementation does nothing.
    ///
    /// # Errors
    /// If there is not enough space.
    fn reserve(&self, _end: u64) -> io::Result<()> {
        Ok(())
    }

    /// Is called after the last write. Cuts off the padding, which begins at `end`. The default implementation does
    /// nothing. A regular file becomes shorter.
    ///
    /// # Errors
    /// If the output cannot be made shorter.
    fn cut(&self, _end: u64) -> io::Result<()> {
        Ok(())
    }

    /// Returns the best number of bytes for one write. The default is suitable for files: the system lets only one
    /// thread at a time write to a file, and each change of the writing thread costs time.
    fn at_once(&self) -> usize {
        1 << 20
    }
}

impl<T: ReadAt + ?Sized> ReadAt for &T {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        (**self).read_at(buffer, position)
    }

    fn bytes_at(&self, position: u64, length: usize) -> Option<&[u8]> {
        (**self).bytes_at(position, length)
    }
}

impl<T: WriteAt + ?Sized> WriteAt for &T {
    fn check(&self) -> Result<(), Error> {
        (**self).check()
    }

    fn cut(&self, end: u64) -> io::Result<()> {
        (**self).cut(end)
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        (**self).write_all_at(bytes, position)
    }

    fn reserve(&self, end: u64) -> io::Result<()> {
        (**self).reserve(end)
    }

    fn at_once(&self) -> usize {
        (**self).at_once()
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let rest = usize::try_from(position).ok().and_then(|position| self.get(position..)).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }

    fn bytes_at(&self, position: u64, length: usize) -> Option<&[u8]> {
        self.get(usize::try_from(position).ok()?..)?.get(..length)
    }
}

impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, position)
    }
}

impl WriteAt for File {
    fn check(&self) -> Result<(), Error> {
        if self.metadata().map_err(Error::Write)?.len() > 0 {
            return Err(Error::NotEmpty);
        }
        #[cfg(unix)]
        if rustix::fs::fcntl_getfl(self).is_ok_and(|flags| flags.contains(rustix::fs::OFlags::APPEND)) {
            return Err(Error::Invalid("the output is open for appending, where systems ignore positions"));
        }
        Ok(())
    }

    fn cut(&self, end: u64) -> io::Result<()> {
        self.set_len(end)
    }

    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, position)
    }

    #[cfg(target_os = "linux")]
    fn reserve(&self, end: u64) -> io::Result<()> {
        reserve(self, end)
    }
}

/// If a file is shorter than this number of bytes, reserving blocks costs more time than it saves.
#[cfg(target_os = "linux")]
const WORTH_ROOM: u64 = 4 << 20;

/// Reserves all blocks of an ext4 file in one step. Without the reservation, the system looks for a block for each page
/// that is written, and this search takes a third of the time of writing. Does nothing on other file systems, because
/// they may fill the blocks with zeros, or stop compressing the file. The file keeps its length, so that after a crash
/// it does not end in zeros that were never written.
#[cfg(target_os = "linux")]
fn reserve(file: &File, end: u64) -> io::Result<()> {
    use rustix::fs::{FallocateFlags, FsWord, fallocate, fstatfs, fstatvfs};

    const EXT4: FsWord = 0xef53;
    if end < WORTH_ROOM || !fstatfs(file).is_ok_and(|about| about.f_type == EXT4) {
        return Ok(());
    }
    // If the disk has too little free space, the function fails before the system reserves any block. If the function
    // reserved blocks on a disk that is too small, other programs would find the disk full.
    if let Ok(about) = fstatvfs(file) {
        let bytes = |blocks: u64| blocks.saturating_mul(about.f_frsize);
        if bytes(about.f_bfree) < end {
            return Err(io::ErrorKind::StorageFull.into());
        }
        // Some of the free space may be kept for root, so that a reservation would take the rest before it fails.
        if bytes(about.f_bavail) < end {
            return Ok(());
        }
    }
    // The reserved blocks are an advantage, but they are not necessary, so an error is ignored.
    let _ = fallocate(file, FallocateFlags::KEEP_SIZE, 0, end);
    Ok(())
}

/// Reads at a position until `buffer` is full or the data end. Returns the number of bytes that were read.
pub(crate) fn read_full_at(input: &impl ReadAt, buffer: &mut [u8], position: u64) -> io::Result<usize> {
    fill(buffer, position, |rest, position| input.read_at(rest, position))
}

/// A position in data of a known length. With a cursor, a [`ReadAt`] can be used as a reader that reads in order and
/// seeks.
///
/// ```
/// use std::io::Read;
///
/// use deadpan_seal::{Cursor, Header, Kem, PrivateKey, Recipient, Sealing};
///
/// let key = PrivateKey::generate(Kem::XWing)?;
/// let sealed = Sealing::to(vec![Recipient::Key(key.public().clone())])?.seal(b"straight face")?;
/// # let folder = tempfile::tempdir().map_err(deadpan_seal::Error::Write)?;
/// # let path = folder.path().join("sealed");
/// std::fs::write(&path, &sealed).map_err(deadpan_seal::Error::Write)?;
///
/// let file = std::fs::File::open(&path).map_err(deadpan_seal::Error::Read)?;
/// let header = Header::read(Cursor::new(&file, sealed.len() as u64))?;
/// let mut reader = header.open(&[(&key).into()])?.seek_in(Cursor::new(&file, sealed.len() as u64))?;
/// let mut plain = String::new();
/// reader.read_to_string(&mut plain).map_err(deadpan_seal::Error::Read)?;
/// assert_eq!(plain, "straight face");
/// # Ok::<(), deadpan_seal::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Cursor<R> {
    input: R,
    length: u64,
    position: u64,
}

impl<R: ReadAt> Cursor<R> {
    /// Creates a cursor at the beginning of `input`, which is `length` bytes long.
    pub fn new(input: R, length: u64) -> Self {
        Self { input, length, position: 0 }
    }
}

impl<R: ReadAt> Read for Cursor<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.length.saturating_sub(self.position);
        let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        if most == 0 {
            return Ok(0);
        }
        let read = self.input.read_at(&mut buffer[..most], self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl<R: ReadAt> Seek for Cursor<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (base, by) = match to {
            SeekFrom::Start(position) => (position, 0),
            SeekFrom::End(by) => (self.length, by),
            SeekFrom::Current(by) => (self.position, by),
        };
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "a position before the start of the data");
        self.position = base.checked_add_signed(by).ok_or_else(outside)?;
        Ok(self.position)
    }
}

/// A writer that writes in order to a [`WriteAt`], from the beginning or from another position.
pub(crate) struct InOrder<W> {
    output: W,
    position: u64,
}

impl<W: WriteAt> InOrder<W> {
    pub(crate) fn new(output: W) -> Self {
        Self::at(output, 0)
    }

    pub(crate) fn at(output: W, position: u64) -> Self {
        Self { output, position }
    }
}

impl<W: WriteAt> Write for InOrder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.output.write_all_at(bytes, self.position)?;
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
