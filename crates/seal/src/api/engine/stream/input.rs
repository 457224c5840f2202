//! The input of a stream. Only one worker at a time can use the input.

use std::io::Read;

use crate::api::engine::units::{Source, Taken};
use crate::format::fill::read_full;
use crate::{Error, Work};
use deadpan_ct::Wiped;

/// A unit, and the work that is still necessary on the unit. After a failure: the number of the failed unit, and the
/// error.
pub(crate) type Next<R> = Result<(Unit, R), (u64, Error)>;

/// A source of units.
pub(crate) trait Input: Send {
    /// The work that is still necessary on a unit after a worker has unlocked the input for the next worker.
    type Rest: Send;

    /// Whether the first unit holds all of the input.
    fn ended(&self) -> bool;

    /// Returns the number of bytes that the input has read but not yet returned.
    fn ready(&self) -> usize;

    /// Returns the number of bytes in the units that `next` has returned.
    fn read(&self) -> u64;

    /// Returns the next unit, an error, or `None` at the end.
    fn next(&mut self, buffer: &mut [u8], work: &Work<'_>) -> Option<Next<Self::Rest>>;

    fn complete(rest: Self::Rest, bytes: &mut [u8]) -> Result<(), Error>;
}

/// A stream in units. The stream reads one byte more than a unit, to find out whether the unit is the last one. The
/// next unit begins with this extra byte.
pub(crate) struct Stream<R> {
    input: R,
    unit: usize,
    /// The byte that was read ahead. Until `next` returns the first unit, this field contains the whole first unit.
    ahead: Wiped<Vec<u8>>,
    number: u64,
    read: u64,
    ended: bool,
    finished: bool,
}

#[derive(Debug)]
pub(crate) struct Unit {
    pub(super) number: u64,
    pub(super) length: usize,
    pub(super) last: bool,
}

impl<R: Read> Stream<R> {
    /// Reads the first unit, of `unit` bytes, in advance.
    pub(crate) fn start(mut input: R, unit: usize) -> Result<Self, Error> {
        // The buffer has its full size from the start, because memory that grows leaves copies of its contents behind.
        let mut ahead = Wiped::new(vec![0; unit + 1]);
        let length = read_full(&mut input, &mut ahead).map_err(Error::Read)?;
        ahead.truncate(length);
        let ended = ahead.len() <= unit;
        Ok(Self { input, unit, ahead, number: 0, read: 0, ended, finished: false })
    }

    fn fill(&mut self, buffer: &mut [u8], work: &Work<'_>) -> Result<usize, Error> {
        if work.stop.is_some_and(|stop| stop()) {
            return Err(Error::Stopped);
        }
        let ready = self.ahead.len();
        buffer[..ready].copy_from_slice(&self.ahead);
        if ready > 1 {
            // `buffer` now contains the first unit, so the memory into which the unit was read is freed.
            self.ahead = Wiped::new(Vec::with_capacity(1));
        }
        self.ahead.clear();
        if self.ended || ready > self.unit {
            return Ok(ready);
        }
        Ok(ready + read_full(&mut self.input, &mut buffer[ready..=self.unit]).map_err(Error::Read)?)
    }
}

impl<R: Read + Send> Input for Stream<R> {
    type Rest = ();

    fn ended(&self) -> bool {
        self.ended
    }

    fn ready(&self) -> usize {
        self.ahead.len()
    }

    fn read(&self) -> u64 {
        self.read
    }

    fn next(&mut self, buffer: &mut [u8], work: &Work<'_>) -> Option<Next<()>> {
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
        Some(Ok((Unit { number, length, last }, ())))
    }

    fn complete((): (), _bytes: &mut [u8]) -> Result<(), Error> {
        Ok(())
    }
}

/// A source in units. The first unit was already taken from the source.
pub(crate) struct Gathered<S> {
    source: S,
    unit: usize,
    ahead: Option<Wiped<Vec<u8>>>,
    number: u64,
    read: u64,
    ended: bool,
    finished: bool,
}

impl<S: Source> Gathered<S> {
    pub(crate) fn start(mut source: S, unit: usize) -> Result<Self, Error> {
        let mut ahead = Wiped::new(vec![0; unit]);
        let Taken { length, last, rest } = source.take(&mut ahead).map_err(Error::Read)?;
        ahead.truncate(length);
        S::complete(rest, &mut ahead).map_err(Error::Read)?;
        Ok(Self { source, unit, ahead: Some(ahead), number: 0, read: 0, ended: last, finished: false })
    }

    pub(crate) fn into_source(self) -> S {
        self.source
    }

    fn fill(&mut self, buffer: &mut [u8], work: &Work<'_>) -> Result<Taken<Option<S::Rest>>, Error> {
        if work.stop.is_some_and(|stop| stop()) {
            return Err(Error::Stopped);
        }
        if let Some(ahead) = self.ahead.take() {
            buffer[..ahead.len()].copy_from_slice(&ahead);
            return Ok(Taken { length: ahead.len(), last: self.ended, rest: None });
        }
        let Taken { length, last, rest } = self.source.take(&mut buffer[..self.unit]).map_err(Error::Read)?;
        if length < self.unit && !last {
            return Err(Error::Invalid("a source gave less than there was room for"));
        }
        Ok(Taken { length, last, rest: Some(rest) })
    }
}

impl<S: Source> Input for Gathered<S> {
    type Rest = Option<S::Rest>;

    fn ended(&self) -> bool {
        self.ended
    }

    fn ready(&self) -> usize {
        self.ahead.as_ref().map_or(0, |ahead| ahead.len())
    }

    fn read(&self) -> u64 {
        self.read
    }

    fn next(&mut self, buffer: &mut [u8], work: &Work<'_>) -> Option<Next<Self::Rest>> {
        if self.finished {
            return None;
        }
        let number = self.number;
        let taken = self.fill(buffer, work);
        self.number += 1;
        self.finished = taken.as_ref().map_or(true, |taken| taken.last);
        Some(taken.map_err(|error| (number, error)).map(|Taken { length, last, rest }| {
            self.read += length as u64;
            (Unit { number, length, last }, rest)
        }))
    }

    fn complete(rest: Self::Rest, bytes: &mut [u8]) -> Result<(), Error> {
        rest.map_or(Ok(()), |rest| S::complete(rest, bytes)).map_err(Error::Read)
    }
}
