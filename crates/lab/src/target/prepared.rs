//! Functions whose inputs are values of any type. The lab makes these values before the clock starts.
//!
//! Batches, traces and taint checks represent each input as bytes. For a prepared function, these bytes are a
//! [`Draft`]: the class, and the seed for the random numbers from which the lab makes the value. If calls change the
//! value, the lab can therefore make the same value again for each call.
//!
//! The time of a measurement must not depend on the class of the value that was prepared last. The lab therefore makes
//! the values in groups and in random order, and makes no value between the two measurements of a pair. The lab moves
//! the value of each measurement into the same slot, and the function reads the value there. The lab drops no value
//! before all values of the group have been measured. Heap memory that a value owns stays at the address where
//! `prepare` allocated it. Because of the random order, both classes get the same heap addresses on average.

use std::hint::black_box;
use std::time::Instant;

use super::buffer::PAGE;
use super::results::Results;
use super::run::{Calls, Run, Slots, dispatch};
use crate::clock::Clock;
use crate::imp::counter::settle;
use crate::random::Random;

/// The maximum number of inputs that the lab prepares before it measures them.
const GROUP: usize = 32;
/// The approximate maximum time for the preparation of a group, in seconds. This limit also limits the memory of large
/// values, because making a large value takes a long time. A group has at least one pair.
const GROUP_SECONDS: f64 = 10e-3;
/// Maximum number of calls in one measurement, for functions that change their input. Each call gets its own value.
const CHANGED: usize = 64;

/// The bytes that represent a prepared input: the class, and the seed of its random numbers.
pub(crate) struct Draft;

impl Draft {
    pub(crate) const LENGTH: usize = 16;
    /// The number of bytes for the class, which come before the seed.
    pub(crate) const CLASS: usize = 8;

    pub(crate) fn write(class: usize, random: &mut Random, draft: &mut [u8]) {
        draft[..Self::CLASS].copy_from_slice(&(class as u64).to_le_bytes());
        draft[Self::CLASS..].copy_from_slice(&random.bits().to_le_bytes());
    }

    fn read(draft: &[u8]) -> (usize, u64) {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        (word(&draft[..Self::CLASS]) as usize, word(&draft[Self::CLASS..]))
    }
}

/// `CHANGES` is true if the function changes its input.
pub(crate) struct Prepared<T, R, P, F, const CHANGES: bool> {
    classes: Vec<String>,
    prepare: P,
    function: F,
    /// The possible positions of the value during a measurement. Together, the places fill a page. Each batch uses
    /// another place.
    slots: Vec<Option<T>>,
    /// The values of a group, in the order in which they are measured.
    values: Vec<Option<T>>,
    results: Results<R>,
    /// The number of preparations so far, and their total time in seconds.
    preparations: (u64, f64),
}

impl<T, R, P, F, const CHANGES: bool> Prepared<T, R, P, F, CHANGES>
where
    P: FnMut(&mut Random, &str) -> T,
    F: FnMut(&mut T) -> R,
{
    pub(crate) fn new(classes: Vec<String>, prepare: P, function: F) -> Self {
        let (slots, values, results) = (Vec::new(), Vec::new(), Results::new());
        Self { classes, prepare, function, slots, values, results, preparations: (0, 0.0) }
    }

    fn make(&mut self, draft: &[u8]) -> T {
        let (class, seed) = Draft::read(draft);
        let begin = Instant::now();
        let value = (self.prepare)(&mut Random::new(seed), &self.classes[class]);
        self.preparations = (self.preparations.0 + 1, self.preparations.1 + begin.elapsed().as_secs_f64());
        value
    }

    /// Returns the index of the slot that corresponds to the current offset of the buffer in its page. The function
    /// ensures that at least `copies` slots begin at this index.
    fn place(&mut self, buffer: &[u8], copies: usize) -> usize {
        let places = (PAGE / size_of::<Option<T>>().max(1)).max(1);
        if self.slots.len() < places + copies {
            self.slots.resize_with(places + copies, || None);
        }
        buffer.as_ptr().addr() % PAGE * places / PAGE
    }

    /// Makes the values of a group in random order. Makes `copies` equal values for each input.
    fn fill(&mut self, drafts: &[u8], copies: usize) {
        let count = drafts.len() / Draft::LENGTH;
        let mut order: Vec<usize> = (0..count).collect();
        Random::new(!Draft::read(drafts).1).shuffle(&mut order);
        self.values.resize_with(count * copies, || None);
        for index in order {
            for copy in 0..copies {
                self.values[index * copies + copy] = Some(self.make(&drafts[index * Draft::LENGTH..][..Draft::LENGTH]));
            }
        }
    }

    /// Returns the number of inputs in a group. The number is even, so both inputs of a pair are in the same group.
    fn group(&self, copies: usize) -> usize {
        let each = self.preparation() * copies as f64;
        ((GROUP_SECONDS / each.max(1e-9)) as usize).clamp(2, GROUP) & !1
    }
}

struct PreparedCalls<'r, T, R, P, F, const CHANGES: bool> {
    run: &'r mut Prepared<T, R, P, F, CHANGES>,
    place: usize,
    repeats: usize,
}

impl<T, R, P, F, const CHANGES: bool> PreparedCalls<'_, T, R, P, F, CHANGES> {
    fn copies(&self) -> usize {
        if CHANGES { self.repeats } else { 1 }
    }

    /// Exchanges the values in the slots with the values for measurement number `index`.
    fn swap(&mut self, index: usize) {
        let copies = self.copies();
        let values = &mut self.run.values[index * copies..][..copies];
        values.swap_with_slice(&mut self.run.slots[self.place..][..copies]);
    }
}

impl<T, R, P, F: FnMut(&mut T) -> R, const CHANGES: bool> Calls for PreparedCalls<'_, T, R, P, F, CHANGES> {
    fn place(&mut self, index: usize, _draft: &[u8], _buffer: &mut [u8]) {
        self.swap(index);
    }

    #[inline(always)]
    fn call(&mut self, _buffer: &mut [u8]) {
        let copies = self.copies();
        let run = &mut *self.run;
        let slots = &mut run.slots[self.place..][..copies];
        if CHANGES {
            for (index, value) in slots.iter_mut().flatten().enumerate() {
                let result = (run.function)(black_box(value));
                run.results.keep(index, result);
                settle();
            }
        } else if let [Some(value)] = slots {
            for index in 0..self.repeats {
                let result = (run.function)(black_box(value));
                run.results.keep(index, result);
                settle();
            }
        }
    }

    fn clear(&mut self, index: usize) {
        self.run.results.clear();
        self.swap(index);
    }
}

impl<T, R, P, F, const CHANGES: bool> Run for Prepared<T, R, P, F, CHANGES>
where
    P: FnMut(&mut Random, &str) -> T,
    F: FnMut(&mut T) -> R,
{
    fn sample(&mut self, clock: &dyn Clock, slots: &mut Slots<'_>) {
        let repeats = slots.repeats;
        let copies = if CHANGES { repeats } else { 1 };
        let place = self.place(slots.buffer, copies);
        self.results.reserve(repeats);
        let mut from = 0;
        while from < slots.ticks.len() {
            let to = slots.ticks.len().min(from + self.group(copies));
            let inputs = &slots.inputs[from * Draft::LENGTH..to * Draft::LENGTH];
            self.fill(inputs, copies);
            let mut part = Slots {
                inputs,
                length: Draft::LENGTH,
                repeats,
                dither: &slots.dither[from..to],
                delays: if slots.delays.is_empty() { &[] } else { &slots.delays[from..to] },
                depth: slots.depth,
                buffer: &mut *slots.buffer,
                ticks: &mut slots.ticks[from..to],
            };
            dispatch(clock, &mut part, 1, &mut PreparedCalls { run: self, place, repeats });
            self.values.clear();
            from = to;
        }
    }

    fn many(&mut self, clock: &dyn Clock, draft: &mut [u8], calls: u64) -> u64 {
        let place = self.place(draft, 1);
        let value = self.make(draft);
        let value = self.slots[place].insert(value);
        let function = &mut self.function;
        let ticks = self.results.many(clock, calls, || function(black_box(value)));
        self.slots[place] = None;
        ticks
    }

    fn prepare(&mut self, draft: &[u8]) {
        self.place(&[], 1);
        self.results.reserve(1);
        self.results.clear();
        self.slots[0] = None;
        self.slots[0] = Some(self.make(draft));
    }

    fn once(&mut self, _draft: &mut [u8]) {
        if let Some(value) = &mut self.slots[0] {
            let result = (self.function)(black_box(value));
            self.results.keep(0, result);
        }
    }

    fn changes(&self) -> bool {
        CHANGES
    }

    fn most(&self) -> usize {
        if !CHANGES {
            return Results::<R>::most();
        }
        let each = self.preparation().max(1e-9);
        Results::<R>::most().min(((GROUP_SECONDS / each) as usize).clamp(1, CHANGED))
    }

    fn preparation(&self) -> f64 {
        let (count, seconds) = self.preparations;
        if count == 0 { 0.0 } else { seconds / count as f64 }
    }

    fn prepared(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use super::*;
    use crate::clock::Mock;
    use crate::target::Target;

    #[derive(Debug, PartialEq)]
    enum Event {
        Prepared(u64),
        Called(u64),
        Dropped(u64),
    }
    use Event::{Called, Dropped, Prepared};

    struct Value(u64, Rc<RefCell<Vec<Event>>>);

    impl Drop for Value {
        fn drop(&mut self) {
            self.1.borrow_mut().push(Dropped(self.0));
        }
    }

    #[test]
    fn a_group_is_prepared_in_random_order_before_it_is_measured_and_dropped_afterwards() {
        let events: Rc<RefCell<Vec<Event>>> = Rc::default();
        let (preparing, calling) = (events.clone(), events.clone());
        let prepare = move |random: &mut Random, _: &str| {
            let value = Value(random.bits(), preparing.clone());
            preparing.borrow_mut().push(Prepared(value.0));
            value
        };
        let mut target =
            Target::prepared("t", ["a"], prepare, move |value: &Value| calling.borrow_mut().push(Called(value.0)));
        let mut inputs = [0; 40 * Draft::LENGTH];
        let mut random = Random::new(1);
        inputs.chunks_exact_mut(Draft::LENGTH).for_each(|input| target.fill(0, &mut random, input));
        let mut slots = Slots {
            inputs: &inputs,
            length: Draft::LENGTH,
            repeats: 1,
            dither: &[0; 40],
            delays: &[],
            depth: 0,
            buffer: &mut [0; Draft::LENGTH],
            ticks: &mut [0; 40],
        };
        target.run().sample(&Mock::new(1), &mut slots);
        let events = events.borrow();
        assert_eq!(events.len(), 120);
        for (from, count) in [(0, GROUP), (3 * GROUP, 40 - GROUP)] {
            let part = |index: usize| &events[from + index * count..][..count];
            let numbers = |events: &[Event]| {
                let number = |event: &Event| match *event {
                    Prepared(number) | Called(number) | Dropped(number) => number,
                };
                events.iter().map(number).collect::<Vec<u64>>()
            };
            assert!(part(0).iter().all(|event| matches!(event, Prepared(_))), "{events:?}");
            assert!(part(1).iter().all(|event| matches!(event, Called(_))), "{events:?}");
            assert!(part(2).iter().all(|event| matches!(event, Dropped(_))), "{events:?}");
            let (mut prepared, mut called) = (numbers(part(0)), numbers(part(1)));
            assert_ne!(prepared, called);
            prepared.sort_unstable();
            called.sort_unstable();
            assert_eq!(prepared, called);
        }
    }

    #[test]
    fn an_input_is_made_again_from_its_draft() {
        let mut target = Target::prepared("t", ["a", "b"], |random, class| (class.to_owned(), random.bits()), |_| ());
        let mut draft = [0; Draft::LENGTH];
        target.fill(1, &mut Random::new(8), &mut draft);
        assert_eq!(Draft::read(&draft), (1, Random::new(8).bits()));
    }
}
