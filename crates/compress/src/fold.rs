//! Makes frames on several threads.

use std::io;

use crate::frame::{Press, longest};
use crate::pool::{Pool, Worker};
use crate::room::{Filled, Rooms};
use crate::{FRAME, Level, Table};
use deadpan_ct::Wiped;

/// The first buffer. Most files are shorter, and do not need the memory of a whole frame.
pub(crate) const FIRST: usize = 256 << 10;

/// The number of frames in a row that do not shrink after which a sample decides whether to compress a frame.
const DENSE: usize = 3;

pub(crate) struct Fold {
    pool: Pool<Pressing>,
    /// How many of the last frames did not shrink.
    dense: usize,
    frames: Rooms,
    data: Rooms,
    pub(crate) table: Table,
}

impl Fold {
    pub(crate) fn new(level: Level, threads: usize) -> Self {
        let pool = Pool::new(threads, move || Ok(Pressing(Press::new(level)?)));
        Self { pool, dense: 0, frames: Rooms::default(), data: Rooms::default(), table: Table::default() }
    }

    /// Returns whether more data are needed before a result is taken.
    pub(crate) fn is_hungry(&self) -> bool {
        self.pool.is_hungry()
    }

    /// Returns a buffer for the data of a frame.
    pub(crate) fn room(&mut self) -> Wiped<Vec<u8>> {
        self.data.take(FRAME, FRAME)
    }

    /// Takes the data of the next frame. A frame that is `alone` needs no thread.
    pub(crate) fn add(&mut self, data: Filled, alone: bool) -> io::Result<()> {
        let frame = self.frames.take(longest(data.length), longest(FRAME));
        self.pool.add(Unpressed { data, doubtful: self.dense >= DENSE, frame }, alone)
    }

    /// Returns the next frame, or `None` if no data are waiting.
    pub(crate) fn next(&mut self) -> io::Result<Option<Filled>> {
        let Some(Pressed { frame, data, shrank }) = self.pool.next().transpose()? else { return Ok(None) };
        let length = data.length;
        self.data.give_back(data.buffer);
        self.dense = if shrank { 0 } else { self.dense + 1 };
        if !self.table.push(frame.length, length) {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the data are too long to be compressed"));
        }
        Ok(Some(frame))
    }

    /// Takes back the buffer of a frame that [`Fold::next`] returned.
    pub(crate) fn give_back(&mut self, frame: Filled) {
        self.frames.give_back(frame.buffer);
    }

    /// Returns the table after the last frame.
    pub(crate) fn finish(&self) -> Filled {
        let table = self.table.encode();
        Filled { length: table.len(), buffer: Wiped::new(table) }
    }
}

struct Pressing(Press);

struct Unpressed {
    data: Filled,
    doubtful: bool,
    /// A buffer for the frame.
    frame: Wiped<Vec<u8>>,
}

struct Pressed {
    frame: Filled,
    data: Filled,
    shrank: bool,
}

impl Worker for Pressing {
    type Job = Unpressed;
    type Done = Pressed;

    fn work(&mut self, Unpressed { data, doubtful, mut frame }: Unpressed) -> io::Result<Pressed> {
        let (length, shrank) = self.0.press(data.bytes(), doubtful, &mut frame)?;
        Ok(Pressed { frame: Filled { buffer: frame, length }, data, shrank })
    }
}
