//! A window is one timed series of calls of a target on one input.

use crate::clock::Clock;
use crate::random::Random;
use crate::target::buffer::Buffer;
use crate::target::{Slots, Target};

/// If a target changes its input, each call in a window gets its own copy of the input. The maximum total size of these
/// copies in bytes. Copies of this total size still fit into the second-level cache.
const COPIES: usize = 256 << 10;

/// Returns the maximum number of calls in one window on inputs of this class.
pub(crate) fn most(target: &mut Target, class: usize) -> u64 {
    if !target.run().changes() {
        return u64::MAX;
    }
    if target.run().prepared() {
        // The code first prepares one input, because the maximum number of calls depends on the time of a preparation.
        let mut input = vec![0; target.length()];
        target.fill(class, &mut Random::new(0), &mut input);
        target.run().prepare(&input);
    }
    let room = (COPIES / target.length()).max(1);
    room.min(target.run().most()) as u64
}

/// Measures a window of `calls` calls and returns the elapsed ticks. `calls` is at most the result of [`most`]. The
/// function copies `input` to `buffer` before it starts the clock.
pub(crate) fn ticks(target: &mut Target, clock: &dyn Clock, input: &[u8], buffer: &mut Buffer, calls: u64) -> u64 {
    let length = target.length();
    let run = target.run();
    if !run.changes() {
        let bytes = buffer.bytes(length);
        bytes.copy_from_slice(input);
        return run.many(clock, bytes, calls);
    }
    let mut ticks = [0];
    let repeats = calls as usize;
    let buffer = buffer.bytes(length * repeats);
    run.sample(
        clock,
        &mut Slots { inputs: input, length, repeats, dither: &[0], delays: &[], depth: 0, buffer, ticks: &mut ticks },
    );
    ticks[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::System;

    #[test]
    fn each_call_of_a_target_that_changes_its_input_gets_a_fresh_copy() {
        let mut target = Target::in_place("flip", 3, |input| {
            assert_eq!(input, [1, 2, 3]);
            input.fill(0);
        });
        let mut buffer = Buffer::new();
        assert_eq!(most(&mut target, 0), (COPIES / 3) as u64);
        for calls in [1, 2, 500] {
            buffer.relocate(Buffer::LINE, &mut Random::new(calls));
            ticks(&mut target, &System::new(), &[1, 2, 3], &mut buffer, calls);
        }
    }
}
