//! Decides which data to compress, and makes frames on several threads.

use std::collections::VecDeque;
use std::io;

use crate::frame::{Press, ReadFrame, Sampler, longest, stored_length, trial};
use crate::pool::{Pool, Worker};
use crate::room::{Filled, Rooms};
use crate::{FRAME, Level, Table};

/// The first buffer. Most files are shorter, and do not need the memory of a whole frame.
pub(crate) const FIRST: usize = 256 << 10;

/// After this number of frames whose samples do not shrink, there is another trial.
const TRUSTED: u32 = 64;

/// Frames in a row whose samples do not shrink. Samples cannot show everything, so a trial with a longer piece of the
/// row's first frame decides whether to compress the frames. So the stored bytes depend only on the data and the level.
#[derive(Default)]
struct Row {
    shrinks: bool,
    /// The number of frames for which the trial still counts.
    left: u32,
}

/// Data that are stored as they are, and were not read yet.
pub(crate) struct There {
    pub(crate) position: u64,
    pub(crate) length: usize,
}

/// A finished frame.
pub(crate) enum Frame {
    Compressed(Filled),
    /// Data that are stored as they are.
    Stored(Filled),
    There(There),
}

/// A frame whose turn will come.
enum Next {
    /// The pool's next result.
    Awaited,
    /// The frame, and the length of its data.
    Here(Frame, usize),
}

pub(crate) struct Fold {
    pool: Pool<Pressing>,
    queue: VecDeque<Next>,
    row: Row,
    sampler: Sampler,
    frames: Rooms,
    data: Rooms,
    pub(crate) table: Table,
}

impl Fold {
    pub(crate) fn new(level: Level, threads: usize) -> Self {
        // The data, the frame, and what the engine of a caller needs.
        let memory = Press::memory(level) + FRAME + longest(FRAME);
        Self {
            pool: Pool::new(threads, memory, move || Ok(Pressing(Press::new(level)?))),
            queue: VecDeque::new(),
            row: Row::default(),
            sampler: Sampler::default(),
            frames: Rooms::default(),
            data: Rooms::default(),
            table: Table::default(),
        }
    }

    /// Returns whether more data are needed before a result is taken.
    pub(crate) fn is_hungry(&self) -> bool {
        self.pool.is_hungry() && !matches!(self.queue.front(), Some(Next::Here(..)))
    }

    /// Returns a buffer for `length` bytes of data.
    pub(crate) fn room(&self, length: usize) -> Filled {
        self.data.take(length, FRAME)
    }

    /// Decides whether to compress the next frame, which has `length` bytes of data.
    pub(crate) fn is_worth_it(&mut self, length: usize, read: &mut ReadFrame<'_>) -> io::Result<bool> {
        if !self.sampler.is_dense(length, read)? {
            self.row = Row::default();
            return Ok(true);
        }
        self.row.left = match self.row.left {
            0 => {
                self.row.shrinks = trial(length, read)?;
                TRUSTED - 1
            }
            left => left - 1,
        };
        Ok(self.row.shrinks)
    }

    /// Takes the data of the next frame. A frame that is `alone` needs no thread.
    pub(crate) fn add(&mut self, data: Filled, alone: bool) -> io::Result<()> {
        let length = data.bytes().len();
        let mut read = |piece: &mut [u8], at: usize| {
            piece.copy_from_slice(&data.bytes()[at..at + piece.len()]);
            Ok(())
        };
        if self.is_worth_it(length, &mut read)? {
            return self.compress(data, alone);
        }
        self.store(Frame::Stored(data), length);
        Ok(())
    }

    /// Compresses the data of the next frame.
    pub(crate) fn compress(&mut self, data: Filled, alone: bool) -> io::Result<()> {
        let frame = self.frames.take(longest(data.bytes().len()), longest(FRAME));
        self.queue.push_back(Next::Awaited);
        self.pool.add(Unpressed { data, frame }, alone)
    }

    /// Stores the next frame, which has `length` bytes of data, as it is.
    pub(crate) fn store(&mut self, frame: Frame, length: usize) {
        self.queue.push_back(Next::Here(frame, length));
    }

    /// Returns the next frame and its length, or `None` if no data are waiting.
    pub(crate) fn next(&mut self) -> io::Result<Option<(Frame, usize)>> {
        let (frame, length) = match self.queue.pop_front() {
            None => return Ok(None),
            Some(Next::Here(frame, length)) => (frame, length),
            Some(Next::Awaited) => match self.pool.next().transpose()? {
                Some(Pressed { frame, length }) => (frame, length),
                None => return Ok(None),
            },
        };
        let stored = match &frame {
            Frame::Compressed(frame) => frame.bytes().len(),
            Frame::Stored(_) | Frame::There(_) => stored_length(length),
        };
        if !self.table.push(stored, length) {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the data are too long to be compressed"));
        }
        Ok(Some((frame, stored)))
    }
}

struct Pressing(Press);

struct Unpressed {
    data: Filled,
    /// A buffer for the frame.
    frame: Filled,
}

struct Pressed {
    frame: Frame,
    /// The length of the data.
    length: usize,
}

impl Worker for Pressing {
    type Job = Unpressed;
    type Done = Pressed;

    fn work(&mut self, Unpressed { data, mut frame }: Unpressed) -> io::Result<Pressed> {
        let length = data.bytes().len();
        let pressed = self.0.press(data.bytes(), frame.bytes_mut())?;
        let frame = match pressed {
            Some(length) => {
                frame.resize(length);
                Frame::Compressed(frame)
            }
            None => Frame::Stored(data),
        };
        Ok(Pressed { frame, length })
    }
}
