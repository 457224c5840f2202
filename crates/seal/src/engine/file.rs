//! One regular file to another, at positions.

mod open;
mod place;
mod seal;

pub(crate) use open::open;
pub(crate) use place::write_all_at;
pub(crate) use seal::{Source, seal};

use crate::floe::Segments;
use crate::{Error, Work};
use std::fs::File;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Segments in a stretch at the most. The data of so many full segments of 256 KiB are whole pages, so that no two workers meet in one.
const LONGEST_STRETCH: u64 = 128;
/// So much is written at once: a file takes one write at a time, and each time that workers take turns costs.
const WRITTEN: usize = 1 << 20;
/// So many stretches for each worker, so that all finish at about the same time.
const STRETCHES: u64 = 8;
/// For less than this a second thread costs more than it brings.
const WORTH_A_THREAD: u64 = 4 << 20;

/// An output with something in it would keep what lies behind the end of what is written.
pub(crate) fn check_empty(output: &File) -> Result<(), Error> {
    match output.metadata().map_err(Error::Write)?.len() {
        0 => Ok(()),
        _ => Err(Error::Invalid("the output is not empty\nhint: give a new file")),
    }
}

/// What the workers share.
struct Shift<'a> {
    segments: Segments,
    stretch: u64,
    next: AtomicU64,
    /// Nothing from this segment on matters any more: it failed.
    end: AtomicU64,
    failure: Mutex<Option<(u64, Error)>>,
    work: Work<'a>,
}

/// Whether a stretch begins or ends with a segment.
struct Edge {
    first: bool,
    last: bool,
}

impl<'a> Shift<'a> {
    fn new(segments: Segments, work: &Work<'a>, memory: usize) -> (Self, usize) {
        let workers = super::workers(work, memory, segments.data() / WORTH_A_THREAD + 1);
        let stretch = (segments.count() / (workers as u64 * STRETCHES)).clamp(1, LONGEST_STRETCH);
        let stretch = if workers == 1 { segments.count() } else { stretch };
        let (next, end) = (AtomicU64::new(0), AtomicU64::new(segments.count()));
        (Self { segments, stretch, next, end, failure: Mutex::new(None), work: *work }, workers)
    }

    /// The next stretch of segments that nobody has taken.
    fn take(&self) -> Option<Range<u64>> {
        let begin = self.next.fetch_add(1, Ordering::Relaxed) * self.stretch;
        let end = (begin + self.stretch).min(self.segments.count());
        (begin < self.end.load(Ordering::Relaxed)).then_some(begin..end)
    }

    /// Does a worker's share: `each` segment of each stretch, until there are no more, or the work has failed before them.
    fn run(&self, mut each: impl FnMut(u64, Edge) -> Result<(), Error>) {
        while let Some(stretch) = self.take() {
            let (first, end) = (stretch.start, stretch.end);
            for segment in stretch {
                if segment >= self.end.load(Ordering::Relaxed) {
                    return;
                }
                let stopped = self.work.stop.is_some_and(|stop| stop());
                let edge = Edge { first: segment == first, last: segment + 1 == end };
                let result = if stopped { Err(Error::Stopped) } else { each(segment, edge) };
                if let Err(error) = result {
                    return self.fail(segment, error);
                }
                if let Some(progress) = self.work.progress {
                    progress(self.segments.data_in(segment) as u64);
                }
            }
        }
    }

    /// Of several failures, that of the first segment counts.
    fn fail(&self, segment: u64, error: Error) {
        self.end.fetch_min(segment, Ordering::Relaxed);
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.as_ref().is_none_or(|(earlier, _)| segment < *earlier) {
            *failure = Some((segment, error));
        }
    }

    fn finish(self) -> Result<(), Error> {
        let failure = self.failure.into_inner().unwrap_or_else(PoisonError::into_inner);
        failure.map_or(Ok(()), |(_, error)| Err(error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floe::{Message, Parameters};

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
}
