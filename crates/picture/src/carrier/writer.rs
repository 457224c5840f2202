//! Writes a set of carriers as one file: any bytes at any position, with several threads, in any order.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use parking_lot::Mutex;

use super::layout::{HEADER, Layout, MAGIC, MOST_PICTURES};
use super::place::{Buffers, read_exact};
use super::sums::{Pieces, Sums};
use super::{png, webp};
use crate::crc::crc64;
use crate::open_files::Open;
use crate::{Error, Format, Label, spare};
use deadpan_position::FileExt;

/// The number of bytes that are converted to the file format, added to the checksums and written at once. This number
/// of bytes fits into the cache of a CPU core.
const STEP: usize = 256 << 10;

/// Writes a set of carriers as if it were one file.
///
/// Every byte is written exactly once. The checksums of the pictures are computed from the checksums of the pieces. So
/// the writer reads a picture again only to make spare pictures.
#[derive(Debug)]
pub struct Writer<O> {
    layout: Layout,
    open: O,
    state: Mutex<State>,
    buffers: Buffers,
}

#[derive(Debug)]
struct State {
    files: Open<File>,
    pieces: BTreeMap<u32, Pieces>,
}

/// A set that was written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Written {
    /// The labels of all pictures in the order of their indexes, spare pictures included.
    pub labels: Vec<Label>,
}

impl<O: Fn(u32) -> io::Result<File> + Sync> Writer<O> {
    /// Begins a set of pictures of this size. [`Layout::fitted`] finds the size for data of a known length that need
    /// only one picture.
    ///
    /// `open` opens the file of a picture for writing, and for reading too if there will be spare pictures. `open`
    /// creates the file if it does not exist, and does not change the contents of an existing file. If many pictures
    /// are open, the writer closes some of them, and calls `open` again later. The writer reads only bytes that it
    /// wrote itself.
    ///
    /// # Errors
    /// [`Error::CarrierSize`] if pictures of this size are too small for any data.
    pub fn new(layout: Layout, open: O) -> Result<Self, Error> {
        if layout.part() == 0 {
            return Err(Error::CarrierSize { width: layout.width(), height: layout.height() });
        }
        let state = Mutex::new(State { files: Open::new(), pieces: BTreeMap::new() });
        Ok(Self { layout, open, state, buffers: Buffers::default() })
    }

    /// Writes all of `bytes` at a position of the data. Several threads may write at the same time, in any order.
    ///
    /// # Errors
    /// If a file cannot be opened or written, if a byte was written before, or if the data become too long for a set.
    pub fn write_all_at(&self, mut bytes: &[u8], position: u64) -> io::Result<()> {
        let part = u64::from(self.layout.part());
        let mut position = Some(position);
        while !bytes.is_empty() {
            let (index, at) = position
                .and_then(|position| Some((u32::try_from(position / part).ok()?, position % part)))
                .filter(|(index, _)| *index < MOST_PICTURES)
                .ok_or_else(|| io::Error::new(io::ErrorKind::FileTooLarge, Error::TooManyPictures))?;
            let length = usize::try_from(part - at).map_or(bytes.len(), |left| left.min(bytes.len()));
            let (now, later) = bytes.split_at(length);
            self.write_part(index, now, at)?;
            position = position.and_then(|position| position.checked_add(length as u64));
            bytes = later;
        }
        Ok(())
    }

    /// Returns a writer for data that are written in order, from the first byte on.
    pub fn stream(&self) -> CarrierStream<'_, O> {
        CarrierStream { writer: self, position: 0 }
    }

    /// Completes the pictures: makes `spares` spare pictures, and writes labels and checksums. `set` is the name of the
    /// set, and must be random.
    ///
    /// # Errors
    /// [`Error::Incomplete`] if some bytes were not written, [`Error::TooManyPictures`] if the set would have too many
    /// pictures, and [`Error::Write`] or [`Error::Read`] if the system fails.
    pub fn finish(self, set: [u8; 16], spares: u32) -> Result<Written, Error> {
        let part = u64::from(self.layout.part());
        let count = self.state.lock().pieces.last_key_value().map_or(1, |(last, _)| last + 1);
        let total = u64::from(count - 1) * part + self.part_of(count - 1).end();
        for index in 0..count {
            let pieces = self.part_of(index);
            let known = pieces.whole().map_or(0, |sums| sums.length);
            if pieces.whole().is_none() || index + 1 < count && known < part {
                return Err(Error::Incomplete { position: u64::from(index) * part + pieces.end() });
            }
        }
        if spares > 0 {
            self.write_spares(count, spares, total)?;
        }
        let mut labels = Vec::new();
        for index in 0..count + spares {
            let sums = self.part_of(index).whole().unwrap_or_default();
            let offset = if index < count { u64::from(index) * part } else { 0 };
            // A part is at most as long as a picture.
            let (length, checksum) = (sums.length as u32, sums.crc64);
            let label = Label { set, index, count, spares, length, offset, total, checksum };
            self.complete(&label, &sums).map_err(Error::Write)?;
            labels.push(label);
        }
        Ok(Written { labels })
    }

    fn part_of(&self, index: u32) -> Pieces {
        self.state.lock().pieces.get(&index).cloned().unwrap_or_default()
    }

    fn file(&self, index: u32) -> io::Result<Arc<File>> {
        let mut state = self.state.lock();
        match state.files.get(index) {
            Some(file) => Ok(file),
            None => Ok(state.files.insert(index, (self.open)(index)?)),
        }
    }

    fn write_part(&self, index: u32, bytes: &[u8], at: u64) -> io::Result<()> {
        let file = self.file(index)?;
        let (mut sums, mut position) = (Sums::default(), HEADER as u64 + at);
        for bytes in bytes.chunks(STEP) {
            match self.layout.format() {
                Format::Png => self.buffers.with(|buffer| {
                    sums.append(&Sums::frame(&self.layout, position, bytes, buffer));
                    file.write_all_at(buffer, self.layout.start(position))
                })?,
                Format::WebP => {
                    sums.append(&Sums::plain(bytes));
                    file.write_all_at(bytes, self.layout.start(position))?;
                }
            }
            position += bytes.len() as u64;
        }
        let new = self.state.lock().pieces.entry(index).or_default().insert(at, sums);
        if new {
            Ok(())
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "the same byte of a picture was written twice"))
        }
    }

    fn write_spares(&self, count: u32, spares: u32, total: u64) -> Result<(), Error> {
        let part = u64::from(self.layout.part());
        let length = if count == 1 { total.next_multiple_of(64) } else { part };
        let read = |index: u32, buffer: &mut [u8], at: u64| {
            let begin = u64::from(index) * part;
            let there = total.min(begin + part).saturating_sub(begin + at);
            let there = usize::try_from(there).map_or(buffer.len(), |there| there.min(buffer.len()));
            let (known, zeros) = buffer.split_at_mut(there);
            zeros.fill(0);
            read_exact(&*self.file(index)?, &self.layout, at, known, &self.buffers)
        };
        let write = |spare: u32, bytes: &[u8], at: u64| self.write_part(count + spare, bytes, at);
        spare::encode(count, spares, length, &read, &write)
    }

    /// Writes everything in the file that comes before the part, and everything that comes after the part.
    fn complete(&self, label: &Label, part: &Sums) -> io::Result<()> {
        let whole = label.index + 1 < label.count;
        let layout = if whole { self.layout } else { self.layout.cut(part.length) };
        let mut sums = Sums::structure(&[&b"IDAT"[..], &png::ZLIB].concat());
        let mut head = layout.head();
        sums.append(&Sums::frame(&layout, 0, &header(label), &mut head));
        sums.append(part);

        let (end, mut tail) = (HEADER as u64 + part.length, Vec::new());
        let zeros = vec![0; (layout.bytes() - end) as usize];
        sums.append(&Sums::frame(&layout, end, &zeros, &mut tail));

        let file = self.file(label.index)?;
        match layout.format() {
            Format::Png => {
                let adler = sums.adler();
                sums.append(&Sums::structure(&adler.to_be_bytes()));
                if let Some(patch) = png::patch(&self.layout, &layout) {
                    sums.crc32 ^= patch.crc;
                    file.write_all_at(&patch.bytes, patch.offset)?;
                }
                tail.extend_from_slice(&png::tail(adler, sums.crc32));
            }
            Format::WebP => tail.extend_from_slice(&webp::tail(&layout)),
        }
        file.write_all_at(&tail, layout.start(end))?;
        file.write_all_at(&head, 0)?;
        // An existing file that `open` returned may be longer than the picture.
        file.set_len(layout.file_length())
    }
}

/// Returns the bytes that precede a part in its carrier.
fn header(label: &Label) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&MAGIC);
    header[8..64].copy_from_slice(&label.to_bytes());
    let checksum = crc64(&header[..64]);
    header[64..].copy_from_slice(&checksum.to_be_bytes());
    header
}

/// Writes data in order to a [`Writer`].
#[derive(Debug)]
pub struct CarrierStream<'w, O> {
    writer: &'w Writer<O>,
    position: u64,
}

impl<O: Fn(u32) -> io::Result<File> + Sync> Write for CarrierStream<'_, O> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write_all_at(bytes, self.position)?;
        self.position += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
