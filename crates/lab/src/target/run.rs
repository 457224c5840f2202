//! The measuring loops. For each target, the compiler generates one measuring loop that contains the target's function.
//! All classes use this machine code. Two measurements therefore differ only in the bytes of the input.
//!
//! If a measurement makes several calls, each call finishes before the next call begins. If calls overlapped, they
//! would affect each other through the stack and the branch predictors. Because of this effect, even a comparison
//! without branches would take different times for equal inputs and for different inputs.

use std::sync::atomic::{Ordering, fence};

use super::buffer::deeper;
use super::results::Results;
use crate::clock::Clock;
use crate::imp::counter::settle;

/// The inputs and settings for a series of measurements.
pub(crate) struct Slots<'s> {
    /// The inputs, one after the other.
    pub(crate) inputs: &'s [u8],
    /// Length of an input in bytes.
    pub(crate) length: usize,
    /// Number of calls in one measurement.
    pub(crate) repeats: usize,
    /// The delay before each measurement, in iterations of the delay loop. The delays are random, so that each
    /// measurement starts at a random time within a step of the clock.
    pub(crate) dither: &'s [u32],
    /// The delay inside each measurement, after the calls, in iterations of the delay loop. The slice is empty if there
    /// are no delays.
    pub(crate) delays: &'s [u32],
    /// The number of frames by which the stack is deeper than usual.
    pub(crate) depth: u32,
    /// The buffer to which the loop copies each input. The buffer has room for `repeats` copies.
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

    /// Prepares the input of the next [`Run::once`], and drops the input and the result of the previous call.
    fn prepare(&mut self, _input: &[u8]) {}

    /// Makes one call and keeps its result. The caller must call [`Run::prepare`] first.
    fn once(&mut self, input: &mut [u8]);

    /// Returns whether the function changes its input.
    fn changes(&self) -> bool;

    /// Maximum number of calls in one measurement.
    fn most(&self) -> usize {
        usize::MAX
    }

    /// Returns the mean time, in seconds, of all preparations of an input so far. If the inputs are bytes, the time is
    /// zero.
    fn preparation(&self) -> f64 {
        0.0
    }

    /// Returns whether the inputs are values that the lab makes from the bytes, instead of the bytes themselves.
    fn prepared(&self) -> bool {
        false
    }
}

/// The parts of a measurement that differ between the kinds of functions.
pub(crate) trait Calls {
    /// Moves the input with this index to the address where the function reads it. The measuring loop calls this method
    /// before the clock starts.
    fn place(&mut self, index: usize, input: &[u8], buffer: &mut [u8]);

    /// Makes the calls of one measurement.
    fn call(&mut self, buffer: &mut [u8]);

    /// Drops the results. The measuring loop calls this method after the clock has stopped.
    fn clear(&mut self, _index: usize) {}
}

/// Makes calls on copies of the input. The results of these calls own nothing, so the lab need not drop the results.
impl<F: FnMut(&mut [u8])> Calls for F {
    fn place(&mut self, _index: usize, input: &[u8], buffer: &mut [u8]) {
        copy(input, buffer);
    }

    #[inline(always)]
    fn call(&mut self, buffer: &mut [u8]) {
        self(buffer);
    }
}

fn copy(input: &[u8], buffer: &mut [u8]) {
    for copy in buffer.chunks_exact_mut(input.len()) {
        copy.copy_from_slice(input);
    }
}

/// A function that reads its input.
pub(crate) struct Reading<F, R> {
    function: F,
    results: Results<R>,
}

/// A function that changes its input.
pub(crate) struct Changing<F, R> {
    function: F,
    results: Results<R>,
}

impl<R, F: FnMut(&[u8]) -> R> Reading<F, R> {
    pub(crate) fn new(function: F) -> Self {
        Self { function, results: Results::new() }
    }
}

impl<R, F: FnMut(&mut [u8]) -> R> Changing<F, R> {
    pub(crate) fn new(function: F) -> Self {
        Self { function, results: Results::new() }
    }
}

struct ReadingCalls<'r, F, R> {
    run: &'r mut Reading<F, R>,
    repeats: usize,
}

impl<R, F: FnMut(&[u8]) -> R> Calls for ReadingCalls<'_, F, R> {
    fn place(&mut self, _index: usize, input: &[u8], buffer: &mut [u8]) {
        copy(input, buffer);
    }

    #[inline(always)]
    fn call(&mut self, buffer: &mut [u8]) {
        for index in 0..self.repeats {
            let result = (self.run.function)(std::hint::black_box(&*buffer));
            self.run.results.keep(index, result);
            settle();
        }
    }

    fn clear(&mut self, _index: usize) {
        self.run.results.clear();
    }
}

struct ChangingCalls<'r, F, R> {
    run: &'r mut Changing<F, R>,
    length: usize,
}

impl<R, F: FnMut(&mut [u8]) -> R> Calls for ChangingCalls<'_, F, R> {
    fn place(&mut self, _index: usize, input: &[u8], buffer: &mut [u8]) {
        copy(input, buffer);
    }

    #[inline(always)]
    fn call(&mut self, buffer: &mut [u8]) {
        for (index, copy) in buffer.chunks_exact_mut(self.length).enumerate() {
            let result = (self.run.function)(std::hint::black_box(copy));
            self.run.results.keep(index, result);
            settle();
        }
    }

    fn clear(&mut self, _index: usize) {
        self.run.results.clear();
    }
}

impl<R, F: FnMut(&[u8]) -> R> Run for Reading<F, R> {
    fn sample(&mut self, clock: &dyn Clock, slots: &mut Slots<'_>) {
        let repeats = slots.repeats;
        self.results.reserve(repeats);
        dispatch(clock, slots, 1, &mut ReadingCalls { run: self, repeats });
    }

    fn many(&mut self, clock: &dyn Clock, input: &mut [u8], calls: u64) -> u64 {
        let function = &mut self.function;
        self.results.many(clock, calls, || function(std::hint::black_box(&*input)))
    }

    fn prepare(&mut self, _input: &[u8]) {
        self.results.reserve(1);
        self.results.clear();
    }

    fn once(&mut self, input: &mut [u8]) {
        let result = (self.function)(std::hint::black_box(&*input));
        self.results.keep(0, result);
    }

    fn changes(&self) -> bool {
        false
    }

    fn most(&self) -> usize {
        Results::<R>::most()
    }
}

impl<R, F: FnMut(&mut [u8]) -> R> Run for Changing<F, R> {
    fn sample(&mut self, clock: &dyn Clock, slots: &mut Slots<'_>) {
        let (length, repeats) = (slots.length, slots.repeats);
        self.results.reserve(repeats);
        dispatch(clock, slots, repeats, &mut ChangingCalls { run: self, length });
    }

    fn many(&mut self, clock: &dyn Clock, input: &mut [u8], calls: u64) -> u64 {
        let function = &mut self.function;
        self.results.many(clock, calls, || function(std::hint::black_box(&mut *input)))
    }

    fn prepare(&mut self, _input: &[u8]) {
        self.results.reserve(1);
        self.results.clear();
    }

    fn once(&mut self, input: &mut [u8]) {
        let result = (self.function)(std::hint::black_box(input));
        self.results.keep(0, result);
    }

    fn changes(&self) -> bool {
        true
    }

    fn most(&self) -> usize {
        Results::<R>::most()
    }
}

/// Calls the measuring loop. If the clock is the processor's counter, uses the loop that is compiled for this counter.
/// Otherwise, uses the general loop.
pub(crate) fn dispatch(clock: &dyn Clock, slots: &mut Slots<'_>, copies: usize, calls: &mut impl Calls) {
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
fn measure<C: Clock, const DELAYED: bool>(clock: &C, slots: &mut Slots<'_>, copies: usize, calls: &mut impl Calls) {
    let buffer = &mut slots.buffer[..slots.length * copies];
    for (index, input) in slots.inputs.chunks_exact(slots.length).enumerate() {
        calls.place(index, input, buffer);
        clock.delay(slots.dither[index]);
        // The copied input must leave the processor's store buffer before the clock starts. If the copied input were
        // still in the store buffer, the time of a load would depend on whether the load and the pending store have the
        // same width.
        fence(Ordering::SeqCst);
        let begin = clock.start();
        calls.call(buffer);
        if DELAYED {
            clock.settle();
            clock.delay(slots.delays[index]);
        }
        let end = clock.stop();
        slots.ticks[index] = end.wrapping_sub(begin);
        calls.clear(index);
    }
}
