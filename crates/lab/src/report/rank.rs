//! Sorts the pairs of classes so that the most notable pair comes first.

use crate::record::{Effect, Pair, Timing, Verdict};

/// Sorts the pairs by severity, and then by the size of the difference relative to its uncertainty.
pub(super) fn pairs(timing: &Timing) -> Vec<&Pair> {
    let mut pairs: Vec<&Pair> = timing.pairs.iter().collect();
    pairs.sort_by(|a, b| b.verdict.cmp(&a.verdict).then_with(|| weight(b).total_cmp(&weight(a))));
    pairs
}

/// Returns the most notable pair, which the main picture of the target shows.
pub(super) fn worst(timing: &Timing) -> Option<&Pair> {
    pairs(timing).first().copied()
}

fn weight(pair: &Pair) -> f64 {
    let of = |effect: &Effect| {
        let half = (effect.difference.upper - effect.difference.lower) / 2.0;
        let share = effect.difference.estimate.abs() / half.max(1e-9);
        if share.is_finite() { share } else { 0.0 }
    };
    usual(pair).map(of).fold(0.0, f64::max)
}

/// Returns the statistics that describe at most the share `bound_up_to` of the calls.
fn usual(pair: &Pair) -> impl Iterator<Item = &Effect> {
    pair.effects.iter().filter(|effect| effect.quantile.unwrap_or(effect.up_to) <= pair.bound_up_to)
}

/// Returns the largest bound on the difference between any two classes, for quantiles up to [`bound_up_to`].
pub(super) fn bound(timing: &Timing) -> Option<f64> {
    most(timing, |pair| pair.bound_ns)
}

/// Returns the share of the calls to which all bounds of a target apply.
pub(super) fn bound_up_to(timing: &Timing) -> f64 {
    timing.pairs.iter().map(|pair| pair.bound_up_to).fold(0.95, f64::min)
}

/// Returns the largest bound on the difference between any two classes, for quantiles up to 99.9 %.
pub(super) fn tail_bound(timing: &Timing) -> Option<f64> {
    most(timing, |pair| pair.tail_bound_ns)
}

/// Returns the size of a shift of the times that nine of ten runs would find in any pair of classes.
pub(super) fn detectable(timing: &Timing) -> Option<f64> {
    most(timing, |pair| pair.mde_ns)
}

/// Returns the largest value of all pairs, except pairs with the verdict `Invalid` or `Unmeasurable`. Pairs with these
/// verdicts have no valid bounds.
fn most(timing: &Timing, value: fn(&Pair) -> f64) -> Option<f64> {
    let judged = timing.pairs.iter().filter(|pair| !matches!(pair.verdict, Verdict::Invalid | Verdict::Unmeasurable));
    judged.map(value).filter(|value| !value.is_nan()).reduce(f64::max)
}
