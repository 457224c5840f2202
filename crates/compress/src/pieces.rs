//! Hands out stored bytes in pieces, which several threads complete.

use std::io::{self, Read};
use std::sync::Arc;

use crate::error::step;
use crate::fold::{FIRST, Fold, Frame, There};
use crate::frame::{Stretch, stretch};
use crate::room::Filled;
use crate::{FRAME, Level, Table};

/// Reads data at a position until the buffer is full. It is an error if the data end before.
pub type ReadAt<'i> = dyn Fn(&mut [u8], u64) -> io::Result<()> + Sync + 'i;

/// Data that can be read at any position.
pub(crate) struct Places<'i> {
    read: &'i ReadAt<'i>,
    position: u64,
    length: u64,
}

impl Places<'_> {
    /// Returns the length of the next frame's data.
    fn next(&self) -> usize {
        (self.length - self.position).min(FRAME as u64) as usize
    }
}

/// Where the data of the frames come from.
pub(crate) enum Input<'r, 'i> {
    Reader(&'r mut dyn Read),
    Places(&'r mut Places<'i>),
}

/// Stored bytes that are being handed out.
enum Ready {
    Whole(Arc<Filled>),
    /// A frame with these data as they are.
    Stored(Arc<Filled>),
    /// The same, but the data were not read yet.
    There(There),
}

/// Compresses data, and hands out the stored bytes in order. Copying the stored bytes is left to the threads that want
/// them.
pub(crate) struct Feed {
    fold: Fold,
    /// Whether a frame was begun, and whether the data have ended.
    begun: bool,
    ended: bool,
    /// Whether the table, which is the last, is ready.
    finished: bool,
    failed: bool,
    ready: Ready,
    /// The number of bytes that are ready, and how many of them were handed out.
    length: usize,
    given: usize,
}

impl Feed {
    pub(crate) fn new(level: Level, threads: usize) -> Self {
        Self {
            fold: Fold::new(level, threads),
            begun: false,
            ended: false,
            finished: false,
            failed: false,
            ready: Ready::Whole(Arc::default()),
            length: 0,
            given: 0,
        }
    }

    pub(crate) fn table(&self) -> &Table {
        &self.fold.table
    }

    /// Returns whether all stored bytes were handed out.
    pub(crate) fn is_over(&self) -> bool {
        self.finished && self.given == self.length
    }

    /// Hands out stored bytes until `buffer` is full or the stored bytes end. Returns their number. After a failure,
    /// data may be lost, so all later calls fail, too.
    pub(crate) fn take<'i>(&mut self, mut input: Input<'_, 'i>, buffer: &mut [u8]) -> io::Result<(usize, Rest<'i>)> {
        step(self, |feed| &mut feed.failed, |feed| feed.try_take(&mut input, buffer))
    }

    fn try_take<'i>(&mut self, input: &mut Input<'_, 'i>, buffer: &mut [u8]) -> io::Result<(usize, Rest<'i>)> {
        let (mut end, mut rest) = (0, Rest::default());
        while end < buffer.len() {
            if self.given == self.length {
                if self.finished {
                    break;
                }
                self.refill(input)?;
                continue;
            }
            let room = buffer.len() - end;
            let mut copy = |from, length| rest.copies.push(Copy { from, to: end, length });
            let stretch = match &self.ready {
                Ready::Whole(bytes) => {
                    let length = room.min(self.length - self.given);
                    copy(From::Memory(Arc::clone(bytes), self.given), length);
                    (self.given, end) = (self.given + length, end + length);
                    continue;
                }
                Ready::Stored(data) => stretch(data.bytes().len(), self.given),
                Ready::There(There { length, .. }) => stretch(*length, self.given),
            };
            let length = match (stretch, &self.ready, &input) {
                (Stretch::Header(header, range), ..) => {
                    let length = room.min(range.len());
                    buffer[end..end + length].copy_from_slice(&header[range][..length]);
                    length
                }
                (Stretch::Data(range), Ready::There(there), Input::Places(places)) => {
                    let length = room.min(range.len());
                    copy(From::Place(places.read, there.position + range.start as u64), length);
                    length
                }
                (Stretch::Data(range), Ready::Stored(data) | Ready::Whole(data), _) => {
                    let length = room.min(range.len());
                    copy(From::Memory(Arc::clone(data), range.start), length);
                    length
                }
                _ => return Err(io::Error::other("data without a place")),
            };
            (self.given, end) = (self.given + length, end + length);
        }
        Ok((end, rest))
    }

    /// Gets the next frame, or the table after the last frame.
    fn refill(&mut self, input: &mut Input<'_, '_>) -> io::Result<()> {
        while !self.ended && self.fold.is_hungry() {
            match input {
                Input::Reader(reader) => self.read(reader)?,
                Input::Places(places) => self.read_at(places)?,
            }
        }
        let (ready, length) = match self.fold.next()? {
            Some((Frame::Compressed(frame), length)) => (Ready::Whole(Arc::new(frame)), length),
            Some((Frame::Stored(data), length)) => (Ready::Stored(Arc::new(data)), length),
            Some((Frame::There(there), length)) => (Ready::There(there), length),
            None => {
                self.finished = true;
                let table = self.fold.table.encode();
                let length = table.len();
                (Ready::Whole(Arc::new(Filled::new(table))), length)
            }
        };
        (self.ready, self.length, self.given) = (ready, length, 0);
        Ok(())
    }

    /// Reads the data of the next frame. They are shorter than a frame only at the end of the input.
    fn read(&mut self, reader: &mut dyn Read) -> io::Result<()> {
        let is_first = !self.begun;
        self.begun = true;
        let mut data = self.fold.room(if is_first { FIRST } else { FRAME });
        let mut length = read_full(reader, data.bytes_mut())?;
        if is_first && length == FIRST {
            data = widened(&self.fold, &data);
            length += read_full(reader, &mut data.bytes_mut()[FIRST..])?;
        }
        self.ended = length < data.room();
        data.resize(length);
        if length > 0 { self.fold.add(data, is_first && self.ended) } else { Ok(()) }
    }

    /// Does the same with data at positions. Of data that will be stored as they are, only samples are read now.
    fn read_at(&mut self, places: &mut Places<'_>) -> io::Result<()> {
        let (position, length) = (places.position, places.next());
        let is_first = !self.begun;
        self.begun = true;
        places.position += length as u64;
        self.ended = places.position == places.length;
        if length == 0 {
            return Ok(());
        }
        let mut read = |piece: &mut [u8], at| (places.read)(piece, position + at as u64);
        if !self.fold.is_worth_it(length, &mut read)? {
            self.fold.store(Frame::There(There { position, length }), length);
            return Ok(());
        }
        let mut data = self.fold.room(length);
        (places.read)(data.bytes_mut(), position)?;
        self.fold.compress(data, is_first && self.ended)
    }
}

/// Copies the first bytes of a frame into a buffer for a whole frame.
pub(crate) fn widened(fold: &Fold, first: &Filled) -> Filled {
    let mut data = fold.room(FRAME);
    data.bytes_mut()[..first.bytes().len()].copy_from_slice(first.bytes());
    data
}

/// Reads until the buffer is full or the input ends, and returns how many bytes were read.
pub fn read_full(input: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match input.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Copies that are still necessary for the bytes that [`Pieces::take`] handed out.
#[derive(Default)]
pub struct Rest<'i> {
    copies: Vec<Copy<'i>>,
}

struct Copy<'i> {
    from: From<'i>,
    /// The position in the buffer.
    to: usize,
    length: usize,
}

enum From<'i> {
    Memory(Arc<Filled>, usize),
    Place(&'i ReadAt<'i>, u64),
}

impl Rest<'_> {
    /// Fills in what is missing in the bytes.
    ///
    /// # Errors
    /// If reading the data fails.
    pub fn complete(self, bytes: &mut [u8]) -> io::Result<()> {
        for Copy { from, to, length } in self.copies {
            let bytes = &mut bytes[to..to + length];
            match from {
                From::Memory(there, at) => bytes.copy_from_slice(&there.bytes()[at..at + length]),
                From::Place(read, position) => read(bytes, position)?,
            }
        }
        Ok(())
    }
}

/// Compresses data, and hands out the stored bytes in pieces. One thread takes a piece after the other, and any thread
/// completes a piece. Several threads are faster with this type than with a [`Compressor`](crate::Compressor), above
/// all for data that do not shrink.
pub struct Pieces<'i> {
    input: PiecesInput<'i>,
    feed: Feed,
}

enum PiecesInput<'i> {
    Reader(Box<dyn Read + Send + 'i>),
    Places(Places<'i>),
}

impl<'i> Pieces<'i> {
    /// Compresses what the reader returns, with this number of threads, or with all cores if the number is 0.
    pub fn from_reader(input: impl Read + Send + 'i, level: Level, threads: usize) -> Self {
        Self { input: PiecesInput::Reader(Box::new(input)), feed: Feed::new(level, threads) }
    }

    /// Compresses `length` bytes that `read` reads at any position. Data that do not shrink are read when a piece is
    /// completed. If the data change meanwhile, the stored bytes hold what was read.
    pub fn at(read: &'i ReadAt<'i>, length: u64, level: Level, threads: usize) -> Self {
        let places = Places { read, position: 0, length };
        Self { input: PiecesInput::Places(places), feed: Feed::new(level, threads) }
    }

    /// Takes the next stored bytes. Their number is less than the length of `buffer` only at the end. The bytes are in
    /// the buffer only after [`Rest::complete`].
    ///
    /// # Errors
    /// If reading or compressing fails, or if the data are longer than 64 TiB.
    pub fn take(&mut self, buffer: &mut [u8]) -> io::Result<(usize, Rest<'i>)> {
        let input = match &mut self.input {
            PiecesInput::Reader(reader) => Input::Reader(reader),
            PiecesInput::Places(places) => Input::Places(places),
        };
        self.feed.take(input, buffer)
    }

    /// Returns whether all stored bytes were taken.
    pub fn is_over(&self) -> bool {
        self.feed.is_over()
    }

    /// Returns the lengths of the frames that were taken so far.
    pub fn table(&self) -> &Table {
        self.feed.table()
    }
}
