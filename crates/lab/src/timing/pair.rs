//! Measures one pair of classes in rounds. The test evaluates the data after fixed numbers of batches. If the test
//! finds a difference, it must find this difference again on fresh data.

mod cell;
mod collect;
mod course;
mod outcome;

use super::batch::Batcher;
use super::control::Leaky;
use super::effect::{self, BODY};
use super::judge::{DECIDING, MOST_CALLS};
use super::{Scale, Settings, Spent, flips, judge};
use crate::clock::Clock;
use crate::random::Random;
use crate::record::{Control, Controls, Effect, Interval, Look, Verdict};
use crate::target::Target;
use crate::watch::Watch;
use cell::Cell;
use collect::{Filled, Kind};
use course::{Course, tests};
pub(crate) use outcome::PairOutcome;

/// The significance level at which the test must find the added difference of a control.
const MUST_BE_FOUND: f64 = 0.01;
/// The control that compares a class with itself fails if the test finds a difference at this significance level.
const MUST_NOT_FIRE: f64 = 0.001;
/// The number of evaluations of the fresh data. Each evaluation uses twice as many batches as the evaluation before.
/// The first evaluation uses a quarter of the number of batches in which the difference was found. A quarter is enough,
/// because the test on fresh data checks only one statistic, but the first test checked two dozen statistics.
const AGAIN: u32 = 4;
/// The minimum number of batches for the first evaluation of the fresh data. With 12 batches, the probability that all
/// batches differ in one given direction by chance is 2⁻¹².
const FEWEST: usize = 12;
/// If there is enough time, the warm-up chooses the cut points from at least this number of pairs.
const SETTLING: usize = 16;
/// If a class differs from itself, the run is repeated at most this number of times. By chance, a class differs from
/// itself in one of a thousand runs.
const SAME_AGAIN: u32 = 3;
/// Maximum number of pairs of measurements that are stored.
pub(crate) const MOST_PAIRS: usize = 1 << 23;

pub(crate) struct Bench<'b> {
    pub(crate) target: &'b mut Target,
    pub(crate) settings: &'b Settings,
    pub(crate) scale: &'b Scale,
    pub(crate) clock: &'b dyn Clock,
}

pub(crate) struct Lane {
    classes: [usize; 2],
    random: Random,
    /// A separate random generator for the sign flips. The number of sign flips varies, so the flips must not change
    /// the inputs.
    flips: Random,
    batcher: Batcher,
    leaky: Leaky,
    leaky_batcher: Batcher,
    main: Cell,
    same: Cell,
    delay: Cell,
    leak: Cell,
    /// The delay that the control adds, in iterations of the delay loop.
    delay_turns: u32,
    rounds: usize,
    /// The measuring time so far, in seconds.
    measuring: f64,
    /// The processor time of the measurements so far, in seconds.
    processor: f64,
    spent: Spent,
    /// The maximum time for this pair of classes, in seconds. This time includes the computations between the
    /// measurements.
    allowed: f64,
    /// Whether the test found a difference that fresh data did not confirm.
    refuted: bool,
}

impl Lane {
    /// Creates the state and finds the cut points. The times of this warm-up are not part of the data. `allowed` is the
    /// maximum time for the pair in seconds. The pair gets up to `spare` additional seconds as compensation for time in
    /// which other programs use the processor.
    pub(crate) fn new(bench: &mut Bench<'_>, classes: [usize; 2], seed: u64, allowed: f64, spare: f64) -> Self {
        let scale = bench.scale;
        let leaky = Leaky::like(scale);
        let (length, changes) = (bench.target.length(), bench.target.run().changes());
        // The control's delay is 2 Δ, because a run that rules out differences above Δ must be able to detect such
        // differences. If Δ is zero, the delay is one clock step.
        let twice = 2.0 * bench.scale.delta_ns * scale.repeats as f64;
        let delay_ns = if twice > 0.0 { twice } else { scale.step as f64 * scale.tick_ns };
        let turns = (delay_ns * scale.turns_per_ns).round().clamp(1.0, 1e9) as u32;
        let mut lane = Self {
            classes,
            random: Random::new(seed),
            flips: Random::new(!seed),
            batcher: Batcher::new(length, scale.repeats, changes),
            leaky_batcher: Batcher::new(2 * leaky.bytes, leaky.repeats, false),
            leaky,
            main: Cell::default(),
            same: Cell::default(),
            delay: Cell::default(),
            leak: Cell::default(),
            delay_turns: turns,
            rounds: 0,
            measuring: 0.0,
            processor: 0.0,
            spent: Spent::new(spare),
            allowed,
            refuted: false,
        };
        lane.warm_up(bench);
        lane
    }

    fn warm_up(&mut self, bench: &mut Bench<'_>) {
        let step = bench.scale.step as f32;
        let pairs = bench.scale.pairs;
        // If calls are fast, eight rounds are enough for a 99.9 % quantile. If batches are small, the warm-up makes as
        // many rounds as it needs for enough pairs, but at least two rounds.
        let rounds = if pairs < bench.settings.pairs { SETTLING.div_ceil(pairs).max(2) } else { 8 };
        let before = self.measuring;
        for round in 0..rounds {
            // For a slow function, the cut points come from only a few calls, because otherwise no time would be left
            // to measure.
            if round > 0 && self.measuring - before > self.allowed / 8.0 {
                break;
            }
            self.take(bench, Kind::Main, pairs);
        }
        for kind in [Kind::Delay, Kind::Leak] {
            self.take(bench, kind, if pairs < 8 { 1 } else { pairs.min(128) });
        }
        for cell in [&mut self.main, &mut self.delay, &mut self.leak] {
            cell.settle(step);
        }
        self.same = self.main.fresh();
    }

    /// Measures until the verdict is decided or the time is over. If the test finds a difference between a class and
    /// itself, the run is discarded and repeated.
    pub(crate) fn run(&mut self, bench: &mut Bench<'_>, share: f64, watch: &mut dyn Watch) -> PairOutcome {
        let mut outcome = self.measure(bench, share, watch);
        for _ in 0..SAME_AGAIN {
            if outcome.facts.controls.same.passed || watch.stopped() || outcome.facts.effects.is_empty() {
                break;
            }
            self.restart(bench);
            outcome = self.measure(bench, share, watch);
        }
        outcome
    }

    fn measure(&mut self, bench: &mut Bench<'_>, share: f64, watch: &mut dyn Watch) -> PairOutcome {
        if let Some(why) = crate::emulation::of_clock(bench.clock) {
            return self.conclude(bench, share, Verdict::Unmeasurable, why.to_owned(), 1.0);
        }
        if !bench.scale.measurable {
            let why = "the calls are too fast for the clock".to_owned();
            return self.conclude(bench, share, Verdict::Unmeasurable, why, 1.0);
        }
        let settings = bench.settings;
        let level = share / f64::from(tests(settings));
        let mut course = Course::new(settings);
        loop {
            let filled = self.fill_up(bench, course.size(), watch);
            if filled == Filled::Stopped {
                let why = "interrupted".to_owned();
                return self.conclude(bench, level, Verdict::Inconclusive, why, course.p).with_funnel(course.funnel);
            }
            course.look();
            let over = course.over() || filled == Filled::Late || !self.has_time_for(self.main.batches());
            if !effect::enough(self.main.batches(), level) && !over {
                continue;
            }
            let here = flips::p_value(&self.main.scores, level, &mut self.flips);
            let (effects, _) = self.intervals(bench, level);
            let difference = effects.first().map_or_else(Interval::default, |effect| effect.difference);
            course.test(Look { batches: self.main.batches(), p: here, difference });
            if here <= level {
                if let Some(outcome) = self.repeat(bench, share, course.p, watch) {
                    return outcome.with_funnel(course.funnel);
                }
                // The fresh data did not show the difference. The run continues and uses only the fresh data from now
                // on.
                course.continue_from(self.main.batches());
                if course.may_test() && self.has_time_for(self.main.batches()) {
                    continue;
                }
            }
            let enough = judge::suffices(&effects, self.spent() / self.allowed);
            let settled = settings.stop_early && bench.scale.delta_ns > 0.0 && enough;
            if !settled && !over {
                continue;
            }
            let up_to = judge::inside_up_to(&effects).filter(|_| settled).unwrap_or(MOST_CALLS);
            let outcome = self.conclude(bench, level, Verdict::NoLeakAbove, String::new(), course.p).rest_on(up_to);
            let outcome = self.with_better_controls(bench, outcome, up_to, watch);
            if outcome.verdict == Verdict::NoLeakAbove {
                return outcome.with_funnel(course.funnel);
            }
            if course.may_test() && self.is_worth_more(&outcome) {
                continue;
            }
            let up_to = judge::inside_up_to(&outcome.facts.effects).unwrap_or(BODY);
            let outcome = self.with_better_controls(bench, outcome.rest_on(up_to), up_to, watch);
            return outcome.with_funnel(course.funnel);
        }
    }

    /// If the test did not find the added difference of a control, tries again with more data for the control. The
    /// control may have had too little data, so the function first measures as many pairs for the control as for the
    /// comparison. When the control has more data, the function derives the verdict again. The verdict depends only on
    /// statistics of at most the share `up_to` of the calls.
    fn with_better_controls(
        &mut self,
        bench: &mut Bench<'_>,
        mut outcome: PairOutcome,
        up_to: f64,
        watch: &mut dyn Watch,
    ) -> PairOutcome {
        let controls = &outcome.facts.controls;
        if outcome.verdict != Verdict::Invalid || !controls.same.passed {
            return outcome;
        }
        outcome.facts.controls = self.better_controls(bench, controls.clone(), watch);
        outcome.rest_on(up_to)
    }

    /// If a control with an added difference failed because the test did not find the difference, repeats this control.
    /// Each repeated control gets as many batches as the comparison.
    fn better_controls(&mut self, bench: &mut Bench<'_>, controls: Controls, watch: &mut dyn Watch) -> Controls {
        let deaf = [(Kind::Delay, controls.delay.passed), (Kind::Leak, controls.leak.passed)];
        for (kind, _) in deaf.into_iter().filter(|(_, passed)| !passed) {
            for _ in 0..self.rounds.max(FEWEST) {
                if watch.stopped() {
                    return controls;
                }
                self.take(bench, kind, bench.scale.pairs);
            }
        }
        // The control that compares a class with itself has no new data, so its result does not change.
        Controls { same: controls.same, ..self.controls(bench) }
    }

    /// Returns whether more data may change an inconclusive outcome in the remaining time. The next look doubles the
    /// data.
    fn is_worth_more(&self, outcome: &PairOutcome) -> bool {
        let pairs = self.main.pairs();
        let within_reach = |needed: Option<u64>| {
            // The estimate of the needed number of pairs is rough, so the run continues even if there is only time for
            // half of this number.
            needed.is_none_or(|more| {
                self.has_time_for((more as f64 / 2.0 / pairs.max(1) as f64 * self.main.batches() as f64) as usize)
            })
        };
        let settled = judge::inside_up_to(&outcome.facts.effects).unwrap_or(0.0);
        let mut better = DECIDING.into_iter().filter(|&up_to| up_to > settled);
        2 * pairs <= MOST_PAIRS
            && self.has_time_for(self.main.batches())
            && (outcome.verdict != Verdict::Inconclusive
                || better.any(|up_to| within_reach(judge::more_pairs(&outcome.facts, up_to))))
    }

    fn has_time_for(&self, batches: usize) -> bool {
        self.spent() + self.seconds_for(batches) <= self.allowed
    }

    /// Returns the number of seconds since the start that count toward the time limit.
    fn spent(&self) -> f64 {
        self.spent.seconds()
    }

    /// Estimates the time, in seconds, that `batches` more batches take. The estimate is computed from the batches so
    /// far. As long as additional time (`spare`) is left, only processor time counts.
    fn seconds_for(&self, batches: usize) -> f64 {
        let measuring = if self.spent.spare() > 0.0 { self.processor } else { self.measuring };
        measuring / self.rounds.max(1) as f64 * batches as f64
    }

    /// Tests with fresh data whether a found difference is real, and returns the outcome. The intervals of the outcome
    /// come only from the fresh data. The measurement continues until the intervals show whether the difference is
    /// larger than Δ, or until the time is over. If the fresh data do not confirm the difference, returns `None`, and
    /// the fresh data replace the old data.
    pub(crate) fn repeat(
        &mut self,
        bench: &mut Bench<'_>,
        share: f64,
        p: f64,
        watch: &mut dyn Watch,
    ) -> Option<PairOutcome> {
        let first = self.main.batches();
        let level = share / f64::from(tests(bench.settings));
        // The test on fresh data uses only the statistic and the direction in which the difference was found. A test of
        // one statistic needs little fresh data.
        let (place, found) = self.main.strongest();
        let fresh = self.main.fresh();
        let old = std::mem::replace(&mut self.main, fresh);
        // If the test finds a difference when the time is over, the run gets more time to measure fresh data.
        self.allowed = self.allowed.max(self.spent() + self.seconds_for(first));
        let (mut again, each) = (None, MUST_BE_FOUND / f64::from(AGAIN));
        for look in 0..AGAIN {
            let filled = self.fill_up(bench, ((first << look) / 4).max(FEWEST << look), watch);
            let here = flips::p_value_at(&self.main.scores, place, each, &mut self.flips);
            again = (here <= each).then_some(here);
            if again.is_some() || filled != Filled::Full {
                break;
            }
        }
        if again.is_none() {
            self.refuted = true;
            return None;
        }
        let planned = bench.settings.looks().last().map_or(0, |&batches| batches * self.main.batch());
        let mut over = false;
        loop {
            over |= 2 * self.main.pairs() > MOST_PAIRS;
            let (effects, raw_mean) = self.intervals(bench, level);
            let delta = bench.scale.delta_ns;
            // Before the time is over, the intervals must be narrow for the share `MOST_CALLS` of the calls. After the
            // time is over, a smaller share is enough, because the machine may have disturbed the other calls.
            let inside = judge::inside_up_to(&effects).filter(|&up_to| over || up_to == MOST_CALLS);
            let verdict = if delta <= 0.0 || judge::beyond(&effects, &raw_mean, delta) {
                Verdict::Leak
            } else if inside.is_some() {
                Verdict::BelowThreshold
            } else {
                Verdict::Inconclusive
            };
            // An interval needs more data to show a difference in rare calls than to show that most calls are inside
            // the threshold.
            let rare = verdict == Verdict::BelowThreshold
                && self.main.ticks[0].len() < planned
                && !(judge::wholly_inside(&effects) && raw_mean.reach() <= delta);
            if over || verdict != Verdict::Inconclusive && !rare {
                let mut outcome = self.conclude(bench, level, verdict, String::new(), p);
                (outcome.confirmed, outcome.found) = (again, found);
                let controls = &outcome.facts.controls;
                if !(controls.delay.passed && controls.leak.passed) && self.has_time_for(2 * self.rounds) {
                    outcome.facts.controls = self.better_controls(bench, controls.clone(), watch);
                }
                outcome.bound_up_to = judge::body(inside.unwrap_or(MOST_CALLS));
                outcome.earlier = old.ticks;
                return Some(outcome);
            }
            over = self.narrow(bench, 2 * self.main.ticks[0].len(), watch) != Filled::Full;
        }
    }

    pub(crate) fn refuted(&self) -> bool {
        self.refuted
    }

    fn restart(&mut self, bench: &mut Bench<'_>) {
        for cell in [&mut self.main, &mut self.same, &mut self.delay, &mut self.leak] {
            *cell = Cell::default();
        }
        self.warm_up(bench);
    }

    fn intervals(&self, bench: &Bench<'_>, level: f64) -> (Vec<Effect>, Interval) {
        let groups = self.main.groups(bench.scale);
        (groups.effects(level, bench.scale.delta_ns, bench.scale), groups.raw_mean(level, bench.scale))
    }

    fn controls(&mut self, bench: &Bench<'_>) -> Controls {
        let scale = bench.scale;
        let random = &mut self.flips;
        let mut control = |cell: &Cell, level: f64, found: bool, repeats: usize, meant_ns: f64| {
            let p = flips::p_value(&cell.scores, level, random);
            let scale = Scale { repeats, ..scale.clone() };
            let difference = cell
                .groups(&scale)
                .effects(0.05, 0.0, &scale)
                .first()
                .map_or_else(Interval::default, |effect| effect.difference);
            Control { p, difference, passed: (p <= level) == found, meant_ns }
        };
        let meant = f64::from(self.delay_turns) / scale.turns_per_ns / scale.repeats as f64;
        Controls {
            same: control(&self.same, MUST_NOT_FIRE, false, scale.repeats, 0.0),
            delay: control(&self.delay, MUST_BE_FOUND, true, scale.repeats, meant),
            leak: control(&self.leak, MUST_BE_FOUND, true, self.leaky.repeats, 0.0),
        }
    }

    /// Computes the outcome from the present data. If the verdict is that there is no leak, the intervals and the
    /// controls are still checked.
    fn conclude(&mut self, bench: &Bench<'_>, level: f64, verdict: Verdict, reason: String, p: f64) -> PairOutcome {
        let controls = self.controls(bench);
        let groups = self.main.groups(bench.scale);
        let facts = judge::Facts {
            effects: groups.effects(level, bench.scale.delta_ns, bench.scale),
            raw_mean: groups.raw_mean(level, bench.scale),
            pairs: self.main.pairs(),
            controls,
            step_ns: bench.scale.per_call(bench.scale.step as f64),
        };
        let (verdict, reason) = judge::verdict(verdict, reason, &facts, MOST_CALLS);
        let outcome = PairOutcome {
            verdict,
            reason,
            bound_up_to: judge::body(MOST_CALLS),
            p,
            p_holm: p,
            confirmed: None,
            found: None,
            batches: self.main.batches(),
            seconds_per_pair: self.seconds_for(self.main.batches()) / self.main.pairs().max(1) as f64,
            mde_ns: groups.detectable(level, bench.scale),
            series: groups.series(bench.scale),
            more_pairs: None,
            single: groups.single(0.01, bench.scale),
            facts,
            funnel: Vec::new(),
            autocorrelation: self.main.autocorrelation(),
            ecdf: self.main.ecdf(bench.scale),
            seconds: self.measuring,
            processor_seconds: self.processor,
            earlier: Default::default(),
            times: if bench.settings.keep_times { self.main.raw() } else { Default::default() },
        };
        outcome.with_more(MOST_CALLS)
    }

    pub(crate) fn take_ticks(&mut self) -> [Vec<f32>; 2] {
        self.batcher.release();
        std::mem::take(&mut self.main.ticks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Mock;
    use crate::timing::warm;
    use crate::watch::Silent;

    #[test]
    fn a_control_that_had_too_little_data_is_repeated() {
        let clock = Mock::new(1);
        let (inner, mut noise) = (clock.clone(), Random::new(3));
        let mut target =
            Target::new("mock", 1, move |_| inner.advance(1000.0 + noise.normal())).fixed("a", &[0]).fixed("b", &[1]);
        let settings = Settings { looks: 4, ..Settings::default() };
        let scale = warm::scale(&mut target, &settings, &clock, &mut Random::new(1));
        let mut bench = Bench { target: &mut target, settings: &settings, scale: &scale, clock: &clock };
        let mut lane = Lane::new(&mut bench, [0, 1], 7, 60.0, 0.0);
        let outcome = lane.run(&mut bench, 0.01, &mut Silent);
        assert_eq!(outcome.verdict, Verdict::NoLeakAbove, "{}", outcome.reason);
        for kind in [Kind::Delay, Kind::Leak] {
            let cell = if kind == Kind::Delay { &mut lane.delay } else { &mut lane.leak };
            *cell = cell.fresh();
            let deaf = lane.conclude(&bench, 0.01, Verdict::NoLeakAbove, String::new(), 1.0);
            assert_eq!(deaf.verdict, Verdict::Invalid, "{kind:?}");
            let again = lane.with_better_controls(&mut bench, deaf, MOST_CALLS, &mut Silent);
            assert_eq!(again.verdict, Verdict::NoLeakAbove, "{kind:?}: {}", again.reason);
        }
    }

    #[test]
    fn a_control_that_was_missed_beside_a_finding_is_repeated() {
        let clock = Mock::new(1);
        let (inner, mut noise) = (clock.clone(), Random::new(3));
        let mut target = Target::new("mock", 1, move |input| {
            inner.advance(1000.0 + 100.0 * f64::from(input[0]) + 60.0 * noise.normal());
        });
        target = target.fixed("a", &[0]).fixed("b", &[1]);
        let settings = Settings { looks: 4, seed: 1, ..Settings::default() };
        let scale = warm::scale(&mut target, &settings, &clock, &mut Random::new(1));
        let mut bench = Bench { target: &mut target, settings: &settings, scale: &scale, clock: &clock };
        let mut lane = Lane::new(&mut bench, [0, 1], 7, 600.0, 0.0);
        let mut found = |lane: &mut Lane| {
            lane.fill_up(&mut bench, 64, &mut Silent);
            let missed = !lane.controls(&bench).delay.passed;
            let outcome = lane.repeat(&mut bench, 0.01, 0.001, &mut Silent).expect("a difference");
            assert_eq!(outcome.verdict, Verdict::Leak, "{}", outcome.reason);
            [missed, outcome.facts.controls.delay.passed]
        };
        assert_eq!(found(&mut lane), [true, true]);
    }

    #[test]
    fn a_run_that_was_disturbed_for_long_rests_on_95_percent_of_the_calls() {
        let clock = Mock::new(1);
        let (inner, mut noise) = (clock.clone(), Random::new(3));
        // One call in fifty is interrupted.
        let mut target = Target::new("mock", 1, move |_| {
            let interrupted = if noise.below(50) == 0 { noise.below(50) as f64 } else { 0.0 };
            inner.advance(1000.0 + noise.normal() + interrupted);
        });
        target = target.fixed("a", &[0]).fixed("b", &[1]);
        let settings = Settings { looks: 2, ..Settings::default() };
        let scale = warm::scale(&mut target, &settings, &clock, &mut Random::new(1));
        let mut bench = Bench { target: &mut target, settings: &settings, scale: &scale, clock: &clock };
        let mut batches = |spent: f64| {
            let mut lane = Lane::new(&mut bench, [0, 1], 7, 600.0, 0.0);
            lane.spent.add(600.0 * spent);
            let outcome = lane.run(&mut bench, 0.01, &mut Silent);
            assert_eq!(outcome.verdict, Verdict::NoLeakAbove, "{}", outcome.reason);
            outcome.batches
        };
        let [late, early] = [0.5, 0.3].map(&mut batches);
        assert!(4 * late <= early, "{late} {early}");
    }
}
