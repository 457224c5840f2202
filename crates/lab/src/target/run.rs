//! The measuring loops. They are compiled once for each target, around its function, and are the same for all classes: what differs between
//! two measurements is the bytes in the buffer, nothing else.
//!
//! Where several calls make a measurement, each finishes before the next begins. Calls that overlap meet each other's results on the stack
//! and in the predictors, and then a branch-free comparison takes another time for "equal" than for "different".

use std::sync::atomic::{Ordering, fence};

use crate::clock::Clock;
use crate::imp::counter::settle;

/// A row of measurements to take.
pub(crate) struct Slots<'s> {
    /// The inputs, one after the other.
    pub(crate) inputs: &'s [u8],
    /// Bytes in each.
    pub(crate) length: usize,
    /// Calls in one measurement.
    pub(crate) repeats: usize,
    /// Turns of delay before each measurement, to meet the clock's steps at any phase.
    pub(crate) dither: &'s [u32],
    /// Turns of delay inside each measurement; empty for none.
    pub(crate) delays: &'s [u32],
    /// Where each input is copied to; room for `repeats` of them.
    pub(crate) buffer: &'s mut [u8],
    /// The ticks each took.
    pub(crate) ticks: &'s mut [u64],
}

/// A function that can be measured.
pub(crate) trait Run {
    /// Takes a row of measurements.
    fn sample(&mut self, clock: &dyn Clock, slots: &mut Slots<'_>);

    /// The ticks of so many calls on one input.
    fn many(&mut self, clock: &dyn Clock, input: &mut [u8], calls: u64) -> u64;

    /// One call.
    fn once(&mut self, input: &mut [u8]);

    /// Whether each of several calls needs a copy of its own.
    fn changes(&self) -> bool;
}

/// Reads its input.
pub(crate) struct Reading<F>(pub(crate) F);

/// Changes its input.
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

/// Chooses the loop that is compiled around the processor's counter, where that is the clock.
pub(crate) fn dispatch(clock: &dyn Clock, slots: &mut Slots<'_>, copies: usize, calls: &mut impl FnMut(&mut [u8])) {
    match (clock.as_counter(), slots.delays.is_empty()) {
        (Some(counter), true) => measure::<_, false>(&counter, slots, copies, calls),
        (Some(counter), false) => measure::<_, true>(&counter, slots, copies, calls),
        (None, true) => measure::<_, false>(&Dynamic(clock), slots, copies, calls),
        (None, false) => measure::<_, true>(&Dynamic(clock), slots, copies, calls),
    }
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
fn measure<C: Clock, const DELAYED: bool>(clock: &C, slots: &mut Slots<'_>, copies: usize, calls: &mut impl FnMut(&mut [u8])) {
    let buffer = &mut slots.buffer[..slots.length * copies];
    for (index, input) in slots.inputs.chunks_exact(slots.length).enumerate() {
        for copy in buffer.chunks_exact_mut(slots.length) {
            copy.copy_from_slice(input);
        }
        clock.delay(slots.dither[index]);
        // The copy has left the store buffer before the clock starts; otherwise loads would wait for stores, or not, by their widths.
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
