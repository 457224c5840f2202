//! The measuring loops. A loop is compiled once for each target, around its function, and all classes use the same
//! code. Two measurements therefore differ only in the bytes of the buffer.
//!
//! Where a measurement makes several calls, each call finishes before the next begins. Overlapping calls would affect
//! each other through the stack and the predictors, and even a branch-free comparison would then take different times
//! for equal and for different inputs.

use std::sync::atomic::{Ordering, fence};

use super::buffer::deeper;
use crate::clock::Clock;
use crate::imp::counter::settle;

/// The measurements to take in one series.
pub(crate) struct Slots<'s> {
    /// The inputs, one after the other.
    pub(crate) inputs: &'s [u8],
    /// Length of an input in bytes.
    pub(crate) length: usize,
    /// Number of calls in one measurement.
    pub(crate) repeats: usize,
    /// Delay before each measurement, in iterations of the delay loop. Random delays make measurements start at any
    /// phase of the clock's steps.
    pub(crate) dither: &'s [u32],
    /// Delay inside each measurement, after the calls, in iterations of the delay loop. Empty if there are no delays.
    pub(crate) delays: &'s [u32],
    /// Number of frames by which the stack is deeper.
    pub(crate) depth: u32,
    /// The buffer to which each input is copied, with room for `repeats` copies.
    pub(crate) buffer: &'s mut [u8],
    /// The measured ticks.
    pub(crate) ticks: &'s mut [u64],
}

/// A function that can be measured.
pub(crate) trait Run {
    /// Takes a series of measurements.
    fn sample(&mut self, clock: &dyn Clock, slots: &mut Slots<'_>);

    /// Makes `calls` calls on one input and returns the ticks.
    fn many(&mut self, clock: &dyn Clock, input: &mut [u8], calls: u64) -> u64;

    /// Makes one call.
    fn once(&mut self, input: &mut [u8]);

    /// Whether the function changes its input, so that each call needs its own copy.
    fn changes(&self) -> bool;
}

/// A function that reads its input.
pub(crate) struct Reading<F>(pub(crate) F);

/// A function that changes its input.
pub(crate) struct Changing<F>(pub(crate) F);

impl<F: FnMut(&[u8])> Run for Reading<F> {
    fn sample(&mut self, clock: &dyn Clock, slots: &mut Slots<'_>) {
        let (length, repeats) = (slots.length, slots.repeats);
        let mut calls = |buffer: &mut [u8]| {
            for _ in 0..repeats {
                (self.0)(std::hint::black_box(&buffer[..length]));
                settle();
            }
        };
        dispatch(clock, slots, 1, &mut calls);
    }

    fn many(&mut self, clock: &dyn Clock, input: &mut [u8], calls: u64) -> u64 {
        time(clock, || {
            for _ in 0..calls {
                (self.0)(std::hint::black_box(&*input));
            }
        })
    }

    fn once(&mut self, input: &mut [u8]) {
        (self.0)(std::hint::black_box(input));
    }

    fn changes(&self) -> bool {
        false
    }
}

impl<F: FnMut(&mut [u8])> Run for Changing<F> {
    fn sample(&mut self, clock: &dyn Clock, slots: &mut Slots<'_>) {
        let (length, repeats) = (slots.length, slots.repeats);
        let mut calls = |buffer: &mut [u8]| {
            for copy in buffer.chunks_exact_mut(length) {
                (self.0)(std::hint::black_box(copy));
                settle();
            }
        };
        dispatch(clock, slots, repeats, &mut calls);
    }

    fn many(&mut self, clock: &dyn Clock, input: &mut [u8], calls: u64) -> u64 {
        time(clock, || {
            for _ in 0..calls {
                (self.0)(std::hint::black_box(&mut *input));
            }
        })
    }

    fn once(&mut self, input: &mut [u8]) {
        (self.0)(std::hint::black_box(input));
    }

    fn changes(&self) -> bool {
        true
    }
}

fn time(clock: &dyn Clock, calls: impl FnOnce()) -> u64 {
    let begin = clock.start();
    calls();
    clock.stop().wrapping_sub(begin)
}

/// Calls the loop that is compiled around the processor's counter if that is the clock, and the general loop otherwise.
pub(crate) fn dispatch(clock: &dyn Clock, slots: &mut Slots<'_>, copies: usize, calls: &mut impl FnMut(&mut [u8])) {
    deeper(slots.depth, &mut || match (clock.as_counter(), slots.delays.is_empty()) {
        (Some(counter), true) => measure::<_, false>(&counter, slots, copies, calls),
        (Some(counter), false) => measure::<_, true>(&counter, slots, copies, calls),
        (None, true) => measure::<_, false>(&Dynamic(clock), slots, copies, calls),
        (None, false) => measure::<_, true>(&Dynamic(clock), slots, copies, calls),
    });
}

struct Dynamic<'c>(&'c dyn Clock);

impl Clock for Dynamic<'_> {
    fn start(&self) -> u64 {
        self.0.start()
    }

    fn stop(&self) -> u64 {
        self.0.stop()
    }

    fn hertz(&self) -> f64 {
        self.0.hertz()
    }

    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn delay(&self, turns: u32) {
        self.0.delay(turns);
    }

    fn settle(&self) {
        self.0.settle();
    }
}

#[inline(never)]
fn measure<C: Clock, const DELAYED: bool>(
    clock: &C,
    slots: &mut Slots<'_>,
    copies: usize,
    calls: &mut impl FnMut(&mut [u8]),
) {
    let buffer = &mut slots.buffer[..slots.length * copies];
    for (index, input) in slots.inputs.chunks_exact(slots.length).enumerate() {
        for copy in buffer.chunks_exact_mut(slots.length) {
            copy.copy_from_slice(input);
        }
        clock.delay(slots.dither[index]);
        // The copy must leave the store buffer before the clock starts. Otherwise the time of loads would depend on
        // whether their widths match those of pending stores.
        fence(Ordering::SeqCst);
        let begin = clock.start();
        calls(buffer);
        if DELAYED {
            clock.settle();
            clock.delay(slots.delays[index]);
        }
        let end = clock.stop();
        slots.ticks[index] = end.wrapping_sub(begin);
    }
}
