//! Stores the results of the calls during a measurement. The lab drops the results after the clock has stopped, because
//! the time for freeing memory does not belong to the function.

use std::hint::black_box;
use std::mem::{forget, needs_drop};

use crate::clock::Clock;

/// The maximum number of results that are kept at the same time. Only results that own memory or other resources are
/// kept. Functions whose results own memory or other resources are usually slow, so a measurement rarely needs more
/// calls than this number.
pub(crate) const KEPT: usize = 256;
/// The minimum time, in ticks, between two readings of the clock in [`Results::many`]. The number of calls between two
/// readings grows until the calls take this time.
const PART: u64 = 20_000;

pub(crate) struct Results<R> {
    slots: Vec<Option<R>>,
    /// The number of calls between two readings of the clock in [`Results::many`].
    part: u64,
}

impl<R> Results<R> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), part: 1 }
    }

    pub(crate) const fn most() -> usize {
        if needs_drop::<R>() { KEPT } else { usize::MAX }
    }

    /// Makes room for `calls` results. The caller must call this method before the clock starts.
    pub(crate) fn reserve(&mut self, calls: usize) {
        if needs_drop::<R>() && self.slots.len() < calls {
            self.slots.resize_with(calls, || None);
        }
    }

    /// Keeps the result of the call with this index. A result that owns nothing is not stored.
    #[inline(always)]
    pub(crate) fn keep(&mut self, index: usize, result: R) {
        let result = black_box(result);
        if needs_drop::<R>() {
            // The slot is empty. With `forget`, the measured code contains no code for dropping a result.
            forget(self.slots[index].replace(result));
        }
    }

    /// Drops all results. The caller must call this method after the clock has stopped.
    pub(crate) fn clear(&mut self) {
        if needs_drop::<R>() {
            // The results are in the first slots, without gaps.
            let _ = self.slots.iter_mut().map_while(Option::take).count();
        }
    }

    /// Makes `calls` calls and returns their total time in ticks. The method stops the clock while it drops results.
    /// The number of calls between two stops of the clock grows until the time for reading the clock is negligible. For
    /// a slow function, the method therefore stores only one result at a time. The results of slow functions may be
    /// large.
    pub(crate) fn many(&mut self, clock: &dyn Clock, calls: u64, mut call: impl FnMut() -> R) -> u64 {
        let (mut left, mut ticks) = (calls, 0);
        while left > 0 {
            let part = if needs_drop::<R>() { left.min(self.part) } else { left };
            self.reserve(part.min(KEPT as u64) as usize);
            let begin = clock.start();
            for index in 0..part {
                self.keep(index as usize, call());
            }
            let took = clock.stop().wrapping_sub(begin);
            self.clear();
            (left, ticks) = (left - part, ticks + took);
            if took < PART && part == self.part {
                self.part = (2 * self.part).min(KEPT as u64);
            }
        }
        ticks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Mock;

    struct Costly(Mock);

    impl Drop for Costly {
        fn drop(&mut self) {
            self.0.advance(10_000.0);
        }
    }

    #[test]
    fn a_series_of_calls_does_not_time_the_drops_of_its_results() {
        let clock = Mock::new(1);
        let mut results = Results::new();
        for calls in [0, 1, 2, 255, 256, 257, 5000] {
            let ticks = results.many(&clock, calls, || {
                clock.advance(3.0);
                Costly(clock.clone())
            });
            assert_eq!(ticks, 3 * calls);
        }
    }

    #[test]
    fn a_slow_function_has_one_result_at_a_time() {
        let clock = Mock::new(1);
        let alive = std::rc::Rc::new(());
        let mut results = Results::new();
        results.many(&clock, 100, || {
            assert!(std::rc::Rc::strong_count(&alive) <= 2);
            clock.advance(1e5);
            alive.clone()
        });
        assert_eq!(std::rc::Rc::strong_count(&alive), 1);
    }
}
