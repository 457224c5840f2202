//! Decides which data to compress, and makes frames on several threads.

use std::collections::VecDeque;
use std::io;

use crate::frame::{Press, Sampler, longest, stored_length};
use crate::pool::{Pool, Worker};
use crate::room::{Filled, Rooms};
use crate::{FRAME, Level, Table};

/// The first buffer. Most files are shorter, and do not need the memory of a whole frame.
pub(crate) const FIRST: usize = 256 << 10;

/// After this number of frames whose samples do not shrink, another whole frame is compressed as a trial.
const TRUSTED: u32 = 64;

/// What is known about frames in a row whose samples do not shrink. The first frame of the row is compressed as a trial,
/// because a sample cannot show everything. The trial decides about the other frames, so that the stored bytes depend
/// only on the data and the level.
enum Row {
    /// The last sample shrank.
    None,
    /// The trial is not over.
    Trial,
    /// The trial showed whether the frames shrink. This number of frames will still be treated in the same way.
    Known { shrinks: bool, left: u32 },
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
            row: Row::None,
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

    /// Takes the data of the next frame. A frame that is `alone` needs no thread.
    pub(crate) fn add(&mut self, data: Filled, alone: bool) -> io::Result<()> {
        if !alone {
            let read = |piece: &mut [u8], at| {
                piece.copy_from_slice(&data.bytes()[at..at + piece.len()]);
                Ok(())
            };
            let is_dense = self.sampler.is_dense(data.bytes().len(), read)?;
            if !self.is_worth_it(is_dense)? {
                let length = data.bytes().len();
                self.queue.push_back(Next::Here(Frame::Stored(data), length));
                return Ok(());
            }
        }
        let frame = self.frames.take(longest(data.bytes().len()), longest(FRAME));
        self.queue.push_back(Next::Awaited);
        self.pool.add(Unpressed { data, frame }, alone)
    }

    /// Takes the next frame without reading all of its data, if the frame will be stored as it is. Otherwise returns
    /// false. `read` reads the data of the frame at a position.
    pub(crate) fn skip(
        &mut self,
        there: There,
        read: impl FnMut(&mut [u8], usize) -> io::Result<()>,
    ) -> io::Result<bool> {
        let Row::Known { shrinks: false, left: 1.. } = self.row else { return Ok(false) };
        if !self.sampler.is_dense(there.length, read)? || self.is_worth_it(true)? {
            return Ok(false);
        }
        let length = there.length;
        self.queue.push_back(Next::Here(Frame::There(there), length));
        Ok(true)
    }

    /// Decides whether to compress a frame, from its sample and from the frames before it.
    fn is_worth_it(&mut self, is_dense: bool) -> io::Result<bool> {
        if let (true, Row::Trial) = (is_dense, &self.row) {
            // Only the trial can be the pool's last job. The row began with it.
            let mut shrinks = true;
            for next in self.queue.iter_mut().filter(|next| matches!(next, Next::Awaited)) {
                let Some(pressed) = self.pool.next().transpose()? else { break };
                shrinks = matches!(pressed.frame, Frame::Compressed(_));
                *next = Next::Here(pressed.frame, pressed.length);
            }
            self.row = Row::Known { shrinks, left: TRUSTED };
        }
        let (row, is_worth_it) = match self.row {
            _ if !is_dense => (Row::None, true),
            Row::Known { shrinks, left: left @ 1.. } => (Row::Known { shrinks, left: left - 1 }, shrinks),
            _ => (Row::Trial, true),
        };
        self.row = row;
        Ok(is_worth_it)
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
