//! Measures the speed of many functions that do the same work. Each round runs all functions once, in a new random
//! order.
//!
//! A busy machine therefore disturbs all functions equally, and the ratios within a round compare the functions. Each
//! round runs the first function twice. The two times of the first function show how much the time of equal code varies
//! on this machine.
//!
//! ```
//! use std::hint::black_box;
//!
//! use deadpan_lab::speed::field::{Effort, Field};
//!
//! let work = |steps: u64| {
//!     move |turns: usize| {
//!         black_box((0..turns as u64 * steps).fold(0, |sum, step| black_box(sum ^ step)));
//!     }
//! };
//! let mut field = Field::new();
//! field.enter(1, work(1000));
//! field.enter(1, work(2000));
//! let lanes = field.run(&Effort::quick());
//! assert!(lanes.seconds.len() == 2 && lanes.seconds[0].len() == lanes.seconds[1].len());
//! ```

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::distribution::median;
use crate::random::Random;

/// The number of the present round. If the program contains several copies of a function's loop, this number selects a
/// copy.
static ROUND: AtomicUsize = AtomicUsize::new(0);

/// The time of a turn. A turn (one timed series of calls) takes far longer than a reading of the clock, and far less
/// than a time slice of the scheduler.
const TURN: Duration = Duration::from_micros(25);

/// Returns the number of the present round, which is the same for all functions.
#[must_use]
pub fn round() -> usize {
    ROUND.load(Relaxed)
}

/// The length of a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The intended time of all rounds.
    pub time: Duration,
    /// The smallest number of rounds. If a round takes long because the functions are slow, the measurement makes
    /// exactly this number of rounds.
    pub least: usize,
    /// The largest number of rounds.
    pub most: usize,
}

impl Effort {
    /// Returns settings for half a second, but for at least 31 rounds.
    #[must_use]
    pub fn full() -> Self {
        Self { time: Duration::from_millis(500), least: 31, most: 4000 }
    }

    /// Returns settings for a short measurement that only tests whether the functions run.
    #[must_use]
    pub fn quick() -> Self {
        Self { time: Duration::from_millis(70), least: 5, most: 4000 }
    }
}

struct Entry<'a> {
    calls: usize,
    turn: Box<dyn FnMut(usize) + 'a>,
}

/// A set of functions to measure.
#[derive(Default)]
pub struct Field<'a> {
    entries: Vec<Entry<'a>>,
    before: Option<Box<dyn FnMut() + 'a>>,
}

/// The measured times of a [`Field`].
#[derive(Clone, Debug)]
pub struct Lanes {
    /// For each function and each round, the time of one call in seconds.
    pub seconds: Vec<Vec<f64>>,
    /// The median, over all rounds, of the ratio between the two times of the first function in a round. On a machine
    /// without noise, this ratio would be 1.
    pub echo: f64,
}

impl<'a> Field<'a> {
    /// Creates a field without functions.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets an action that runs before each round, outside of the measured time.
    pub fn before_round(&mut self, action: impl FnMut() + 'a) {
        self.before = Some(Box::new(action));
    }

    /// Adds a function: `turn(n)` makes `n * calls` calls.
    pub fn enter(&mut self, calls: usize, turn: impl FnMut(usize) + 'a) {
        self.entries.push(Entry { calls, turn: Box::new(turn) });
    }

    /// Gives each function, with its number of calls in a turn, to `action`, in the order in which they were added.
    /// Nothing is measured: use this to count instructions.
    pub fn each(self, mut action: impl FnMut(usize, &mut dyn FnMut(usize))) {
        for mut entry in self.entries {
            action(entry.calls, &mut *entry.turn);
        }
    }

    /// Measures all functions.
    ///
    /// # Panics
    /// Panics if no function was added.
    #[must_use]
    pub fn run(mut self, effort: &Effort) -> Lanes {
        let turns: Vec<usize> = self.entries.iter_mut().map(calibrate).collect();
        let round: f64 =
            self.entries.iter_mut().zip(&turns).map(|(entry, &n)| time(entry, n) * (n * entry.calls) as f64).sum();
        let rounds = ((effort.time.as_secs_f64() / round) as usize).clamp(effort.least, effort.most);
        let echo = self.entries.len();
        let mut seconds = vec![Vec::with_capacity(rounds); echo + 1];
        let mut order: Vec<usize> = (0..=echo).collect();
        let mut random = Random::new(1);
        for round in 0..rounds {
            ROUND.store(round, Relaxed);
            random.shuffle(&mut order);
            if let Some(before) = &mut self.before {
                before();
            }
            for &lane in &order {
                let entry = lane % echo;
                seconds[lane].push(time(&mut self.entries[entry], turns[entry]));
            }
        }
        let again = seconds.pop().unwrap_or_default();
        let mut ratios: Vec<f64> = seconds[0].iter().zip(&again).map(|(one, other)| one / other).collect();
        Lanes { seconds, echo: median(&mut ratios) }
    }
}

impl std::fmt::Debug for Field<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Field").field("functions", &self.entries.len()).finish_non_exhaustive()
    }
}

/// Makes one turn (a timed series of calls) and returns the time of one call in seconds.
fn time(entry: &mut Entry<'_>, turns: usize) -> f64 {
    let start = Instant::now();
    (entry.turn)(turns);
    start.elapsed().as_secs_f64() / (turns * entry.calls) as f64
}

/// Returns the argument `turns` for which one timed series of calls takes the time [`TURN`]. The calls also warm up
/// caches and branch predictors.
fn calibrate(entry: &mut Entry<'_>) -> usize {
    let mut turns = 1;
    loop {
        // The shortest of three measured times is used, because other programs may interrupt a turn.
        let best = (0..3).map(|_| time(entry, turns)).fold(f64::INFINITY, f64::min) * (turns * entry.calls) as f64;
        if best * 4.0 >= TURN.as_secs_f64() {
            return ((TURN.as_secs_f64() / best * turns as f64).round() as usize).max(1);
        }
        turns *= 2;
    }
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;

    #[test]
    fn a_function_that_does_more_takes_longer_in_most_rounds() {
        let work = |steps: u64| {
            move |turns: usize| {
                black_box((0..turns as u64 * steps).fold(0, |sum, step| black_box(sum ^ step)));
            }
        };
        // Other programs can disturb a measurement so much that a ratio is wrong, but they do not disturb all of a
        // hundred measurements.
        let found = (0..100).any(|_| {
            let mut rounds = 0;
            let mut field = Field::new();
            field.before_round(|| rounds += 1);
            field.enter(1, work(10_000));
            field.enter(2, work(40_000));
            let lanes = field.run(&Effort { time: Duration::from_millis(5), least: 31, most: 31 });
            assert!(lanes.seconds.iter().all(|seconds| seconds.len() == 31) && rounds == 31);
            let mut ratios: Vec<f64> = lanes.seconds[1].iter().zip(&lanes.seconds[0]).map(|(b, a)| b / a).collect();
            (1.2..3.3).contains(&median(&mut ratios)) && (0.5..2.0).contains(&lanes.echo)
        });
        assert!(found, "no field finds that the second function takes twice as long");
    }
}
