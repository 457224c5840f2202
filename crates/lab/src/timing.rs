//! Tests whether the time of a function depends on the class of its input.
//!
//! A run that finds no difference makes two statements. First, with probability 1 − α, the times of the classes differ
//! by at most X for this binary on this machine. Second, the run would have detected a shift of the stated size with a
//! probability of 90 %. The null distribution of the test follows from the design of the measurement. Measurements come
//! in pairs, one measurement of each class, and a random bit decides which class comes first. A batch has 256 pairs.
//! Under the null hypothesis, a batch's difference d and its negative, -d, are equally likely. This symmetry holds for
//! any noise. Drift, correlation and heavy tails therefore reduce the power of the test, but do not cause false alarms.
//!
//! ```no_run
//! use deadpan_lab::{Silent, Target, clock, timing};
//!
//! let mut target = Target::new("parity", 32, |input| input.iter().fold(0, |sum, byte| sum ^ byte))
//!     .fixed("zeros", &[0; 32])
//!     .class("random", |random, input| random.fill(input));
//! let report = timing::run(&mut target, &timing::Settings::default(), &*clock::best(), &mut Silent);
//! println!("{}: {}", report.verdict, report.pairs[0].reason);
//! ```

mod batch;
mod control;
mod cuts;
mod effect;
mod flips;
mod judge;
mod pair;
mod settings;
mod spent;
mod summary;
mod warm;

use crate::clock::{self, Clock};
use crate::random::Random;
use crate::record::{Design, Timing, Verdict};
use crate::target::Target;
use crate::watch::Watch;
pub(crate) use effect::names;
pub(crate) use pair::PairOutcome;
pub use settings::Settings;
use spent::Spent;

/// Measures each pair of the target's classes and judges all pairs together.
///
/// # Panics
///
/// Panics if a setting is not valid, for example if the threshold is not a number.
pub fn run(target: &mut Target, settings: &Settings, clock: &dyn Clock, watch: &mut dyn Watch) -> Timing {
    let pairs = target.pairs();
    let (scale, outcomes, tallies) = measure(target, settings, clock, watch);
    let name = |index: usize| target.classes()[index].name().to_owned();
    let records = pairs
        .iter()
        .zip(outcomes)
        .map(|(&(a, b), outcome)| outcome.into_record(name(a), name(b), scale.delta_ns))
        .collect::<Vec<_>>();
    let scale = Scale { overhead: summary::overhead(&tallies, &scale), ..scale };
    let classes = tallies.into_iter().enumerate().map(|(index, tally)| tally.into_class(name(index), &scale)).collect();
    Timing {
        target: target.name().to_owned(),
        length: target.recorded_length(),
        repeats: scale.repeats as u32,
        design: Design {
            pairs_per_batch: scale.pairs,
            looks: settings.looks(),
            alpha: settings.alpha,
            delta_ns: scale.delta_ns,
            seed: settings.seed,
        },
        classes,
        verdict: records.iter().map(|pair| pair.verdict).max().unwrap_or(Verdict::Inconclusive),
        pairs: records,
        trace: None,
    }
}

/// Measures each pair of classes and returns the scale, the outcomes and the times of each class. The calibration and
/// the selftest call this function because they need values that [`Timing`] does not contain.
pub(crate) fn measure(
    target: &mut Target,
    settings: &Settings,
    clock: &dyn Clock,
    watch: &mut dyn Watch,
) -> (Scale, Vec<PairOutcome>, Vec<summary::Tally>) {
    settings.check();
    let pairs = target.pairs();
    let spent = Spent::new(settings.spare.as_secs_f64());
    let mut random = Random::new(settings.seed);
    // The warm-up uses a separate random generator. The reason is that the number of inputs in the warm-up depends on
    // the clock, but the measured inputs must depend only on the seed.
    let scale = warm::scale(target, settings, clock, &mut Random::new(!settings.seed));
    let share = settings.alpha / pairs.len().max(1) as f64;
    let mut tallies = vec![summary::Tally::default(); target.classes().len()];
    let mut bench = pair::Bench { target, settings, scale: &scale, clock };
    let mut lanes: Vec<pair::Lane> = Vec::new();
    let limit = settings.time_limit.as_secs_f64();
    let mut outcomes = Vec::new();
    for (index, &(a, b)) in pairs.iter().enumerate() {
        let classes = bench.target.classes();
        let what = format!("{}: {} / {}", bench.target.name(), classes[a].name(), classes[b].name());
        watch.progress(&what, index as u64, pairs.len() as u64);
        let left = (limit - spent.seconds()).max(0.0);
        let allowed = (left / 2.0).max(left / (pairs.len() - index) as f64);
        let mut lane = pair::Lane::new(&mut bench, [a, b], random.bits(), allowed, spent.spare());
        let mut outcome = lane.run(&mut bench, share, watch);
        for times in [std::mem::take(&mut outcome.earlier), lane.take_ticks()] {
            tallies[a].add(&times[0]);
            tallies[b].add(&times[1]);
        }
        lanes.push(lane);
        outcomes.push(outcome);
        if watch.stopped() {
            break;
        }
    }
    judge::holm(&mut outcomes);
    // After Holm's correction, a difference may be significant that was not significant in any earlier evaluation. The
    // test must find this difference again in new data.
    for (lane, outcome) in lanes.iter_mut().zip(&mut outcomes) {
        let open =
            matches!(outcome.verdict, Verdict::NoLeakAbove | Verdict::Inconclusive) && outcome.confirmed.is_none();
        if !open || lane.refuted() || outcome.p_holm > settings.alpha || watch.stopped() {
            continue;
        }
        if let Some(mut again) = lane.repeat(&mut bench, share, outcome.p, watch) {
            (again.p_holm, again.funnel) = (outcome.p_holm, std::mem::take(&mut outcome.funnel));
            *outcome = again;
        }
    }
    (scale, outcomes, tallies)
}

/// A measurement is slow if it takes more than this number of clock steps.
const SLOW: f64 = 500.0;

/// The properties of the clock, and the duration of a call. All pairs of classes of a target use the same scale.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    /// Number of calls in one measurement.
    pub(crate) repeats: usize,
    /// Number of pairs in a batch.
    pub(crate) pairs: usize,
    /// Length of a tick in nanoseconds.
    pub(crate) tick_ns: f64,
    /// The clock's step in ticks.
    pub(crate) step: u64,
    /// The random delay of a measurement is the sum of two random numbers below this limit. The limit is a number of
    /// iterations of the delay loop.
    pub(crate) dither: u64,
    /// The number of ticks of an empty measurement.
    pub(crate) overhead: f64,
    /// Approximate number of ticks that one call takes.
    pub(crate) call: f64,
    /// The threshold Δ in nanoseconds per call. A difference up to Δ is not a leak.
    pub(crate) delta_ns: f64,
    /// The number of iterations of the delay loop that take one nanosecond together.
    pub(crate) turns_per_ns: f64,
    /// Whether the repeated calls of one measurement together take long enough for the clock.
    pub(crate) measurable: bool,
}

impl Scale {
    /// Converts a difference between two measurements, in ticks, to nanoseconds per call.
    pub(crate) fn per_call(&self, ticks: f64) -> f64 {
        ticks * self.tick_ns / self.repeats as f64
    }

    /// Converts the time of a measurement, in ticks, to nanoseconds per call, without the clock's overhead.
    pub(crate) fn absolute(&self, ticks: f64) -> f64 {
        self.per_call((ticks - self.overhead).max(0.0))
    }

    /// Returns whether a measurement takes so long that one step of the clock is negligible.
    pub(crate) fn is_slow(&self) -> bool {
        self.call * self.repeats as f64 > SLOW * self.step as f64
    }

    pub(crate) fn turn(&self) -> f64 {
        1.0 / (self.turns_per_ns * self.tick_ns)
    }

    /// Draws the random delay of a measurement, in iterations of the delay loop. The delay is the sum of two uniform
    /// random numbers, and the range of each number is as wide as a step of the clock. Because the delay is a sum of
    /// two numbers, measurements start equally often at all times within a step, even if the delay loop is somewhat
    /// faster or slower than measured.
    pub(crate) fn dither(&self, random: &mut Random) -> u32 {
        (1 + random.below(self.dither) + random.below(self.dither)) as u32
    }
}

/// Measures how many iterations of the delay loop take a nanosecond on this clock.
pub(crate) fn turns_per_ns(clock: &dyn Clock) -> f64 {
    let (tick_ns, step) = facts(clock);
    warm::turns_per_ns(clock, tick_ns, step)
}

/// Returns the length of a tick in nanoseconds and the clock's step in ticks, for [`Scale`].
fn facts(clock: &dyn Clock) -> (f64, u64) {
    (1e9 / clock.hertz(), clock::step(clock))
}
