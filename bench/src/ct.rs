//! Compares `deadpan-ct` with subtle, ctutils, cmov, constant_time_eq and plain operators.
//!
//! The cells measure the throughput of independent calls. The loop loads operands from arrays in the cache and hides
//! each operand in a register. The loop sinks every result in a register. The loop sinks the result of a comparison in
//! the cheapest form of each library: the mask of `deadpan-ct`, the result of subtle's `unwrap_u8`, the condition byte
//! of cmov, or a `bool`. ctutils has no free form: its `to_u8` contains a `black_box`, which costs a store and a load.
//! The cells *eq, then select* use the choice inside each library, so the cost of `to_u8` does not affect these cells.

mod array;
mod choices;
mod choose;
mod compare;
mod pairs;
mod slice;
mod table;

use crate::barrier::shift;
use crate::cells::Cells;
use deadpan_lab::speed::field::round;

/// Number of operands in each array. All arrays fit into the first-level cache together with the choices. The number of
/// operands is so large that the branch predictor cannot learn the operands.
const LANES: usize = 256;

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    compare::run(bench);
    choose::run(bench);
    array::run(bench);
    slice::run(bench);
    table::run(bench);
}

/// Calls `step` with each lane, and repeats this `turns` times. This is the timed loop of all cells.
///
/// The code contains the loop four times, at different distances from a cache line, and each round uses the next copy
/// of the loop. The reason: the time of a call of a quarter of a nanosecond depends on the address of the instructions,
/// and can change by up to a half.
#[inline(always)]
fn each(turns: usize, mut step: impl FnMut(usize)) {
    match round() % 4 {
        0 => placed::<0>(turns, &mut step),
        1 => placed::<1>(turns, &mut step),
        2 => placed::<2>(turns, &mut step),
        _ => placed::<3>(turns, &mut step),
    }
}

/// The call is written eight times in the loop body, so that the loop itself costs little.
#[inline(always)]
fn placed<const PLACE: usize>(turns: usize, step: &mut impl FnMut(usize)) {
    for _ in 0..turns {
        shift::<PLACE>();
        for lane in (0..LANES).step_by(8) {
            step(lane);
            step(lane + 1);
            step(lane + 2);
            step(lane + 3);
            step(lane + 4);
            step(lane + 5);
            step(lane + 6);
            step(lane + 7);
        }
    }
}
