//! From numbers to a verdict.

use super::effect::{decides, is_tail};
use super::pair::Outcome;
use crate::record::{Controls, Effect, Verdict};

/// What a verdict rests on.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) effects: Vec<Effect>,
    /// Pairs of measurements behind them.
    pub(crate) pairs: usize,
    pub(crate) controls: Controls,
    /// A step of the clock, per call.
    pub(crate) step_ns: f64,
}

/// Whether every statistic's interval lies inside its tolerance, up to the slowest hundredth of the calls.
pub(crate) fn inside(effects: &[Effect]) -> bool {
    !effects.is_empty() && effects.iter().filter(|effect| decides(effect)).all(tight)
}

/// Whether that holds for the slowest hundredth too, and is known up to the 99.9 % quantile.
pub(crate) fn wholly_inside(effects: &[Effect]) -> bool {
    inside(effects) && effects.iter().any(|effect| effect.quantile == Some(0.999)) && effects.iter().all(tight)
}

fn tight(effect: &Effect) -> bool {
    effect.difference.reach() <= effect.tolerance_ns
}

/// Whether some statistic's interval lies wholly beyond its tolerance.
pub(crate) fn beyond(effects: &[Effect]) -> bool {
    effects.iter().any(|effect| effect.difference.lower > effect.tolerance_ns || effect.difference.upper < -effect.tolerance_ns)
}

/// No difference above these, for the body of the distribution and for its tail. The slowest calls may all show one value of a coarse clock:
/// less than a step is never said of them.
pub(crate) fn bounds(facts: &Facts) -> [f64; 2] {
    let Facts { effects, step_ns, .. } = facts;
    [(false, 0.0), (true, *step_ns)].map(|(tail, least)| {
        let part = effects.iter().enumerate().filter(|(index, _)| is_tail(*index) == tail);
        part.map(|(_, effect)| effect.difference.reach()).fold(least, f64::max)
    })
}

/// The verdict, with its reason, after intervals and controls have had their say.
pub(crate) fn verdict(found: Verdict, reason: String, facts: &Facts, delta: f64) -> (Verdict, String) {
    let controls = &facts.controls;
    let [bound, tail] = bounds(facts);
    match found {
        Verdict::Unmeasurable | Verdict::Invalid => (found, reason),
        _ if !controls.same.passed => {
            (Verdict::Invalid, format!("the class against itself was found to differ (p = {:.2e}): repeat the run", controls.same.p))
        }
        Verdict::Leak => (found, describe(facts)),
        Verdict::BelowThreshold => (found, format!("{}, which is inside ±{delta} ns", describe(facts))),
        Verdict::NoLeakAbove | Verdict::Inconclusive if facts.effects.is_empty() && reason.is_empty() => {
            (Verdict::Inconclusive, "too little was measured".to_owned())
        }
        Verdict::Inconclusive if reason.is_empty() => {
            (found, format!("{}; it is open on which side of ±{delta} ns that lies", describe(facts)))
        }
        Verdict::Inconclusive => (found, reason),
        Verdict::NoLeakAbove if !inside(&facts.effects) => {
            (Verdict::Inconclusive, format!("no difference was found, but one of up to {} is not excluded", widest(&facts.effects)))
        }
        // Only who can see twice Δ may say that nothing is beyond Δ.
        Verdict::NoLeakAbove if !controls.delay.passed => {
            (Verdict::Invalid, format!("an added delay of {:.3} ns was not found (p = {:.3})", controls.delay.meant_ns, controls.delay.p))
        }
        Verdict::NoLeakAbove if !controls.leak.passed => {
            (Verdict::Invalid, format!("the known leak was not found (p = {:.3})", controls.leak.p))
        }
        Verdict::NoLeakAbove => {
            let last = facts.effects.iter().rev().find(|effect| effect.quantile.is_some()).map_or("p95", |effect| effect.name.as_str());
            (found, format!("no difference above {bound:.3} ns up to p95, above {tail:.3} ns up to {last}"))
        }
    }
}

/// The statistic that stands out most, in words.
fn describe(facts: &Facts) -> String {
    let sure = |effect: &Effect| {
        let half = (effect.difference.upper - effect.difference.lower) / 2.0;
        effect.difference.estimate.abs() / half.max(f64::MIN_POSITIVE)
    };
    facts.effects.iter().max_by(|x, y| sure(x).total_cmp(&sure(y))).map_or_else(String::new, |effect| {
        let Effect { name, difference, .. } = effect;
        format!("a real difference: {name} by {:.3} ns ({:.3} to {:.3})", difference.estimate, difference.lower, difference.upper)
    })
}

fn widest(effects: &[Effect]) -> String {
    let over = |effect: &Effect| effect.difference.reach() / effect.tolerance_ns.max(f64::MIN_POSITIVE);
    let waited_for = effects.iter().filter(|effect| decides(effect));
    waited_for.max_by(|x, y| over(x).total_cmp(&over(y))).map_or_else(String::new, |effect| {
        format!("{:.3} ns in {} (wanted: {:.3})", effect.difference.reach(), effect.name, effect.tolerance_ns)
    })
}

/// How many more pairs would bring every interval inside its tolerance, if the estimates stay where they are; none if that cannot happen.
pub(crate) fn more_pairs(facts: &Facts) -> Option<u64> {
    let pairs = facts.pairs as f64;
    let mut most = 0.0_f64;
    for effect in facts.effects.iter().filter(|effect| decides(effect)) {
        let half = (effect.difference.upper - effect.difference.lower) / 2.0;
        let room = (effect.tolerance_ns - effect.difference.estimate.abs()).abs();
        if room <= 0.0 {
            return None;
        }
        most = most.max((half / room).powi(2) * pairs);
    }
    Some((most - pairs).max(0.0).ceil() as u64)
}

/// Holm's correction: the k-th smallest of m p-values times m − k + 1, never below the one before.
pub(crate) fn holm(outcomes: &mut [Outcome]) {
    let mut order: Vec<usize> = (0..outcomes.len()).collect();
    order.sort_by(|&x, &y| outcomes[x].p.total_cmp(&outcomes[y].p));
    let mut floor = 0.0_f64;
    for (rank, &index) in order.iter().enumerate() {
        floor = floor.max((outcomes[index].p * (order.len() - rank) as f64).min(1.0));
        outcomes[index].p_holm = floor;
    }
}
