//! Makes frames on several threads.

use std::io;

use crate::frame::{Press, longest};
use crate::pool::{Pool, Worker};
use crate::{Level, Table};
use deadpan_ct::Wiped;

/// The first buffer. Most files are shorter, and do not need the memory of a whole frame.
pub(crate) const FIRST: usize = 256 << 10;

/// The number of frames in a row that do not shrink after which a sample decides whether to compress a frame.
const DENSE: usize = 3;

pub(crate) struct Fold {
    pool: Pool<Pressing>,
    /// How many of the last frames did not shrink.
    dense: usize,
    pub(crate) table: Table,
}

/// Stored bytes: a frame, or the table.
#[derive(Default)]
pub(crate) struct Folded {
    pub(crate) bytes: Wiped<Vec<u8>>,
    /// How many of the bytes count.
    pub(crate) length: usize,
}

impl Fold {
    pub(crate) fn new(level: Level, threads: usize) -> Self {
        let pool = Pool::new(threads, move || Ok(Pressing(Press::new(level)?)));
        Self { pool, dense: 0, table: Table::default() }
    }

    /// Returns whether more data are needed before a result is taken.
    pub(crate) fn is_hungry(&self) -> bool {
        self.pool.is_hungry()
    }

    /// Takes the data of the next frame. A frame that is `alone` needs no thread.
    pub(crate) fn add(&mut self, data: Wiped<Vec<u8>>, alone: bool) -> io::Result<()> {
        self.pool.add(Unpressed { data, doubtful: self.dense >= DENSE }, alone)
    }

    /// Returns the next frame, or `None` if no data are waiting.
    pub(crate) fn next(&mut self) -> io::Result<Option<Folded>> {
        let Some(Pressed { frame, data, shrank }) = self.pool.next().transpose()? else { return Ok(None) };
        self.dense = if shrank { 0 } else { self.dense + 1 };
        if !self.table.push(frame.length, data) {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "the data are too long to be compressed"));
        }
        Ok(Some(frame))
    }

    /// Returns the table after the last frame.
    pub(crate) fn finish(&self) -> Folded {
        let table = self.table.encode();
        Folded { length: table.len(), bytes: Wiped::new(table) }
    }
}

struct Pressing(Press);

struct Unpressed {
    data: Wiped<Vec<u8>>,
    doubtful: bool,
}

struct Pressed {
    frame: Folded,
    /// The length of the data.
    data: usize,
    shrank: bool,
}

impl Worker for Pressing {
    type Job = Unpressed;
    type Done = Pressed;

    fn work(&mut self, Unpressed { data, doubtful }: Unpressed) -> io::Result<Pressed> {
        let mut bytes = Wiped::new(vec![0; longest(data.len())]);
        let (length, shrank) = self.0.press(&data, doubtful, &mut bytes)?;
        Ok(Pressed { frame: Folded { bytes, length }, data: data.len(), shrank })
    }
}
