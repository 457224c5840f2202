//! `deadpan-ct` beside subtle, ctutils, cmov, constant_time_eq and plain operators.
//!
//! Operands are loaded from arrays in the cache, hidden in registers one by one, and every answer is sunk in a register: the throughput
//! of independent calls. What is sunk of a comparison is what the library hands out without further work: our mask, subtle's
//! `unwrap_u8`, cmov's condition byte, a `bool`. ctutils lets a choice out through `to_u8` only, whose `black_box` costs a store and a
//! load; the cells *eq, then select* consume the choice inside each library and are free of that difference.

mod array;
mod choices;
mod choose;
mod compare;
mod pairs;
mod slice;
mod table;

use crate::barrier::shift;
use crate::bench::Bench;
use crate::race::placement;

/// Operands per array: they stay in the first-level cache together with the choices, and the branch predictor cannot learn them all.
const LANES: usize = 256;

/// Runs every cell.
pub fn run(bench: &mut Bench<'_>) {
    compare::run(bench);
    choose::run(bench);
    array::run(bench);
    slice::run(bench);
    table::run(bench);
}

/// Calls `step` with each lane, `turns` times over: the timed loop of all cells.
///
/// The loop exists four times, at different distances from a cache line, and successive rounds take another one each: where the compiler
/// happens to place the same instructions changes a call of a quarter of a nanosecond by up to a half.
#[inline(always)]
fn each(turns: usize, mut step: impl FnMut(usize)) {
    match placement() % 4 {
        0 => placed::<0>(turns, &mut step),
        1 => placed::<1>(turns, &mut step),
        2 => placed::<2>(turns, &mut step),
        _ => placed::<3>(turns, &mut step),
    }
}

/// Written out eight times, so that the loop around the calls costs little.
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
