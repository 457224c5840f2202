//! `deadpan-ct` beside subtle, ctutils, cmov, constant_time_eq and plain operators.
//!
//! The cells measure the throughput of independent calls: operands are loaded from arrays in the cache and hidden in
//! registers one by one, and every answer is sunk in a register. The answer of a comparison is sunk in the form that
//! costs the library nothing: our mask, subtle's `unwrap_u8`, cmov's condition byte, a `bool`. The only such form of
//! ctutils is `to_u8`, whose `black_box` costs a store and a load. The cells *eq, then select* use the choice inside
//! each library and do not have this difference.

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

/// Operands per array. They fit in the first-level cache together with the choices, and are too many for the branch
/// predictor to learn.
const LANES: usize = 256;

/// Measures every cell.
pub fn run(bench: &mut Cells<'_>) {
    compare::run(bench);
    choose::run(bench);
    array::run(bench);
    slice::run(bench);
    table::run(bench);
}

/// Calls `step` with each lane, `turns` times. This is the timed loop of all cells.
///
/// The loop exists four times, at different distances from a cache line, and each round takes the next one. The place
/// of the same instructions changes the time of a call of a quarter of a nanosecond by up to a half.
#[inline(always)]
fn each(turns: usize, mut step: impl FnMut(usize)) {
    match round() % 4 {
        0 => placed::<0>(turns, &mut step),
        1 => placed::<1>(turns, &mut step),
        2 => placed::<2>(turns, &mut step),
        _ => placed::<3>(turns, &mut step),
    }
}

/// The call is written eight times, so that the loop costs little.
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
