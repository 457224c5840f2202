//! The input, which one worker at a time holds.

use crate::fill::read_full;
use crate::{Error, Work};
use deadpan_ct::Wiped;
use std::io::Read;

/// An input in units. Whether a unit is the last is known by reading one byte more, which then begins the next.
pub(crate) struct Input<R> {
    input: R,
    unit: usize,
    /// The byte that was read ahead, or the whole first unit.
    ahead: Wiped<Vec<u8>>,
    number: u64,
    read: u64,
    ended: bool,
    finished: bool,
}

/// Which unit it is, how long, and whether it is the last.
#[derive(Debug)]
pub(super) struct Unit {
    pub(super) number: u64,
    pub(super) length: usize,
    pub(super) last: bool,
}

impl<R: Read> Input<R> {
    /// Reads the first unit of `unit` bytes.
    pub(crate) fn start(mut input: R, unit: usize) -> Result<Self, Error> {
        // Of its full size at once: memory that grows leaves copies of what was in it behind.
        let mut ahead = Wiped::new(vec![0; unit + 1]);
        let length = read_full(&mut input, &mut ahead).map_err(Error::Read)?;
        ahead.truncate(length);
        let ended = ahead.len() <= unit;
        Ok(Self { input, unit, ahead, number: 0, read: 0, ended, finished: false })
    }

    /// Whether all of it is in the first unit.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    /// How many bytes were read already.
    pub(super) fn ready(&self) -> usize {
        self.ahead.len()
    }

    /// How many bytes were handed out.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// The next unit, or why there is none; nothing at the end.
    pub(super) fn next(&mut self, buffer: &mut [u8], work: &Work<'_>) -> Option<Result<Unit, (u64, Error)>> {
        if self.finished {
            return None;
        }
        let number = self.number;
        let length = match self.fill(buffer, work) {
            Ok(length) => length,
            Err(error) => {
                self.finished = true;
                return Some(Err((number, error)));
            }
        };
        let last = length <= self.unit;
        let length = length.min(self.unit);
        if !last {
            self.ahead.push(buffer[length]);
        }
        self.number += 1;
        self.read += length as u64;
        self.finished = last;
        Some(Ok(Unit { number, length, last }))
    }

    fn fill(&mut self, buffer: &mut [u8], work: &Work<'_>) -> Result<usize, Error> {
        if work.stop.is_some_and(|stop| stop()) {
            return Err(Error::Stopped);
        }
        let ready = self.ahead.len();
        buffer[..ready].copy_from_slice(&self.ahead);
        if ready > 1 {
            // The first unit goes, and its memory with it.
            self.ahead = Wiped::new(Vec::with_capacity(1));
        }
        self.ahead.clear();
        if self.ended || ready > self.unit {
            return Ok(ready);
        }
        Ok(ready + read_full(&mut self.input, &mut buffer[ready..=self.unit]).map_err(Error::Read)?)
    }
}
