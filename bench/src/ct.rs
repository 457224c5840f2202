//! Compares `deadpan-ct` with subtle, ctutils, cmov, constant_time_eq and plain operators.
//!
//! Each cell measures how many independent calls run in a given time. The loop loads operands from arrays in the cache
//! and hides each operand in a register. The loop passes every result to `sink` in a register. Results of comparisons
//! are passed to `sink` in the cheapest form of each library: the mask of `deadpan-ct`, the result of subtle's
//! `unwrap_u8`, the condition byte of cmov, or a `bool`. ctutils has no such form: its `to_u8` contains a `black_box`,
//! which costs a store and a load. In the cells *eq, then select*, each library uses its own result type directly, so
//! the cost of `to_u8` does not affect these cells.

mod array;
mod choices;
mod choose;
mod compare;
mod pairs;
mod slice;
mod table;

use crate::barrier::shift;
use crate::cells::{Cell, Cells, Role};
use deadpan_lab::speed::field::round;

/// Number of operands in each array. All arrays and all choices together fit into the first-level cache. The number of
/// operands is so large that the branch predictor cannot learn the operands.
const LANES: usize = 256;

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    compare::run(bench);
    choose::run(bench);
    array::run(bench);
    slice::run(bench);
    table::run(bench);
    let mode = "with_data_independent_timing";
    if cfg!(target_arch = "aarch64") && bench.wants("ct", mode) {
        let mut cell = Cell::new("ct", mode, None);
        cell.call("deadpan", Role::Ours, || deadpan_ct::with_data_independent_timing(|| ()));
        bench.run(cell);
    }
}

/// Calls `step` once for each array index, and repeats this `turns` times. This is the timed loop of all cells.
///
/// The machine code contains the loop four times, at different distances from a cache line, and each round uses the
/// next of these four copies. The reason: a call that takes a quarter of a nanosecond can become slower or faster by up
/// to a half, depending on the address of its instructions.
#[inline(always)]
fn each(turns: usize, mut step: impl FnMut(usize)) {
    match round() % 4 {
        0 => placed::<0>(turns, &mut step),
        1 => placed::<1>(turns, &mut step),
        2 => placed::<2>(turns, &mut step),
        _ => placed::<3>(turns, &mut step),
    }
}

/// The loop body contains the call eight times, so that the loop itself costs little.
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
