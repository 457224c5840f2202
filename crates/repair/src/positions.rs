//! Positioned reads and writes: files, and bytes in memory.

use std::fs::File;
use std::io;

use parking_lot::Mutex;

use deadpan_position::{FileExt, fill};

/// An input that several threads can read at any position at the same time.
pub trait ReadAt: Sync {
    /// Reads the bytes that begin at `position` into `buffer`. Returns the number of bytes that were read: at least
    /// one, or 0 after the end.
    ///
    /// # Errors
    /// If the data cannot be read.
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize>;
}

/// An output that several threads can read and write at any position at the same time. New bytes are zeros until they
/// are written.
pub trait WriteAt: ReadAt {
    /// Writes all of `bytes`, beginning at `position`.
    ///
    /// # Errors
    /// If the data cannot be written.
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()>;

    /// Sets the length. Called once, before the first write.
    ///
    /// # Errors
    /// If the output cannot have this length.
    fn set_length(&self, length: u64) -> io::Result<()>;
}

impl<T: ReadAt + ?Sized> ReadAt for &T {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        (**self).read_at(buffer, position)
    }
}

impl ReadAt for [u8] {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        let rest = usize::try_from(position).ok().and_then(|position| self.get(position..)).unwrap_or_default();
        let read = rest.len().min(buffer.len());
        buffer[..read].copy_from_slice(&rest[..read]);
        Ok(read)
    }
}

impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        FileExt::read_at(self, buffer, position)
    }
}

impl WriteAt for File {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        FileExt::write_all_at(self, bytes, position)
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }
}

/// An output in memory.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Vec<u8>>);

impl Memory {
    /// Returns the written bytes.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.into_inner()
    }
}

impl ReadAt for Memory {
    fn read_at(&self, buffer: &mut [u8], position: u64) -> io::Result<usize> {
        self.0.lock().as_slice().read_at(buffer, position)
    }
}

impl WriteAt for Memory {
    fn write_all_at(&self, bytes: &[u8], position: u64) -> io::Result<()> {
        let mut all = self.0.lock();
        let begin = usize::try_from(position).ok();
        let place = begin.and_then(|begin| all.get_mut(begin..begin.checked_add(bytes.len())?));
        place.ok_or(io::ErrorKind::InvalidInput)?.copy_from_slice(bytes);
        Ok(())
    }

    fn set_length(&self, length: u64) -> io::Result<()> {
        self.0.lock().resize(usize::try_from(length).map_err(|_| io::ErrorKind::OutOfMemory)?, 0);
        Ok(())
    }
}

/// Reads at a position until `buffer` is full or the data end. Returns the number of bytes that were read.
pub(crate) fn read_full_at(input: &(impl ReadAt + ?Sized), buffer: &mut [u8], position: u64) -> io::Result<usize> {
    fill(buffer, position, |rest, position| input.read_at(rest, position))
}

/// The number of the system's error for a sector that a disk cannot read.
const EIO: i32 = 5;

/// Whether the disk could not read a sector. Such a sector counts as damage.
pub(crate) fn is_bad_sector(error: &io::Error) -> bool {
    error.raw_os_error() == Some(EIO)
}
