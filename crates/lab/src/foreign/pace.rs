//! A worker's clock. To find the properties of the worker's clock, the lab requests measurements that contain only
//! delays and no call.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use super::Error;
use super::worker::{NO_CALL, Request, Shared};
use crate::clock::Clock;
use crate::distribution::median;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Pace {
    /// The clock's step in ticks.
    pub(super) step: u64,
    /// The number of ticks of a measurement without a call.
    pub(super) overhead: f64,
    /// The number of ticks of an iteration of the delay loop.
    pub(super) turn_ticks: f64,
}

/// The number of measurements in a request.
const COUNT: usize = 512;
/// The number of requests during which a compiler in the worker can compile the delay loop.
const ROUNDS: usize = 40;
/// Iterations of a long delay.
const LONG: u32 = 4000;

/// Measures delays in the worker until their times are stable.
pub(super) fn measure(shared: &Shared) -> Result<Pace, Error> {
    let delays = |within: &[u32], ticks: &mut [u64]| {
        let before: Vec<u32> = (0..within.len() as u32).map(|slot| 1 + slot % 61).collect();
        let request = Request { target: NO_CALL, repeats: 1, before: &before, within, length: 0, inputs: &[] };
        shared.exchange(&request, ticks)
    };
    let mut ticks = vec![0; COUNT];
    for _ in 0..ROUNDS {
        delays(&vec![61; COUNT], &mut ticks)?;
    }
    let varied: Vec<u32> = (0..COUNT as u32).map(|slot| slot % 61).collect();
    let mut steps = Vec::new();
    for _ in 0..4 {
        delays(&varied, &mut ticks)?;
        steps.extend_from_slice(&ticks);
    }
    let mut typical = |turns: u32| -> Result<f64, Error> {
        let count = if turns > 0 { 64 } else { COUNT };
        delays(&vec![turns; count], &mut ticks[..count])?;
        Ok(median(&mut ticks[..count].iter().map(|&ticks| ticks as f64).collect::<Vec<_>>()))
    };
    let overhead = typical(0)?;
    let turn_ticks = ((typical(LONG)? - overhead) / f64::from(LONG)).max(1e-6);
    Ok(Pace { step: step(steps), overhead, turn_ticks })
}

/// Computes the step of a clock from many time differences. If the system converts the values of a counter to
/// nanoseconds, the differences are multiples of the counter's step, plus or minus a nanosecond. The function therefore
/// treats values that differ by at most a nanosecond as the same value.
fn step(mut ticks: Vec<u64>) -> u64 {
    ticks.sort_unstable();
    let divisor = ticks.iter().copied().fold(0, divisor);
    if divisor > 1 {
        return divisor;
    }
    ticks.truncate(ticks.len() * 9 / 10);
    let (mut starts, mut last) = (Vec::new(), None);
    for ticks in ticks {
        if last.is_none_or(|last| ticks > last + 2) {
            starts.push(ticks);
        }
        last = Some(ticks);
    }
    let mut gaps: Vec<f64> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
    if gaps.len() < 2 { 1 } else { (median(&mut gaps) as u64).max(1) }
}

pub(super) fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// The clock of a worker. The properties of this clock come from measurements in the worker. Between measurements, only
/// a delay or a reading advances the time of this clock, by the time that the delay or reading would take in the
/// worker.
#[derive(Clone)]
pub struct WorkerClock {
    shared: Rc<Shared>,
    now: Cell<f64>,
}

impl WorkerClock {
    pub(super) fn new(shared: Rc<Shared>) -> Self {
        Self { shared, now: Cell::new(0.0) }
    }

    fn read(&self) -> u64 {
        let step = self.shared.pace.get().step;
        self.now.get() as u64 / step * step
    }
}

impl Clock for WorkerClock {
    fn start(&self) -> u64 {
        self.read()
    }

    fn stop(&self) -> u64 {
        self.now.set(self.now.get() + self.shared.pace.get().overhead);
        self.read()
    }

    fn hertz(&self) -> f64 {
        self.shared.hello.hertz
    }

    fn name(&self) -> &'static str {
        "worker"
    }

    fn delay(&self, turns: u32) {
        self.now.set(self.now.get() + f64::from(turns) * self.shared.pace.get().turn_ticks);
    }

    fn settle(&self) {}

    fn delays_elsewhere(&self, before: &[u32], within: &[u32], ticks: &mut [u64]) -> bool {
        let before = &before[..ticks.len()];
        let request = Request { target: NO_CALL, repeats: 1, before, within, length: 0, inputs: &[] };
        self.shared.try_exchange(&request, ticks);
        true
    }
}

impl fmt::Debug for WorkerClock {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("WorkerClock").field("pace", &self.shared.pace).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_is_found_behind_rounding_to_nanoseconds() {
        // The counter of this test has steps of 10 ns, and the conversion to nanoseconds has an error of up to 1 ns.
        let rounded: Vec<u64> = (0..600).map(|turn| 50 + 10 * (turn % 7) - u64::from(turn % 3 == 0)).collect();
        assert_eq!(step(rounded), 10);
        assert_eq!(step((0..600).map(|turn| 40 * (turn % 9)).collect()), 40);
        assert_eq!(step((0..600).map(|turn| 100 + turn % 50).collect()), 1);
        assert_eq!(step(vec![0; 10]), 1);
        assert_eq!(step(vec![7; 10]), 7);
    }
}
