//! Does a function's time depend on which class its input is of?
//!
//! The claim a run makes: with probability 1 − α there is no difference above X between these classes, for this binary on this machine, and
//! a shift of the stated size would have been seen nine times in ten. The design gives the null distribution: measurements come in pairs, one
//! of each class, in an order that a coin decides; 256 pairs make a batch, and under the null every batch's difference may change its sign.
//! That holds whatever the noise looks like, so drift, correlation and heavy tails cost power, not truth.
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
mod summary;
mod warm;

use crate::clock::{self, Clock};
use crate::random::Random;
use crate::record::{Design, Timing, Verdict};
use crate::target::Target;
use crate::watch::Watch;
pub(crate) use effect::names;
pub(crate) use pair::Outcome;
pub use settings::Settings;

/// Measures each pair of the target's classes and judges them together.
pub fn run(target: &mut Target, settings: &Settings, clock: &dyn Clock, watch: &mut dyn Watch) -> Timing {
    let pairs = target.pairs();
    let (scale, outcomes, tallies) = measure(target, settings, clock, watch);
    let name = |index: usize| target.classes()[index].name().to_owned();
    let records = pairs.iter().zip(outcomes).map(|(&(a, b), outcome)| outcome.into_record(name(a), name(b))).collect::<Vec<_>>();
    let classes = tallies.into_iter().enumerate().map(|(index, tally)| tally.into_class(name(index), &scale)).collect();
    Timing {
        target: target.name().to_owned(),
        length: target.length(),
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

/// What a run is made from; calibration and selftest look at more of it than a record shows.
pub(crate) fn measure(
    target: &mut Target,
    settings: &Settings,
    clock: &dyn Clock,
    watch: &mut dyn Watch,
) -> (Scale, Vec<Outcome>, Vec<summary::Tally>) {
    let pairs = target.pairs();
    let mut random = Random::new(settings.seed);
    // How many inputs the warm-up needs depends on the clock; what follows must not.
    let scale = warm::scale(target, settings, clock, &mut Random::new(!settings.seed));
    let share = settings.alpha / pairs.len().max(1) as f64;
    let mut tallies = vec![summary::Tally::default(); target.classes().len()];
    let mut bench = pair::Bench { target, settings, scale: &scale, clock };
    let mut lanes = Vec::new();
    let mut outcomes = Vec::new();
    for (index, &(a, b)) in pairs.iter().enumerate() {
        let classes = bench.target.classes();
        let what = format!("{}: {} / {}", bench.target.name(), classes[a].name(), classes[b].name());
        watch.progress(&what, index as u64, pairs.len() as u64);
        let mut lane = pair::Lane::new(&mut bench, [a, b], random.bits());
        let mut outcome = lane.run(&mut bench, share, watch);
        let [earlier_a, earlier_b] = std::mem::take(&mut outcome.earlier);
        let [ticks_a, ticks_b] = lane.take_ticks();
        tallies[a].add(ticks_a);
        tallies[a].add(earlier_a);
        tallies[b].add(ticks_b);
        tallies[b].add(earlier_b);
        lanes.push(lane);
        outcomes.push(outcome);
        if watch.stopped() {
            break;
        }
    }
    judge::holm(&mut outcomes);
    // Holm's correction may find what a fixed share of α did not; that too must repeat.
    for (lane, outcome) in lanes.iter_mut().zip(&mut outcomes) {
        let open = matches!(outcome.verdict, Verdict::NoLeakAbove | Verdict::Inconclusive) && outcome.confirmed.is_none();
        if !open || outcome.p_holm > settings.alpha || watch.stopped() {
            continue;
        }
        match lane.repeat(&mut bench, share, outcome.p, watch) {
            Some(mut again) => {
                (again.p_holm, again.funnel) = (outcome.p_holm, std::mem::take(&mut outcome.funnel));
                *outcome = again;
            }
            None => (outcome.verdict, outcome.reason) = (Verdict::Inconclusive, pair::NOT_REPEATED.to_owned()),
        }
    }
    (scale, outcomes, tallies)
}

/// What the clock can do and what the calls cost: the same for all pairs of a target.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    /// Calls in one measurement.
    pub(crate) repeats: usize,
    /// Pairs in a batch.
    pub(crate) pairs: usize,
    /// Nanoseconds in a tick.
    pub(crate) tick_ns: f64,
    /// The clock's step in ticks.
    pub(crate) step: u64,
    /// Ticks that a measurement of nothing takes.
    pub(crate) overhead: f64,
    /// Ticks that one call takes, about.
    pub(crate) call: f64,
    /// A difference up to this, per call, is not a leak.
    pub(crate) delta_ns: f64,
    /// Turns of delay in a nanosecond.
    pub(crate) turns_per_ns: f64,
    /// Whether the clock sees the repeated calls at all.
    pub(crate) measurable: bool,
}

impl Scale {
    /// Nanoseconds per call that a difference of so many ticks in a measurement stands for.
    pub(crate) fn per_call(&self, ticks: f64) -> f64 {
        ticks * self.tick_ns / self.repeats as f64
    }

    /// The time per call that a measurement of so many ticks stands for.
    pub(crate) fn absolute(&self, ticks: f64) -> f64 {
        self.per_call((ticks - self.overhead).max(0.0))
    }

    /// The highest number of turns with which a measurement's start is shifted against the clock's steps.
    pub(crate) fn dither(&self) -> u64 {
        ((self.step as f64 * self.tick_ns * self.turns_per_ns).ceil() as u64).clamp(1, 512)
    }
}

/// How many turns of the delay loop a nanosecond has on this clock.
pub(crate) fn turns_per_ns(clock: &dyn Clock) -> f64 {
    warm::turns_per_ns(clock, 1e9 / clock.hertz())
}

/// Clock facts for [`Scale`], measured once for a target.
fn facts(clock: &dyn Clock) -> (f64, u64) {
    (1e9 / clock.hertz(), clock::step(clock))
}
