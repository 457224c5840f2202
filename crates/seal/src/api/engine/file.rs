//! Seals and opens at positions. The input and the output are usually regular files.

mod expand;
mod open;
mod pages;
mod seal;

pub(crate) use expand::expand;
pub(crate) use open::open;
pub(crate) use seal::{Plain, seal};

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::api::engine::buffer::PAGE;
use crate::format::positions::read_full_at;
use crate::format::segment::Segments;
use crate::primitive::threads::{MEMORY, workers_within};
use crate::{Error, ReadAt, Work};

/// The maximum number of items in a batch. If a batch has 128 full segments of 256 KiB, its data end on a page
/// boundary, so no two workers write to the same page.
const LONGEST_BATCH: u64 = 128;
/// The number of batches for each worker. With several batches, all workers finish at about the same time.
const BATCHES: u64 = 8;
/// If there are fewer bytes than this number, a second thread costs more time than it saves.
const WORTH_A_THREAD: u64 = 4 << 20;

/// What the workers divide among them: segments, or frames of compressed data. Only the last item may be shorter than
/// the others.
#[derive(Clone, Copy)]
struct Items {
    count: u64,
    /// The number of bytes of data in a full item, and in all items.
    full: u64,
    data: u64,
}

impl From<Segments> for Items {
    fn from(segments: Segments) -> Self {
        Self { count: segments.count(), full: segments.data_in(0) as u64, data: segments.data() }
    }
}

/// The sealed segments of an input, which begin at `begin`.
struct Sealed<'i, R> {
    input: &'i R,
    begin: u64,
    segments: Segments,
    overhead: usize,
}

impl<R: ReadAt> Sealed<'_, R> {
    /// Returns a sealed segment. If the input is not in memory, reads the segment into `buffer`.
    fn read<'b>(&'b self, segment: u64, buffer: &'b mut [u8]) -> Result<&'b [u8], Error> {
        let from = self.begin + self.segments.sealed_at(segment);
        let sealed = &mut buffer[..self.segments.data_in(segment) + self.overhead];
        match self.input.bytes_at(from, sealed.len()) {
            Some(there) => Ok(there),
            None if read_full_at(self.input, sealed, from).map_err(Error::Read)? == sealed.len() => Ok(sealed),
            None => Err(Error::Truncated),
        }
    }
}

/// The state that all workers share.
struct Shift<'a> {
    items: Items,
    /// The number of items in a batch.
    batch: u64,
    /// The number of the next batch.
    next: AtomicU64,
    /// The number of the first item that failed, or the number of all items if none failed. Workers begin only items
    /// with a smaller number.
    end: AtomicU64,
    failure: Mutex<Option<(u64, Error)>>,
    work: Work<'a>,
}

/// Whether an item is the first or the last item of its batch.
struct Edge {
    first: bool,
    last: bool,
}

impl<'a> Shift<'a> {
    /// Divides the segments into batches. `memory` is the largest number of bytes that a worker needs. Returns the
    /// state, and the number of workers.
    fn new(segments: Segments, work: &Work<'a>, memory: usize) -> (Self, usize) {
        Self::within(MEMORY, segments.into(), work, memory)
    }

    /// Divides items into batches. All workers together need at most `most` bytes.
    fn within(most: usize, items: Items, work: &Work<'a>, memory: usize) -> (Self, usize) {
        let workers = workers_within(most, work, memory, items.data / WORTH_A_THREAD + 1);
        let batch = (items.count / (workers as u64 * BATCHES)).clamp(1, LONGEST_BATCH);
        let batch = if workers == 1 { items.count } else { batch };
        let (next, end) = (AtomicU64::new(0), AtomicU64::new(items.count));
        (Self { items, batch, next, end, failure: Mutex::new(None), work: *work }, workers)
    }

    /// Returns the number of bytes that a worker needs for its output, if a segment of the output has `segment` bytes:
    /// at most `room`.
    fn used(&self, room: usize, segment: usize) -> usize {
        usize::try_from(self.batch).map_or(room, |batch| room.min(batch.saturating_mul(segment).saturating_add(PAGE)))
    }

    /// Takes the next batch of items. Returns `None` if no batch is left.
    fn take(&self) -> Option<Range<u64>> {
        let begin = self.next.fetch_add(1, Ordering::Relaxed) * self.batch;
        let end = (begin + self.batch).min(self.items.count);
        (begin < self.end.load(Ordering::Relaxed)).then_some(begin..end)
    }

    /// Runs one worker: calls `each` for every item of every batch that the worker takes. The worker stops if no
    /// batch is left, or if an earlier item failed.
    fn run(&self, mut each: impl FnMut(u64, Edge) -> Result<(), Error>) {
        while let Some(batch) = self.take() {
            let (first, end) = (batch.start, batch.end);
            for item in batch {
                if item >= self.end.load(Ordering::Relaxed) {
                    return;
                }
                let stopped = self.work.stop.is_some_and(|stop| stop());
                let edge = Edge { first: item == first, last: item + 1 == end };
                let result = if stopped { Err(Error::Stopped) } else { each(item, edge) };
                if let Err(error) = result {
                    return self.fail(item, error);
                }
                if let Some(progress) = self.work.progress {
                    progress((self.items.data - item * self.items.full).min(self.items.full));
                }
            }
        }
    }

    /// Records a failure. If several items fail, the failure of the first item is reported.
    fn fail(&self, item: u64, error: Error) {
        self.end.fetch_min(item, Ordering::Relaxed);
        let mut failure = self.failure.lock();
        if failure.as_ref().is_none_or(|(earlier, _)| item < *earlier) {
            *failure = Some((item, error));
        }
    }

    fn finish(self) -> Result<(), Error> {
        let failure = self.failure.into_inner();
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::deadpan::floe::{Message, Parameters};

    #[test]
    fn of_several_failures_the_first_segment_s_counts() {
        let parameters = Parameters::with_segment(4096).expect("long enough");
        let (message, _) = Message::start(parameters, &[7; 32], b"").expect("a message");
        let segments = message.segments_for(40 * message.data_length() as u64).expect("a few segments");
        for order in [[25, 11, 30], [30, 25, 11], [11, 30, 25], [11, 25, 11]] {
            let (shift, _) = Shift::new(segments, &Work { threads: 1, ..Work::default() }, 4096);
            order.iter().for_each(|&segment| shift.fail(segment, Error::Segment { segment }));
            assert_eq!(shift.end.load(Ordering::Relaxed), 11, "{order:?}: segments behind the fault are of no use");
            assert!(matches!(shift.finish(), Err(Error::Segment { segment: 11 })), "{order:?}");
        }
    }

    #[test]
    fn an_output_buffer_is_no_longer_than_a_batch() {
        let (message, _) = Message::start(Parameters::default(), &[7; 32], b"").expect("a message");
        let segments = message.segments_for(1000).expect("a segment");
        let (shift, _) = Shift::new(segments, &Work { threads: 1, ..Work::default() }, 4096);
        for (batch, used) in [(1, 100 + PAGE), (2, 200 + PAGE), (1000, 50_000), (u64::MAX, 50_000)] {
            assert_eq!(Shift { batch, ..Shift::new(segments, &shift.work, 4096).0 }.used(50_000, 100), used, "{batch}");
        }
    }
}
