//! Derives a verdict from the intervals, the p-values and the controls.

use super::effect::BODY;
use super::pair::PairOutcome;
use crate::record::{Controls, Effect, Interval, Verdict};

/// The data that determine a verdict.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) effects: Vec<Effect>,
    /// The difference of the plain means.
    pub(crate) raw_mean: Interval,
    /// Number of pairs of measurements.
    pub(crate) pairs: usize,
    pub(crate) controls: Controls,
    /// The resolution of the clock in nanoseconds, divided by the number of calls in a measurement.
    pub(crate) step_ns: f64,
}

/// Shares of the fastest calls. Usually, the verdict depends only on the statistics of at most the first share of the
/// calls. Quantiles above the first share are reported even if their intervals are wide. If the machine disturbs so
/// many calls that more data would not help in the remaining time, the verdict depends only on the statistics of at
/// most the next share, and its text states this share.
pub(crate) const DECIDING: [f64; 3] = [MOST_CALLS, BODY, 0.90];
pub(crate) const MOST_CALLS: f64 = 0.99;

/// Two shares of a run's time limit. Until the first share of the time is used, a run ends only if the intervals of all
/// quantiles are narrow enough. Until the second share of the time is used, a run ends only if the intervals of the
/// quantiles up to [`MOST_CALLS`] are narrow enough. After the second share of the time, a run ends if the intervals of
/// the quantiles up to [`BODY`] are narrow enough.
const PATIENCE: [f64; 2] = [0.25, 0.4];

/// For a run that has used the share `spent` of its time, returns whether enough intervals are inside their tolerances.
pub(crate) fn suffices(effects: &[Effect], spent: f64) -> bool {
    let [all, most] = PATIENCE;
    if spent <= all { wholly_inside(effects) } else { inside(effects, if spent <= most { MOST_CALLS } else { BODY }) }
}

/// Checks the intervals of all statistics that describe at most the share `up_to` of the calls. Returns whether each
/// checked interval is inside the tolerance of its statistic.
pub(crate) fn inside(effects: &[Effect], up_to: f64) -> bool {
    !effects.is_empty() && deciding(effects, up_to).all(tight)
}

/// Returns the largest share of calls in [`DECIDING`] for which all intervals lie inside their tolerances.
pub(crate) fn inside_up_to(effects: &[Effect]) -> Option<f64> {
    DECIDING.into_iter().find(|&up_to| inside(effects, up_to))
}

fn deciding(effects: &[Effect], up_to: f64) -> impl Iterator<Item = &Effect> {
    effects.iter().filter(move |effect| effect.up_to <= up_to)
}

/// Returns true if all intervals lie inside their tolerances, and if there are enough data for the 99.9 % quantile.
pub(crate) fn wholly_inside(effects: &[Effect]) -> bool {
    inside(effects, 1.0) && effects.iter().any(|effect| effect.up_to >= 0.999)
}

fn tight(effect: &Effect) -> bool {
    effect.difference.reach() <= effect.tolerance_ns
}

/// Returns whether at least one interval is completely outside of ±`delta`. The test has already found a difference
/// before this call, and all intervals are valid at the same time, so the interval of any statistic may show the leak.
pub(crate) fn beyond(effects: &[Effect], raw_mean: &Interval, delta: f64) -> bool {
    let mut all = effects.iter().map(|effect| &effect.difference).chain([raw_mean]);
    all.any(|difference| difference.lower > delta || difference.upper < -delta)
}

/// Returns the largest differences that the intervals allow. The first bound is for statistics of at most the share
/// `body` of the calls, and the second bound is for the other statistics. The second bound is never less than the
/// clock's resolution, because the random delays spread the slowest calls over one clock step.
pub(crate) fn bounds(facts: &Facts, body: f64) -> [f64; 2] {
    let Facts { effects, step_ns, .. } = facts;
    [(false, 0.0), (true, *step_ns)].map(|(tail, least)| {
        let part = effects.iter().filter(|effect| (effect.up_to > body) == tail);
        part.map(|effect| effect.difference.reach()).fold(least, f64::max)
    })
}

/// Returns the share of the calls to which the first bound applies, if the verdict depends on the statistics up to the
/// share `up_to`.
pub(crate) fn body(up_to: f64) -> f64 {
    up_to.min(BODY)
}

/// Checks the intervals and the controls, and returns the resulting verdict. The verdict depends only on statistics of
/// at most the share `up_to` of the calls. If the intervals are the reason for the verdict, the returned reason is
/// empty.
pub(crate) fn verdict(found: Verdict, reason: String, facts: &Facts, up_to: f64) -> (Verdict, String) {
    let controls = &facts.controls;
    match found {
        Verdict::Unmeasurable | Verdict::Invalid => (found, reason),
        _ if !controls.same.passed => (
            Verdict::Invalid,
            format!("a class was found to differ from itself (p = {:.2e}): repeat the run", controls.same.p),
        ),
        Verdict::NoLeakAbove if !inside(&facts.effects, up_to) => (Verdict::Inconclusive, reason),
        // A run that cannot detect a delay of 2 Δ cannot rule out differences above Δ.
        Verdict::NoLeakAbove if !controls.delay.passed => (
            Verdict::Invalid,
            format!("an added delay of {:.3} ns was not found (p = {:.3})", controls.delay.meant_ns, controls.delay.p),
        ),
        Verdict::NoLeakAbove if !controls.leak.passed => {
            (Verdict::Invalid, format!("the known leak was not found (p = {:.3})", controls.leak.p))
        }
        _ => (found, reason),
    }
}

/// Returns the number of additional pairs after which every interval is completely inside or completely outside of its
/// tolerance, if the estimates do not change. Returns `None` if an estimate is equal to its tolerance, and its interval
/// does not contain zero. The function considers only statistics of at most the share `up_to` of the calls.
pub(crate) fn more_pairs(facts: &Facts, up_to: f64) -> Option<u64> {
    let pairs = facts.pairs as f64;
    let mut most = 0.0_f64;
    for effect in deciding(&facts.effects, up_to) {
        let half = (effect.difference.upper - effect.difference.lower) / 2.0;
        let mut room = (effect.tolerance_ns - effect.difference.estimate.abs()).abs();
        if effect.difference.covers(0.0) {
            // The estimate may be mere noise. Without the minimum of half the tolerance for `room`, an estimate near
            // the tolerance would lead to far too many pairs.
            room = room.max(effect.tolerance_ns / 2.0);
        }
        if room <= 0.0 {
            return None;
        }
        most = most.max((half / room).powi(2) * pairs);
    }
    Some((most - pairs).max(0.0).ceil() as u64)
}

pub(crate) fn holm(outcomes: &mut [PairOutcome]) {
    let p: Vec<f64> = outcomes.iter().map(|outcome| outcome.p).collect();
    for (outcome, corrected) in outcomes.iter_mut().zip(corrected(&p)) {
        outcome.p_holm = corrected;
    }
}

/// Multiplies the k-th smallest of m p-values by m − k + 1, and makes sure that the results never decrease with k.
fn corrected(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&x, &y| p[x].total_cmp(&p[y]));
    let (mut out, mut floor) = (vec![0.0; p.len()], 0.0_f64);
    for (rank, &index) in order.iter().enumerate() {
        floor = floor.max((p[index] * (order.len() - rank) as f64).min(1.0));
        out[index] = floor;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Control;

    const DELTA: f64 = 1.0;

    fn effect(name: &str, quantile: Option<f64>, lower: f64, upper: f64, tolerance_ns: f64) -> Effect {
        Effect {
            name: name.to_owned(),
            quantile,
            up_to: quantile.unwrap_or(if name.contains("99") { 0.99 } else { 0.9 }),
            gap_ns: None,
            difference: Interval { lower, estimate: (lower + upper) / 2.0, upper },
            tolerance_ns,
        }
    }

    /// Returns a `Facts` value with a mean, the median, the 99 % quantile and the 99.9 % quantile. All these statistics
    /// are well inside their tolerances, and all controls passed.
    fn quiet() -> Facts {
        let passed = Control { passed: true, ..Control::default() };
        Facts {
            effects: vec![
                effect("mean of the fastest 90 %", None, -0.1, 0.2, DELTA),
                effect("mean of the fastest 99 %", None, -0.1, 0.1, DELTA),
                effect("p50", Some(0.5), -0.3, 0.1, DELTA),
                effect("99 % quantile", Some(0.99), -2.0, 4.0, 5.0),
                effect("99.9 % quantile", Some(0.999), -20.0, 30.0, 50.0),
            ],
            raw_mean: Interval { lower: -4.0, estimate: 3.0, upper: 10.0 },
            pairs: 1000,
            controls: Controls { same: passed.clone(), delay: passed.clone(), leak: passed },
            step_ns: 0.5,
        }
    }

    fn judged(found: Verdict, facts: &Facts) -> Verdict {
        verdict(found, String::new(), facts, MOST_CALLS).0
    }

    #[test]
    fn intervals_inside_and_passed_controls_give_no_leak_with_bounds() {
        assert_eq!(judged(Verdict::NoLeakAbove, &quiet()), Verdict::NoLeakAbove);
        assert_eq!(bounds(&quiet(), BODY), [0.3, 30.0]);
    }

    #[test]
    fn the_bound_of_the_tail_is_at_least_a_step_of_the_clock() {
        let mut facts = quiet();
        facts.step_ns = 40.0;
        assert_eq!(bounds(&facts, BODY), [0.3, 40.0]);
    }

    #[test]
    fn an_interval_that_exceeds_its_tolerance_is_inconclusive() {
        for (index, lower, upper) in [(0, -0.1, 1.1), (0, -1.1, 0.1), (2, -1.01, 0.0), (3, 0.0, 5.1)] {
            let mut facts = quiet();
            (facts.effects[index].difference.lower, facts.effects[index].difference.upper) = (lower, upper);
            assert_eq!(judged(Verdict::NoLeakAbove, &facts), Verdict::Inconclusive, "{index}");
        }
    }

    #[test]
    fn quantiles_above_99_percent_delay_an_early_end_but_not_the_verdict() {
        let mut facts = quiet();
        assert!(wholly_inside(&facts.effects));
        facts.effects[4].difference.upper = 51.0;
        assert!(!wholly_inside(&facts.effects) && inside(&facts.effects, MOST_CALLS));
        assert_eq!(judged(Verdict::NoLeakAbove, &facts), Verdict::NoLeakAbove);
        facts.effects.pop();
        assert!(!wholly_inside(&facts.effects), "the 99.9 % quantile is not known");
        assert!(!inside(&[], MOST_CALLS));
    }

    #[test]
    fn the_longer_a_run_takes_the_fewer_of_the_slowest_calls_it_waits_for() {
        let wide = |index: usize| {
            let mut facts = quiet();
            facts.effects[index].difference.upper = 1000.0;
            [0.25, 0.26, 0.4, 0.41].map(|spent| suffices(&facts.effects, spent))
        };
        assert_eq!(wide(4), [false, true, true, true], "99.9 % quantile");
        assert_eq!(wide(3), [false, false, false, true], "99 % quantile");
        assert_eq!(wide(2), [false; 4], "median");
        assert!(suffices(&quiet().effects, 0.0));
    }

    #[test]
    fn no_leak_needs_all_three_controls_and_a_leak_only_the_first() {
        let failed = Control::default();
        let mut blind = quiet();
        blind.controls.delay = failed.clone();
        let mut deaf = quiet();
        deaf.controls.leak = failed.clone();
        let mut noisy = quiet();
        noisy.controls.same = failed;
        for facts in [&blind, &deaf] {
            assert_eq!(judged(Verdict::NoLeakAbove, facts), Verdict::Invalid);
            assert_eq!(judged(Verdict::Leak, facts), Verdict::Leak);
            assert_eq!(judged(Verdict::BelowThreshold, facts), Verdict::BelowThreshold);
        }
        for found in [Verdict::NoLeakAbove, Verdict::Leak, Verdict::BelowThreshold, Verdict::Inconclusive] {
            assert_eq!(judged(found, &noisy), Verdict::Invalid, "{found}");
        }
        assert_eq!(judged(Verdict::Unmeasurable, &noisy), Verdict::Unmeasurable);
    }

    #[test]
    fn an_inconclusive_run_stays_so_with_any_intervals() {
        let interrupted = verdict(Verdict::Inconclusive, "interrupted".to_owned(), &quiet(), MOST_CALLS);
        assert_eq!(interrupted, (Verdict::Inconclusive, "interrupted".to_owned()));
        let nothing = Facts { effects: Vec::new(), ..quiet() };
        assert_eq!(judged(Verdict::NoLeakAbove, &nothing), Verdict::Inconclusive);
    }

    #[test]
    fn an_interval_outside_of_the_threshold_is_a_leak_on_either_side_and_in_any_statistic() {
        let wide = Interval { lower: -5.0, estimate: 10.0, upper: 25.0 };
        let with = |lower, upper| beyond(&[effect("p50", Some(0.5), lower, upper, DELTA)], &wide, DELTA);
        assert!(with(1.1, 3.0) && with(-3.0, -1.1));
        assert!(!with(0.9, 3.0) && !with(-3.0, 3.0) && !with(-3.0, -0.9));
        // The tolerance of a tail statistic matters only for a verdict without a leak.
        assert!(beyond(&[effect("99.9 % quantile", Some(0.999), 13.0, 9516.0, 50.0)], &wide, DELTA));
        assert!(beyond(&[], &Interval { lower: 6.0, ..wide }, DELTA));
    }

    #[test]
    fn more_pairs_grow_with_the_square_of_the_interval() {
        let mut facts = quiet();
        assert_eq!(more_pairs(&facts, MOST_CALLS), Some(0));
        // If an interval is three times as wide as allowed, the run needs nine times the data.
        facts.effects[0] = effect("mean of the fastest 90 %", None, -3.0, 3.0, DELTA);
        assert_eq!(more_pairs(&facts, MOST_CALLS), Some(8000));
        facts.effects[0] = effect("mean of the fastest 90 %", None, 0.5, 1.5, DELTA);
        assert_eq!(more_pairs(&facts, MOST_CALLS), None, "an estimate on the border stays there");
        facts.effects[0] = effect("mean of the fastest 90 %", None, -9.0, 11.0, DELTA);
        assert_eq!(more_pairs(&facts, MOST_CALLS), Some(399_000), "noise on the border does not");
    }

    #[test]
    fn holm_multiplies_the_smallest_p_value_most_and_keeps_the_order() {
        let close = |found: Vec<f64>, wanted: &[f64]| {
            assert!(
                found.len() == wanted.len() && found.iter().zip(wanted).all(|(x, y)| (x - y).abs() < 1e-12),
                "{found:?}"
            );
        };
        close(corrected(&[0.01, 0.04, 0.03, 0.005]), &[0.03, 0.06, 0.06, 0.02]);
        close(corrected(&[0.6, 0.5]), &[1.0, 1.0]);
        close(corrected(&[0.02]), &[0.02]);
        close(corrected(&[]), &[]);
    }
}
